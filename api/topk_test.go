package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// One PostgreSQL serves all the cases that only read.
func TestServes(t *testing.T) {
	db := startDatabase(t)
	api := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })

	t.Run("nothing published", func(t *testing.T) { nothingPublished(t, api) })

	hour := sample("video", "1h", 300, 5000)
	hour.Floor = 4900
	db.publish(hour)
	version := db.publish(hour)
	api.awaitVersion("/v1/topk", version)
	api.awaitVersion("/v1/topk?item_type=hashtag&window=1m", db.publish(sample("hashtag", "1m", 3, 30)))

	t.Run("the contract", func(t *testing.T) { contract(t, api, version) })
	t.Run("cut to k", func(t *testing.T) { cutToK(t, api, hour) })
	t.Run("aliases", func(t *testing.T) { aliases(t, api) })
	t.Run("bad requests", func(t *testing.T) { badRequests(t, api) })
	t.Run("conditional requests", func(t *testing.T) { conditional(t, api) })
	t.Run("gzip", func(t *testing.T) { compressed(t, api) })
	t.Run("many k", func(t *testing.T) { manyK(t, api) })
	t.Run("unusual ids", func(t *testing.T) { unusualIDs(t, db, api) })
	t.Run("what a request requires", func(t *testing.T) { requires(t, db, api) })
	t.Run("health and metrics", func(t *testing.T) { healthAndMetrics(t, api) })
	t.Run("a body that is no list", func(t *testing.T) { unreadableBody(t, db, api) })
	t.Run("rollback and withdrawal", func(t *testing.T) { rollback(t, db, api) })
}

func nothingPublished(t *testing.T, api *running) {
	api.awaitReady()
	got := api.get("/v1/topk")
	require.Equal(t, http.StatusOK, got.status)
	var body map[string]any
	require.NoError(t, json.Unmarshal(got.body, &body))
	require.Equal(t, []any{}, body["items"])
	require.Nil(t, body["as_of"])
	require.Equal(t, false, body["precomputed"])
	require.Contains(t, body["reason"], "no list has been published yet")
	require.NotEmpty(t, got.header.Get("Etag"))
}

func contract(t *testing.T, api *running, version int64) {
	got := api.get("/v1/topk?item_type=video&window=1h&k=2")
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, "public, max-age=10", got.header.Get("Cache-Control"))
	require.Equal(t, "public, max-age=1", api.get("/v1/topk?item_type=hashtag&window=1m").header.Get("Cache-Control"))
	require.Equal(t, "Accept-Encoding", got.header.Get("Vary"))
	var body map[string]any
	require.NoError(t, json.Unmarshal(got.body, &body))
	published, ok := body["published_at"].(string)
	require.True(t, ok)
	at, err := time.Parse(time.RFC3339, published)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Minute)
	require.Equal(t, fmt.Sprintf(`{"item_type":"video","window":"1h","slice":"global","from":"2026-03-01T11:00:00Z",`+
		`"as_of":"2026-03-01T12:00:00Z","exact_until":null,"method":"verified","certified":true,"max_overcount":0,`+
		`"floor":4900,"total":1455150,"other":1445151,"version":%d,"published_at":%q,"revised":false,"stale":false,"precomputed":true,`+
		`"partial":[],"items":[{"position":1,"rank":1,"item_id":"v_00000000","count":5000,"lower":5000,"upper":5000},`+
		`{"position":2,"rank":2,"item_id":"v_00000001","count":4999,"lower":4999,"upper":4999}]}`,
		version, published), string(got.body))
}

func cutToK(t *testing.T, api *running, published *list.List) {
	for _, k := range []int{1, 2, 99, 100, 101, 300, 301, 1000} {
		l := api.list(fmt.Sprintf("/v1/topk?k=%d", k))
		require.Len(t, l.Items, min(k, 300))
		counted := uint64(0)
		for _, item := range l.Items {
			counted += item.Count
		}
		require.Equal(t, published.Total, l.Total)
		require.Equal(t, published.Total-counted, l.Other)
		require.Equal(t, published.CertifiedTo(k), l.Certified, "k=%d", k)
	}
	require.Len(t, api.list("/v1/topk").Items, list.DefaultK)
}

func aliases(t *testing.T, api *running) {
	want := api.get("/v1/topk?k=5")
	for _, path := range []string{"/topk?k=5", "/top?k=5", "/top?k=5&", "/v1/topk?%6b=5&item_type=video&window=1h", "/topk?&&k=%35"} {
		got := api.get(path)
		require.Equal(t, string(want.body), string(got.body), path)
		require.Equal(t, want.header.Get("Etag"), got.header.Get("Etag"))
	}
}

func conditional(t *testing.T, api *running) {
	const path = "/v1/topk?k=7"
	whole := api.get(path)
	etag := whole.header.Get("Etag")
	require.Regexp(t, `^"[^"]+"$`, etag)
	for header, status := range map[string]int{
		etag:                          304,
		"W/" + etag:                   304,
		`"other", ` + etag:            304,
		`W/"a,b",W/` + etag + `, "c"`: 304,
		"*":                           304,
		"  *":                         304,
		`"other"`:                     200,
		`"other`:                      200,
		"other":                       200,
		"":                            200,
		strings.Trim(etag, `"`):       200,
	} {
		got := api.do("GET", path, http.Header{"If-None-Match": {header}})
		require.Equal(t, status, got.status, "If-None-Match: %s", header)
		require.Equal(t, etag, got.header.Get("Etag"))
		require.Equal(t, whole.header.Get("Cache-Control"), got.header.Get("Cache-Control"))
		require.Equal(t, "Accept-Encoding", got.header.Get("Vary"))
		if status == 304 {
			require.Empty(t, got.body)
		}
	}
	require.Equal(t, 304, api.do("GET", path, http.Header{"If-None-Match": {`"a"`, etag}}).status)
	require.NotEqual(t, etag, api.get("/v1/topk?k=8").header.Get("Etag"))

	head := api.do("HEAD", path, nil)
	require.Equal(t, http.StatusOK, head.status)
	require.Empty(t, head.body)
	require.Equal(t, fmt.Sprint(len(whole.body)), head.header.Get("Content-Length"))
	require.Equal(t, etag, head.header.Get("Etag"))
}

func compressed(t *testing.T, api *running) {
	plain := api.get("/v1/topk?k=100")
	require.Empty(t, plain.header.Get("Content-Encoding"))
	got := api.do("GET", "/v1/topk?k=100", http.Header{"Accept-Encoding": {"br, gzip;q=0.5"}})
	require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
	require.Equal(t, fmt.Sprint(len(got.body)), got.header.Get("Content-Length"))
	require.Less(t, len(got.body), len(plain.body)/3)
	reader, err := gzip.NewReader(bytes.NewReader(got.body))
	require.NoError(t, err)
	body, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, string(plain.body), string(body))
	require.NotEqual(t, plain.header.Get("Etag"), got.header.Get("Etag"))
	for _, header := range []string{"identity", "gzip;q=0", "*;q=0", "br", "gzip;q=0.000, *"} {
		got := api.do("GET", "/v1/topk?k=100", http.Header{"Accept-Encoding": {header}})
		require.Empty(t, got.header.Get("Content-Encoding"), header)
	}
	for _, header := range []string{"GZIP", "*", "identity, gzip;q=1.0", "x-gzip"} {
		got := api.do("GET", "/v1/topk?k=100", http.Header{"Accept-Encoding": {header}})
		require.Equal(t, "gzip", got.header.Get("Content-Encoding"), header)
	}
}

// The answers kept ready are bounded, and those beyond the bound are the same.
func manyK(t *testing.T, api *running) {
	for k := list.MinK; k <= list.MaxK; k += 5 {
		require.Len(t, api.list(fmt.Sprintf("/v1/topk?k=%d", k)).Items, min(k, 300))
	}
	served := api.server.memory.load().lists[list.Key{ItemType: "video", Window: "1h", Slice: list.GlobalSlice}]
	require.LessOrEqual(t, len(*served.pages.Load()), maxPagesPerList)
}

func unusualIDs(t *testing.T, db *database, api *running) {
	ids := []string{
		"a/b", "a%2Fb", "..", "-rf", `quote"s`, `back\slash`, `\u0041`, "<script>alert(1)</script>", "&amp;", "line\u2028sep\u2029",
		"👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿", "مرحبا بالعالم", "\u202eevil", "é", "e\u0301", strings.Repeat("x", 256), " ", "'; DROP TABLE lists; --", "日本語",
	}
	l := sample("odd", "1m", len(ids), 1000)
	for i := range ids {
		l.Items[i].ItemID = ids[i]
	}
	api.awaitVersion("/v1/topk?item_type=odd&window=1m", db.publish(l))
	got := api.list("/v1/topk?item_type=odd&window=1m&k=1000")
	require.Len(t, got.Items, len(ids))
	for i := range ids {
		require.Equal(t, ids[i], got.Items[i].ItemID)
	}
	raw := string(api.get("/v1/topk?item_type=odd&window=1m").body)
	require.Contains(t, raw, `"<script>alert(1)</script>"`)
	require.Contains(t, raw, "مرحبا بالعالم")
}

func healthAndMetrics(t *testing.T, api *running) {
	require.Equal(t, http.StatusOK, api.get("/healthz").status)
	require.Equal(t, http.StatusOK, api.get("/readyz").status)
	text := string(api.get("/metrics").body)
	for _, want := range []string{
		`topk_api_requests_total{route="/v1/topk",status="200"}`,
		`topk_api_requests_total{route="/v1/topk",status="304"}`,
		`topk_api_requests_total{route="/v1/topk",status="400"}`,
		`topk_api_requests_total{route="other",status="404"}`,
		`topk_api_requests_total{route="other",status="405"}`,
		`topk_api_request_duration_seconds_bucket{route="/v1/topk",le="0.001"}`,
		`topk_api_list_age_seconds{window="1h"}`,
		`topk_api_lists_stale{window="1h"} 0`,
		`topk_api_lists{window="1m"} 2`,
		"topk_api_postgres_connected 1",
		"topk_api_reloads_total",
		`topk_api_list_loads_total{result="ok"}`,
	} {
		require.Contains(t, text, want)
	}
}

// A version that cannot be read never replaces one that can.
func unreadableBody(t *testing.T, db *database, api *running) {
	before := api.list("/v1/topk")
	db.exec(`WITH made AS (
			INSERT INTO lists (item_type, window_name, slice, as_of, body)
			VALUES ('video', '1h', 'global', now(), '{"items": "none"}') RETURNING version
		), moved AS (
			UPDATE current_lists SET version = made.version FROM made
			WHERE item_type = 'video' AND window_name = '1h' RETURNING current_lists.version
		)
		SELECT pg_notify('topk_lists', json_build_object('item_type', 'video', 'window', '1h', 'slice', 'global',
			'version', version)::text) FROM moved`)
	require.Eventually(t, func() bool {
		return strings.Contains(string(api.get("/metrics").body), `topk_api_list_loads_total{result="unreadable"} 1`)
	}, 10*time.Second, 5*time.Millisecond)
	require.Equal(t, before.Version, api.list("/v1/topk").Version)
}

// The pointer decides, also when it moves back, and when the notification says nothing useful.
func rollback(t *testing.T, db *database, api *running) {
	const path = "/v1/topk?item_type=hashtag&window=1m"
	older := api.list(path)
	newer := db.publish(sample("hashtag", "1m", 4, 40))
	api.awaitVersion(path, newer)
	db.exec("UPDATE current_lists SET version = $1 WHERE item_type = 'hashtag'", older.Version)
	db.exec("NOTIFY topk_lists, 'not json'")
	api.awaitVersion(path, older.Version)
	db.exec("DELETE FROM current_lists WHERE item_type = 'hashtag'")
	db.exec("NOTIFY topk_lists")
	require.Eventually(t, func() bool { return api.get(path).status == http.StatusNotFound }, 10*time.Second, 5*time.Millisecond)
}
