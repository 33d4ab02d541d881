package test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/embedded"
	"topk/embedded/child"
	"topk/internal/enginetest"
)

// The README opens with make demo: its command runs to the comparison, on ports of its own, and the answer is the truth.
func TestDemoShowsTheKnownTruth(t *testing.T) {
	out := topk(t, "demo", "--once", "--data", "testdata/nasa_http", "--port-offset", freeOffset(t))
	require.Contains(t, out, "Equal, position for position.")
	require.Contains(t, out, "/images/")
}

// Without --once the demo goes on with live traffic until it is interrupted, and then leaves nothing behind.
func TestDemoGoesOnWithLiveTraffic(t *testing.T) {
	offset := freeOffset(t)
	var out bytes.Buffer
	command := enginetest.Command(t.Context(), "demo", "--data", "testdata/nasa_http", "--port-offset", offset)
	command.Stdout, command.Stderr = &out, &out
	ended, err := child.Start(command, nil)
	require.NoError(t, err)
	defer func() { _ = command.Process.Kill() }() // it has ended, unless the test failed

	ports := embedded.DefaultPorts(atoi(t, offset))
	api := fmt.Sprintf("http://127.0.0.1:%d", ports.API)
	live := func() bool {
		got, err := fetchList(api, "video", "1m", 10)
		return err == nil && len(got.Items) == 10
	}
	require.Eventually(t, live, 3*time.Minute, 200*time.Millisecond, "live traffic is never served")
	require.NoError(t, command.Process.Signal(os.Interrupt))
	require.NoError(t, <-ended, out.String())
	require.True(t, free(ports.ClickHouse, ports.Kafka, ports.Postgres, ports.Ingest, ports.API, ports.Rollup), "a child was left behind")
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// freeOffset finds a --port-offset at which every default port is free.
func freeOffset(t *testing.T) string {
	t.Helper()
	for offset := 1000; offset < 40000; offset += 1000 {
		if ports := embedded.DefaultPorts(offset); free(ports.ClickHouse, ports.Kafka, ports.Postgres, ports.Ingest, ports.API, ports.Rollup) {
			return strconv.Itoa(offset)
		}
	}
	require.FailNow(t, "no offset has all ports free")
	return ""
}

func free(ports ...int) bool {
	for _, port := range ports {
		listener, err := net.Listen("tcp", net.JoinHostPort(embedded.Host, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = listener.Close()
	}
	return true
}
