package test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/embedded"
	"topk/embedded/binary"
	"topk/internal/enginetest"
	"topk/internal/list"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

// startStack runs the whole of topk for one test, on free ports and a directory of its own.
func startStack(t *testing.T, clock string, args map[string][]string) *embedded.Stack {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	args = maps.Collect(maps.All(args))                                                                        // the caller's stays as it is, and nil becomes a map
	args[embedded.Rollup] = append([]string{"--every-5m", "1s", "--every-1h", "1s"}, args[embedded.Rollup]...) // tests wait for them
	stack, err := embedded.Start(ctx, embedded.Options{
		Binary: binary.Path(),
		Clock:  clock,
		Args:   args,
		Log:    slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			printLogs(t, stack)
		}
		require.NoError(t, stack.Stop())
	})
	return stack
}

func printLogs(t *testing.T, stack *embedded.Stack) {
	for _, service := range []string{"clickhouse", "kafka", "postgres", "ingest", "rollup", "api"} {
		raw, err := os.ReadFile(stack.LogPath(service))
		if err != nil {
			t.Logf("no log of %s: %v", service, err)
			continue
		}
		if len(raw) > 4000 {
			raw = raw[len(raw)-4000:]
		}
		t.Logf("---- %s\n%s", service, raw)
	}
}

// topkList reads one list as an application does. A problem answer is returned as an error.
func topkList(stack *embedded.Stack, itemType, window string, k int) (*list.List, error) {
	return fetchList(stack.Endpoints().API, itemType, window, k)
}

func fetchList(api, itemType, window string, k int) (*list.List, error) {
	query := url.Values{"item_type": {itemType}, "window": {window}, "k": {fmt.Sprint(k)}}
	got := new(list.List)
	return got, fetch(api+"/v1/topk?"+query.Encode(), got)
}

// fetch reads an answer of the API.
func fetch(address string, into any) error {
	response, err := http.Get(address)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", response.StatusCode, body)
	}
	return json.Unmarshal(body, into)
}

// awaitList polls until a list satisfies ready.
func awaitList(t *testing.T, stack *embedded.Stack, itemType, window string, k int, within time.Duration, ready func(*list.List) bool) *list.List {
	t.Helper()
	query := url.Values{"item_type": {itemType}, "window": {window}, "k": {fmt.Sprint(k)}}
	return awaitAnswer(t, stack.Endpoints().API+"/v1/topk?"+query.Encode(), within, ready)
}

// awaitAnswer polls an address until the list there satisfies ready.
func awaitAnswer(t *testing.T, address string, within time.Duration, ready func(*list.List) bool) *list.List {
	t.Helper()
	deadline := time.Now().Add(within)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var last *list.List
	var lastErr error
	for time.Now().Before(deadline) {
		last = new(list.List)
		if lastErr = fetch(address, last); lastErr == nil && ready(last) {
			return last
		}
		<-tick.C
	}
	if lastErr == nil {
		lastErr = fmt.Errorf("last list: as_of %s, total %d, %d items", last.AsOf, last.Total, len(last.Items))
	}
	require.FailNow(t, "the list never became ready", "%s: %v", address, lastErr)
	return nil
}

// topk runs the command line as a user does and returns what it printed.
func topk(t *testing.T, args ...string) string {
	t.Helper()
	out, err := enginetest.Command(t.Context(), args...).CombinedOutput()
	require.NoError(t, err, "topk %v\n%s", args, out)
	return string(out)
}
