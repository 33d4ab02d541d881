package test

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/embedded"
)

// The README opens with make demo: its command runs to the comparison, on ports of its own, and the answer is the truth.
func TestDemoShowsTheKnownTruth(t *testing.T) {
	out := topk(t, "demo", "--once", "--data", "testdata/nasa_http", "--port-offset", freeOffset(t))
	require.Contains(t, out, "Equal, position for position.")
	require.Contains(t, out, "/images/")
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
