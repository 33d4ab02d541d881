package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/zone"
)

// chartOf is a chart of n items with counts that fall by one.
func chartOf(t testing.TB, itemType, zoneName, day string, n int, first uint64) *list.Chart {
	location, err := zone.Load(zoneName)
	require.NoError(t, err)
	date, err := zone.ParseDay(day)
	require.NoError(t, err)
	c := &list.Chart{ItemType: itemType, Zone: zoneName, Day: day, Revision: 1, Cap: 10, Items: []list.ChartItem{}}
	c.From, c.Until = date.Bounds(location)
	c.AsOf = c.Until
	for i := range n {
		c.Add(fmt.Sprintf("v_%08d", i), first-uint64(i))
		c.Total += first - uint64(i)
	}
	return c
}

// storeChart does what the rollup worker does.
func (d *database) storeChart(c *list.Chart) {
	body, err := json.Marshal(c)
	require.NoError(d.t, err)
	d.exec(`WITH day AS (
			INSERT INTO chart_days (zone, day, round, provisional, as_of, cap, item_types, hours, versions)
			VALUES ($1, $2::text::date, 1, $3, $4, $5, ARRAY[$6::text], '{}', '{}')
			ON CONFLICT (zone, day) DO UPDATE SET round = chart_days.round + 1, provisional = excluded.provisional, as_of = excluded.as_of,
				item_types = chart_days.item_types || excluded.item_types
			RETURNING zone, day
		), told AS (SELECT pg_notify('topk_charts', ''))
		INSERT INTO charts (zone, day, item_type, revision, provisional, body)
		SELECT zone, day, $6, $7, $3, $8 FROM day, told`,
		c.Zone, c.Day, c.Provisional, c.AsOf, int64(c.Cap), c.ItemType, c.Revision, string(body))
}

// chart asks for a chart that must be there.
func (r *running) chart(path string) *list.Chart {
	got := r.get(path)
	require.Equal(r.t, http.StatusOK, got.status, "%s: %s", path, got.body)
	c := &list.Chart{}
	require.NoError(r.t, json.Unmarshal(got.body, c))
	return c
}

// awaitRevision waits until a chart is served in a revision.
func (r *running) awaitRevision(path string, revision int64) {
	require.Eventually(r.t, func() bool {
		got := r.get(path)
		var c list.Chart
		return got.status == http.StatusOK && json.Unmarshal(got.body, &c) == nil && c.Revision == revision
	}, 30*time.Second, 5*time.Millisecond)
}

const chartURL = "/v1/charts/day/2026-03-08?tz=America/New_York"

func TestServesCharts(t *testing.T) {
	db := startDatabase(t)
	api := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })
	api.awaitReady()
	refused(t, api, "GET", chartURL, 404, "no chart has been made yet; one is made by: topk chart --day 2026-03-08 --tz America/New_York")

	chart := chartOf(t, "video", "America/New_York", "2026-03-08", 1100, 5000)
	chart.Items[1].Rank, chart.Items[1].Count = 1, 5000
	chart.Provisional, chart.AsOf = true, chart.From.Add(time.Hour)
	db.storeChart(chart)
	api.awaitRevision(chartURL, 1)
	require.Equal(t, "public, max-age=60", api.get(chartURL).header.Get("Cache-Control"))
	require.Equal(t, `{"item_type":"video","zone":"America/New_York","day":"2026-03-08","from":"2026-03-08T05:00:00Z","until":"2026-03-09T04:00:00Z",`+
		`"as_of":"2026-03-08T06:00:00Z","provisional":true,"revision":1,"revised":false,"cap":10,"total":4895550,`+
		`"items":[{"position":1,"rank":1,"item_id":"v_00000000","count":5000},{"position":2,"rank":1,"item_id":"v_00000001","count":5000},`+
		`{"position":3,"rank":3,"item_id":"v_00000002","count":4998}]}`, string(api.get(chartURL+"&k=3&item_type=video").body))

	provisional := api.get(chartURL).header.Get("Etag")
	chart.Provisional, chart.AsOf, chart.Revision = false, chart.Until, 2
	db.storeChart(chart)
	api.awaitRevision(chartURL, 2)
	final := api.get(chartURL)
	require.Equal(t, "public, max-age=3600", final.header.Get("Cache-Control"))
	require.NotEqual(t, provisional, final.header.Get("Etag"))
	chart.Revision, chart.Revised, chart.Reason = 3, true, "recounted: 2026-03-08T09:00:00Z (late)"
	db.storeChart(chart)
	api.awaitRevision(chartURL, 3)
	require.Equal(t, chart.Reason, api.chart(chartURL).Reason)

	t.Run("cut to k", func(t *testing.T) {
		require.Equal(t, chart.Items[:list.DefaultK], api.chart(chartURL).Items)
		for _, k := range []int{1, 2, 99, 1000} {
			got := api.chart(fmt.Sprintf("%s&k=%d", chartURL, k))
			require.Equal(t, chart.Items[:k], got.Items)
			require.Equal(t, chart.Total, got.Total)
		}
		for k := range 40 {
			require.Len(t, api.chart(fmt.Sprintf("%s&k=%d", chartURL, k+1)).Items, k+1)
		}
	})
	t.Run("conditional requests and gzip", func(t *testing.T) {
		whole := api.get(chartURL)
		got := api.do("GET", chartURL, http.Header{"If-None-Match": {"W/" + whole.header.Get("Etag")}})
		require.Equal(t, http.StatusNotModified, got.status)
		require.Equal(t, whole.header.Get("Cache-Control"), got.header.Get("Cache-Control"))
		require.NotEqual(t, whole.header.Get("Etag"), api.get(chartURL+"&k=99").header.Get("Etag"))
		got = api.do("GET", chartURL, http.Header{"Accept-Encoding": {"gzip"}})
		require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
		require.NotEqual(t, whole.header.Get("Etag"), got.header.Get("Etag"))
		head := api.do("HEAD", chartURL, nil)
		require.Equal(t, fmt.Sprint(len(whole.body)), head.header.Get("Content-Length"))
		require.Empty(t, head.body)
	})
	t.Run("a type that was not viewed", func(t *testing.T) {
		db.storeChart(chartOf(t, "sound", "UTC", "2026-03-08", 1, 1))
		api.awaitRevision("/v1/charts/day/2026-03-08?item_type=sound", 1)
		got := api.get(chartURL + "&item_type=sound")
		require.Equal(t, `{"item_type":"sound","zone":"America/New_York","day":"2026-03-08","from":"2026-03-08T05:00:00Z","until":"2026-03-09T04:00:00Z",`+
			`"as_of":"2026-03-09T04:00:00Z","provisional":false,"revision":0,"revised":false,"reason":"no sound was counted on that day","cap":10,`+
			`"total":0,"items":[]}`, string(got.body))
		require.NotEmpty(t, got.header.Get("Etag"))
	})
	t.Run("refused", func(t *testing.T) { refusedCharts(t, api) })
	t.Run("a body that is no chart", func(t *testing.T) {
		db.exec(`UPDATE chart_days SET round = round + 1`)
		db.exec(`UPDATE charts SET body = '[]' WHERE item_type = 'video'`)
		db.exec(`NOTIFY topk_charts`)
		require.Eventually(t, func() bool {
			api.get(chartURL)
			return strings.Contains(string(api.get("/metrics").body), `topk_api_chart_loads_total{result="unreadable"}`)
		}, 30*time.Second, 5*time.Millisecond)
		require.Equal(t, int64(3), api.chart(chartURL).Revision, "the one before is served")
	})
}

func refusedCharts(t *testing.T, api *running) {
	for _, c := range []struct {
		path   string
		status int
		detail string
	}{
		{"/v1/charts/day/2026-13-08", 400, `day: "2026-13-08" is not a date such as 2026-11-29`},
		{"/v1/charts/day/2026-02-29", 400, `is not a date such as 2026-11-29`},
		{"/v1/charts/day/today", 400, `day: "today" is not a date`},
		{"/v1/charts/day/2026-3-8", 400, `is not a date`},
		{"/v1/charts/day/2026-03-08%2F", 400, `is not a date`},
		{"/v1/charts/day/%00", 400, `is not a date`},
		{"/v1/charts/day/1969-12-31", 400, `is not a date from 1970 to 2100`},
		{"/v1/charts/day/" + strings.Repeat("1", 4000), 400, `is not a date`},
		{"/v1/charts/day/2090-01-01", 400, "day: 2090-01-01 has not begun in UTC: it begins at 2090-01-01T00:00:00Z"},
		{"/v1/charts/day/2090-01-01?tz=Asia/Kolkata", 400, "it begins at 2089-12-31T18:30:00Z"},
		{"/v1/charts/day/2011-12-30?tz=Pacific/Apia", 400, "day: 2011-12-30 was left out in Pacific/Apia"},
		{"/v1/charts/day/2026-03-08?tz=Asia/Kolkatta", 400, `tz: "Asia/Kolkatta" is not a time zone of the tz database, such as UTC or Asia/Kolkata`},
		{"/v1/charts/day/2026-03-08?tz=Local", 400, "tz: "},
		{"/v1/charts/day/2026-03-08?tz=", 400, "tz: "},
		{"/v1/charts/day/2026-03-08?tz=%2B05:30", 400, "tz: "},
		{"/v1/charts/day/2026-03-08?tz=..%2FUTC", 400, "tz: "},
		{"/v1/charts/day/2026-03-08?tz=UTC&tz=UTC", 400, "tz: is given more than once"},
		{"/v1/charts/day/2026-03-08?k=0", 400, "k: \"0\" is not a whole number from 1 to 1000"},
		{"/v1/charts/day/2026-03-08?k=1001", 400, "whole number from 1 to 1000"},
		{"/v1/charts/day/2026-03-08?k=ten", 400, "whole number"},
		{"/v1/charts/day/2026-03-08?item_type=Video", 400, "is not an item type"},
		{"/v1/charts/day/2026-03-08?zone=UTC", 400, "zone: the parameter is not known; known are item_type, tz and k"},
		{"/v1/charts/day/2026-03-08?%zz", 400, "malformed"},
		{"/v1/charts/day/nine?k=0&tz=x", 400, "(and 2 more, see errors)"},
		{"/v1/charts/day/2026-03-08?item_type=hashtag", 404, `unknown item_type "hashtag"; charts have: sound, video`},
		{"/v1/charts/day/2026-03-08?tz=Asia/Kolkata", 404, "no chart has been made in Asia/Kolkata; there are charts in: America/New_York, UTC. " +
			"One is made by: topk chart --day 2026-03-08 --tz Asia/Kolkata, and every day's with --chart-zones of topk rollup"},
		{"/v1/charts/day/2026-03-07", 404, "2026-03-07 has no chart in UTC, where there are charts from 2026-03-08 to 2026-03-08; one is made by: topk chart --day 2026-03-07 --tz UTC"},
		{"/v1/charts/day/", 404, "nothing at this path"},
		{"/v1/charts/day", 404, "nothing at this path"},
		{"/v1/charts/week/2026-03-08", 404, "nothing at this path"},
		{"/v1/charts/day/2026-03-08/", 400, "is not a date"},
	} {
		t.Run(c.path[:min(80, len(c.path))], func(t *testing.T) { refused(t, api, "GET", c.path, c.status, c.detail) })
	}
	refused(t, api, "POST", chartURL, 405, "not one of")
}

// With PostgreSQL away, charts that were asked for are served, what is known not to exist is said, and the others can be asked for
// again when it is back.
func TestChartsWhilePostgreSQLIsAway(t *testing.T) {
	db := startDatabase(t)
	api := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })
	db.storeChart(chartOf(t, "video", "America/New_York", "2026-03-08", 3, 50))
	db.storeChart(chartOf(t, "video", "UTC", "2026-03-08", 3, 60))
	api.awaitRevision(chartURL, 1)
	require.Eventually(t, func() bool { _, ok := api.server.charts.index.Load().days[chartDay{"UTC", "2026-03-08"}]; return ok },
		30*time.Second, 5*time.Millisecond)
	db.stop()
	require.Len(t, api.chart(chartURL).Items, 3)
	require.Len(t, api.chart(chartURL+"&k=2").Items, 2)
	refused(t, api, "GET", "/v1/charts/day/2026-03-09", 404, "where there are charts from")
	refused(t, api, "GET", "/v1/charts/day/2026-03-08", 503, "PostgreSQL does not answer")
	require.Equal(t, "1", api.get("/v1/charts/day/2026-03-08").header.Get("Retry-After"))

	other := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })
	refused(t, other, "GET", chartURL, 503, "has not been loaded from PostgreSQL yet")
	db.start()
	api.awaitRevision("/v1/charts/day/2026-03-08", 1)
	other.awaitRevision(chartURL, 1)
}

func TestChartsInMemoryAreBounded(t *testing.T) {
	m := newChartMemory(newMetrics(prometheus.NewRegistry(), &memory{}, time.Now))
	key := func(i int) chartKey { return chartKey{chartDay{"UTC", fmt.Sprint(i)}, "video"} }
	for i := range 100 {
		h := &heldChart{round: 1, bytes: 1 << 20, pages: map[int]*page{}}
		m.put(key(i), h)
		for k := range maxPagesPerChart + 3 {
			m.keep(key(i), h, k, &page{plain: representation{body: make([]byte, 1000)}})
		}
		require.Len(t, h.pages, maxPagesPerChart)
		require.Same(t, h, m.get(key(i)), "the newest stays")
	}
	total := 0
	for _, h := range m.held {
		total += h.bytes
	}
	require.Equal(t, total, m.bytes)
	require.LessOrEqual(t, m.bytes, maxChartBytes)
	require.Greater(t, m.bytes, maxChartBytes-2<<20)
	gone := &heldChart{round: 1, pages: map[int]*page{}}
	m.keep(key(1000), gone, 1, &page{})
	require.Empty(t, gone.pages, "what is not held is not accounted for")
	m.put(key(99), &heldChart{round: 2, bytes: 5, pages: map[int]*page{}})
	require.Less(t, m.bytes, total, "a new one takes the place of the old")
}
