package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"topk/embedded/binary"
	"topk/internal/list"
)

// TestMain stops PostgreSQL after the last test, and finds goroutines that were left behind.
func TestMain(m *testing.M) {
	code := binary.Run(m)
	if err := errors.Join(stopDatabase(), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// running is an API that listens.
type running struct {
	t      testing.TB
	url    string
	server *Server
	client *http.Client
	stop   func()
}

// startAPI starts an API that ends with the test.
func startAPI(t testing.TB, change func(*Config), prepare ...func(*Server)) *running {
	config := DefaultConfig()
	config.ClickHouse = "" // nothing is made on demand, unless a test says so
	change(&config)
	server, err := New(config, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	require.NoError(t, err)
	for _, f := range prepare {
		f(server)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}
	r := &running{t: t, url: "http://" + listener.Addr().String(), server: server, client: &http.Client{Transport: transport}}
	r.stop = func() {
		cancel()
		require.NoError(t, <-ended)
		transport.CloseIdleConnections()
		r.stop = func() {}
	}
	t.Cleanup(func() { r.stop() })
	return r
}

// reply is an answer, read whole.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r *running) do(method, path string, header http.Header) reply {
	got, err := r.try(method, path, header)
	require.NoError(r.t, err)
	return got
}

func (r *running) try(method, path string, header http.Header) (reply, error) {
	request, err := http.NewRequestWithContext(context.Background(), method, r.url+path, http.NoBody)
	if err != nil {
		return reply{}, err
	}
	if header != nil {
		request.Header = header
	}
	response, err := r.client.Do(request)
	if err != nil {
		return reply{}, err
	}
	body, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err == nil {
		err = closed
	}
	return reply{status: response.StatusCode, header: response.Header, body: body}, err
}

func (r *running) get(path string) reply { return r.do(http.MethodGet, path, nil) }

// list asks for a list that must be there.
func (r *running) list(path string) list.List {
	got := r.get(path)
	require.Equal(r.t, http.StatusOK, got.status, "%s: %s", path, got.body)
	var l list.List
	require.NoError(r.t, json.Unmarshal(got.body, &l))
	return l
}

// awaitVersion waits until a list is served in a version.
func (r *running) awaitVersion(path string, version int64) {
	require.Eventually(r.t, func() bool {
		got := r.get(path)
		var l list.List
		return got.status == http.StatusOK && json.Unmarshal(got.body, &l) == nil && l.Version == version
	}, 30*time.Second, 5*time.Millisecond)
}

// awaitReady waits until lists are loaded.
func (r *running) awaitReady() {
	require.Eventually(r.t, func() bool { return r.get("/readyz").status == http.StatusOK }, 30*time.Second, 5*time.Millisecond)
}

// sample is a certified list of n items whose counts fall by one: first, first-1, ...
func sample(itemType, window string, n int, first uint64) *list.List {
	asOf := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := &list.List{
		ItemType: itemType, Window: window, Slice: list.GlobalSlice, From: asOf.Add(-time.Hour), AsOf: asOf,
		Method: list.MethodVerified, Certified: true, Partial: []string{}, Items: []list.Item{},
	}
	for i := range n {
		count := first - uint64(i)
		l.Total += count
		l.Items = append(l.Items, list.Item{
			Position: i + 1, Rank: i + 1, ItemID: fmt.Sprintf("v_%08d", i), Count: count, Lower: count, Upper: count,
		})
	}
	return l
}
