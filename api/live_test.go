package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// readers ask for a list over and over, and check each answer.
type readers struct {
	stop    context.CancelFunc
	running sync.WaitGroup
	reads   atomic.Int64
	failure atomic.Pointer[string] // the first answer that was wrong
}

// startReaders asks for the paths from several goroutines at once.
func startReaders(api *running, paths []string, check func(path string, got reply) error) *readers {
	ctx, cancel := context.WithCancel(context.Background())
	r := &readers{stop: cancel}
	for i := range 4 {
		r.running.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				path := paths[n%len(paths)]
				header := http.Header{}
				if n%3 == 0 {
					header.Set("Accept-Encoding", "gzip")
				}
				got, err := api.try(http.MethodGet, path, header)
				if err == nil {
					err = check(path, got)
				}
				if err != nil {
					text := path + ": " + err.Error()
					r.failure.CompareAndSwap(nil, &text)
				}
				r.reads.Add(1)
			}
		})
	}
	return r
}

// finish ends the readers and fails the test when any answer was wrong.
func (r *readers) finish(t *testing.T) {
	r.stop()
	r.running.Wait()
	if failure := r.failure.Load(); failure != nil {
		require.Fail(t, *failure)
	}
}

// generation is a list in which every number says which publish it came from.
func generation(n uint64) *list.List {
	l := sample("video", "1m", 200, 0)
	l.Total = 0
	for i := range l.Items {
		item := &l.Items[i]
		item.Rank, item.Count, item.Lower, item.Upper = 1, n, n, n
		l.Total += n
	}
	l.MaxOvercount = n
	return l
}

// A reader never sees two versions in one answer, and an ETag changes exactly when the body does.
func TestReadersSeeOneVersion(t *testing.T) {
	db := startDatabase(t)
	api := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })
	api.awaitVersion("/v1/topk?window=1m", db.publish(generation(1)))

	var mu sync.Mutex
	bodies, tags := map[string]string{}, map[string]string{} // ETag of an encoding to body, and back
	reading := startReaders(api, []string{"/v1/topk?window=1m&k=10", "/top?window=1m&k=100", "/topk?window=1m&k=1000"},
		func(_ string, got reply) error {
			if err := oneVersion(got); err != nil {
				return err
			}
			etag := got.header.Get("Etag")
			mu.Lock()
			defer mu.Unlock()
			if seen, ok := bodies[etag]; ok && seen != string(got.body) {
				return fmt.Errorf("ETag %s stands for two bodies", etag)
			}
			if seen, ok := tags[string(got.body)]; ok && seen != etag {
				return fmt.Errorf("a body has the ETags %s and %s", seen, etag)
			}
			bodies[etag], tags[string(got.body)] = string(got.body), etag
			return nil
		})
	conn := db.connect()
	last := int64(0)
	for n := range 50 {
		last = publishOver(t, conn, generation(uint64(n+2)))
		before := reading.reads.Load()
		require.Eventually(t, func() bool { return reading.reads.Load() > before+8 }, 10*time.Second, time.Millisecond)
	}
	require.NoError(t, conn.Close(context.Background()))
	api.awaitVersion("/v1/topk?window=1m", last)
	reading.finish(t)
	require.Greater(t, len(bodies), 50)
}

// oneVersion checks that all of an answer is of one generation.
func oneVersion(got reply) error {
	if got.status != http.StatusOK {
		return fmt.Errorf("status %d: %s", got.status, got.body)
	}
	body := got.body
	if got.header.Get("Content-Encoding") == "gzip" {
		reader, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return err
		}
		if body, err = io.ReadAll(reader); err != nil {
			return err
		}
	}
	var l list.List
	if err := json.Unmarshal(body, &l); err != nil {
		return err
	}
	for _, item := range l.Items {
		if item.Count != l.MaxOvercount {
			return fmt.Errorf("generation %d holds a count of generation %d", l.MaxOvercount, item.Count)
		}
	}
	if want := l.MaxOvercount * uint64(200-len(l.Items)); l.Other != want {
		return fmt.Errorf("other is %d, not %d", l.Other, want)
	}
	return nil
}

// While PostgreSQL is away every read is answered, after a while as stale; when it is back, lists move on by themselves.
func TestPostgresAway(t *testing.T) {
	db := startDatabase(t)
	api := startAPI(t, func(c *Config) { c.Postgres, c.StaleAfter = db.dsn(), 200*time.Millisecond })
	const path = "/v1/topk?window=1m&k=10"
	first := db.publish(generation(1))
	api.awaitVersion(path, first)
	reading := startReaders(api, []string{path}, func(_ string, got reply) error {
		if got.status != http.StatusOK {
			return fmt.Errorf("status %d: %s", got.status, got.body)
		}
		return nil
	})
	fresh := api.get(path).header.Get("Etag")

	db.stop()
	require.Eventually(t, func() bool { return api.list(path).Stale }, 30*time.Second, 10*time.Millisecond)
	require.Equal(t, first, api.list(path).Version)
	require.NotEqual(t, fresh, api.get(path).header.Get("Etag"))
	require.Equal(t, http.StatusOK, api.get("/readyz").status)
	require.Contains(t, string(api.get("/metrics").body), "topk_api_postgres_connected 0")
	require.Contains(t, string(api.get("/metrics").body), `topk_api_lists_stale{window="1m"} 1`)

	db.start()
	second := db.publish(generation(2))
	api.awaitVersion(path, second)
	require.Eventually(t, func() bool {
		return bytes.Contains(api.get("/metrics").body, []byte("topk_api_postgres_connected 1"))
	}, 30*time.Second, 10*time.Millisecond)
	require.Equal(t, second, api.list(path).Version)
	require.Positive(t, reading.reads.Load())
	reading.finish(t)
}

// An API that never reached PostgreSQL says so, and heals by itself.
func TestPostgresComesLater(t *testing.T) {
	db := startDatabase(t)
	version := db.publish(generation(1))
	db.stop()
	api := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })
	got := api.get("/v1/topk?window=1m")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Equal(t, "1", got.header.Get("Retry-After"))
	require.Equal(t, http.StatusServiceUnavailable, api.get("/readyz").status)
	require.Equal(t, http.StatusOK, api.get("/healthz").status)
	db.start()
	api.awaitVersion("/v1/topk?window=1m", version)
}

// A notification that is lost costs a poll, not the list.
func TestPollFindsWhatNotificationsMissed(t *testing.T) {
	db := startDatabase(t)
	api := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })
	api.awaitVersion("/v1/topk?window=1m", db.publish(generation(1)))
	db.exec(`WITH made AS (
			INSERT INTO lists (item_type, window_name, slice, as_of, body)
			SELECT item_type, window_name, slice, as_of, body FROM lists RETURNING version
		)
		UPDATE current_lists SET version = made.version FROM made`)
	api.awaitVersion("/v1/topk?window=1m", 2)
}
