package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// Ten thousand made-up slices cost some builds, no memory, no row, and none of the lists that are asked for.
func madeUpSlices(t *testing.T, a *asking) {
	hot := []string{"/v1/topk?country=DE,FR", "/v1/topk?region=eu&window=5m", "/v1/topk?country=IN&category=music"}
	for _, path := range hot {
		require.NotEmpty(t, a.list(path).Items)
	}
	entries := func(cache string) float64 { return a.metric(`topk_api_on_demand_cache_entries{cache="` + cache + `"}`) }
	before, heap := a.builds(builtOK), liveHeap()
	var asking sync.WaitGroup
	const askers, each = 4, 2500
	failure := make(chan string, askers)
	for n := range askers {
		asking.Go(func() {
			for i := range each {
				path := fmt.Sprintf("/v1/topk?window=%s&category=made-up-%d-%d", []string{"1m", "5m", "1h"}[i%3], n, i)
				got, err := a.try(http.MethodGet, path, nil)
				var l list.List
				if err == nil {
					err = json.Unmarshal(got.body, &l)
				}
				if err != nil || got.status != http.StatusOK || len(l.Items) > 0 || l.Reason == "" || l.Slice != fmt.Sprintf("category=made-up-%d-%d", n, i) || l.AsOf != noon || !l.Certified {
					failure <- fmt.Sprint(path, " ", err, " ", got.status, " ", string(got.body))
					return
				}
			}
		})
	}
	asking.Wait()
	select {
	case wrong := <-failure:
		require.Fail(t, wrong)
	default:
	}
	require.Equal(t, before, a.builds(builtOK))
	require.Less(t, a.builds(builtEmpty), 50.0, "one a window in five seconds")
	require.Equal(t, float64(len(hot)), entries("views"))
	require.Zero(t, entries("no_views"))
	require.Less(t, liveHeap(), heap+16<<20)
	require.Empty(t, a.asked())
	for _, path := range hot {
		require.NotEmpty(t, a.list(path).Items)
	}
	require.GreaterOrEqual(t, a.metric(`topk_api_on_demand_answers_total{from="absent"}`), float64(askers*each))
}

func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// While too many lists are made, a request waits, and is told to come again.
func tooManyAtOnce(t *testing.T, a *asking) {
	const path = "/v1/topk?country=AT"
	before := a.list(path)
	a.clock.pass(demandFresh)
	for range demandBuilds {
		a.server.demand.slots <- struct{}{}
	}
	l := a.list(path)
	require.True(t, l.Stale, "the last one is better than none")
	require.Equal(t, before.PublishedAt, l.PublishedAt)
	refusal := a.get("/v1/topk?country=AT,DE")
	require.Equal(t, http.StatusServiceUnavailable, refusal.status)
	require.Equal(t, "1", refusal.header.Get("Retry-After"))
	require.Contains(t, string(refusal.body), "too many lists")
	require.Equal(t, float64(2), a.builds(builtBusy))
	waited := make(chan int, 1)
	go func() {
		got, _ := a.try(http.MethodGet, "/v1/topk?country=AT,DE", nil)
		waited <- got.status
	}()
	require.Eventually(t, func() bool { return a.metric("topk_api_on_demand_waiting") == 1 }, 10*time.Second, 5*time.Millisecond)
	<-a.server.demand.slots
	require.Equal(t, http.StatusOK, <-waited)
	<-a.server.demand.slots
}

// While ClickHouse is away the last answers are served, for ten minutes, and published ones for ever. When it is back, so are the others.
func clickHouseKilled(t *testing.T, a *asking) {
	const path = "/v1/topk?country=DE,FR,IT&k=20"
	first := a.list(path)
	fresh := a.get(path).header.Get("Etag")
	require.False(t, first.Stale)
	a.minutes.Kill()
	require.False(t, a.list(path).Stale, "it was made just now")
	a.clock.pass(demandFresh)
	stale := a.list(path)
	require.True(t, stale.Stale)
	require.Equal(t, first.Items, stale.Items)
	require.Equal(t, first.PublishedAt, stale.PublishedAt)
	require.NotEqual(t, fresh, a.get(path).header.Get("Etag"))
	refusal := a.get("/v1/topk?country=IN,US")
	require.Equal(t, http.StatusServiceUnavailable, refusal.status)
	require.Equal(t, "1", refusal.header.Get("Retry-After"))
	require.Contains(t, string(refusal.body), "the list of slice country=IN|US cannot be made, because ClickHouse does not answer in time")
	require.True(t, *a.list("/v1/topk").Precomputed)
	require.Equal(t, http.StatusOK, a.get("/readyz").status)

	a.minutes.Start(t)
	a.clock.pass(demandRetry)
	require.Eventually(t, func() bool { return !a.list(path).Stale }, 30*time.Second, 20*time.Millisecond)
	require.Equal(t, first.Items, a.list(path).Items)
	require.NotEmpty(t, a.list("/v1/topk?country=IN,US").Items)

	// One that hangs costs a second, not more.
	require.NoError(t, syscall.Kill(a.minutes.PID(), syscall.SIGSTOP))
	a.clock.pass(demandFresh)
	began := time.Now()
	require.True(t, a.list(path).Stale)
	require.Equal(t, http.StatusServiceUnavailable, a.get("/v1/topk?country=FR,US").status)
	require.Less(t, time.Since(began), 2*demandLimit, "as long as two builds may take")
	require.NoError(t, syscall.Kill(a.minutes.PID(), syscall.SIGCONT))

	a.minutes.Kill()
	a.clock.pass(demandLast + time.Second)
	require.Equal(t, http.StatusServiceUnavailable, a.get(path).status)

	// An API that starts meanwhile serves what is published.
	other := startAsking(t, a.db, a.minutes)
	require.Len(t, other.list("/v1/topk").Items, 100)
	require.Equal(t, http.StatusServiceUnavailable, other.get(path).status)
}

// While a minute of the window is not filled, as after a start of the worker, the answer says so, and a crowd is not asked for.
func notFilled(t *testing.T, a *asking) {
	at := noon.Add(-2 * time.Minute)
	a.minutes.Query(t, fmt.Sprintf("ALTER TABLE topk.filled_minutes DELETE WHERE minute = toDateTime(%d) AND item_type != '' SETTINGS mutations_sync = 1", at.Unix()))
	require.NotEmpty(t, a.list("/v1/topk?country=DE&window=1m").Items)
	for i := range 20 {
		l := a.list(fmt.Sprintf("/v1/topk?country=DE&window=5m&k=%d", 1+i))
		require.Empty(t, l.Items)
		require.Contains(t, l.Reason, "not filled yet")
	}
	require.LessOrEqual(t, a.builds(builtNotFilled), 4.0, "once a second")
	a.minutes.fill(t, noon)
	a.clock.pass(time.Second)
	require.NotEmpty(t, a.list("/v1/topk?country=DE&window=5m").Items)
}
