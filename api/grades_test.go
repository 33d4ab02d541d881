package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/internal/grade"
	"topk/internal/problem"
)

// enterGrade does what the rollup worker does. A recall below 0 enters a list that could not be graded.
func (d *database) enterGrade(itemType, window string, until time.Time, version int64, recall float64) {
	if recall < 0 {
		d.exec(`INSERT INTO grades (item_type, window_name, from_time, until_time, exact_version, reason) VALUES ($1, $2, $3, $4, $5, 'there was none')`,
			itemType, window, until.Add(-grade.Period(window)), until, version)
		return
	}
	d.exec(`INSERT INTO grades (item_type, window_name, from_time, until_time, exact_version, list_version, method, certified, items, exact_items,
			recall_100, recall_1000, shared_100, overcount, max_overcount, displacement)
		VALUES ($1, $2, $3, $4, $5, 7, 'verified', true, 1000, 123456, $6, 1, 0.97, 3, 17, 2)`,
		itemType, window, until.Add(-grade.Period(window)), until, version, recall)
}

func TestGrades(t *testing.T) {
	db := startDatabase(t)
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	db.enterGrade("video", "1h", noon, 1, .5)
	db.enterGrade("video", "1h", noon, 2, 1)
	db.enterGrade("video", "1h", noon.Add(time.Hour), 3, .98)
	db.enterGrade("hashtag", "1h", noon, 2, -1)
	db.enterGrade("video", "24h", noon.Truncate(24*time.Hour), 4, 1)
	api := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })
	api.awaitReady()
	require.Eventually(t, func() bool { return api.get("/v1/grades").status == http.StatusOK }, 10*time.Second, 5*time.Millisecond)
	ask := func(query string) (answer answeredGrades, ids []int64) {
		got := api.get("/v1/grades" + query)
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		require.NoError(t, json.Unmarshal(got.body, &answer))
		ids = []int64{}
		for i := range answer.Grades {
			ids = append(ids, answer.Grades[i].ID)
		}
		return answer, ids
	}
	for _, test := range []struct {
		query string
		ids   []int64
		more  bool
	}{
		{"", []int64{3, 4, 2, 1, 5}, false},
		{"?item_type=hashtag", []int64{4}, false},
		{"?item_type=sound", []int64{}, false},
		{"?window=1d", []int64{5}, false},
		{"?window=1h&item_type=video&limit=2", []int64{3, 2}, true},
		{"?since=2026-11-29T12:00:00Z", []int64{3, 4, 2, 1}, false},
		{"?since=2026-11-29T18:30:00%2B05:30", []int64{3}, false},
		{"?limit=5", []int64{3, 4, 2, 1, 5}, false},
		{"?limit=4", []int64{3, 4, 2, 1}, true},
	} {
		answer, ids := ask(test.query)
		require.Equal(t, test.ids, ids, test.query)
		require.Equal(t, test.more, answer.More, test.query)
	}
	answer, _ := ask("?since=2026-11-29T12:00:00Z")
	version := int64(7)
	require.Equal(t, grade.Shown{
		Grade: grade.Grade{
			ID: 3, ItemType: "video", Window: "1h", From: noon, Until: noon.Add(time.Hour), GradedAt: answer.Grades[0].GradedAt,
			ExactVersion: 3, ListVersion: &version,
			Measures: &grade.Measures{Method: "verified", Certified: true, Items: 1000, ExactItems: 123456, Recall100: .98, Recall1000: 1,
				Shared100: .97, Overcount: 3, MaxOvercount: 17, Displacement: 2},
		},
		Alerts: []grade.Alert{{What: grade.AlertRecall100, Measured: .98, Limit: grade.MinRecall100}},
	}, answer.Grades[0])
	require.Equal(t, "there was none", answer.Grades[1].Reason)
	require.Equal(t, []bool{false, false, false, true}, []bool{answer.Grades[0].Replaced, answer.Grades[1].Replaced, answer.Grades[2].Replaced, answer.Grades[3].Replaced})
	require.Equal(t, gradesCacheControl, api.get("/v1/grades").header.Get("Cache-Control"))
	require.Empty(t, api.do(http.MethodHead, "/v1/grades", nil).body)

	for query, detail := range map[string]string{
		"?window=1m":                        `window: "1m" is not one of 1h and 24h`,
		"?since=yesterday":                  `since: "yesterday" is not a time such as`,
		"?since=2026-11-29T18:30:00+05:30":  "a + in it is written %2B",
		"?limit=0":                          `limit: "0" is not a whole number from 1 to 1000`,
		"?limit=1001":                       "limit:",
		"?limit=ten":                        "limit:",
		"?item_type=Video":                  "item_type:",
		"?k=10":                             "k: the parameter is not known; known are item_type, window, since and limit",
		"?window=1h&window=1h":              "window: is given more than once",
		"?window=2h&since=x&limit=-1&itm=1": "(and 3 more, see errors)",
	} {
		got := api.get("/v1/grades" + query)
		require.Equal(t, http.StatusBadRequest, got.status, query)
		require.Equal(t, problem.ContentType, got.header.Get("Content-Type"))
		var p problem.Problem
		require.NoError(t, json.Unmarshal(got.body, &p))
		require.Contains(t, p.Detail, detail, query)
	}
	require.Equal(t, http.StatusMethodNotAllowed, api.do(http.MethodPost, "/v1/grades", nil).status)
}

// A comparison takes what is new, another connection everything, and no more is held than may be.
func TestGradesAreFollowed(t *testing.T) {
	db := startDatabase(t)
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	db.enterGrade("video", "1h", noon, 1, 1)
	conn := db.connect()
	defer func() { require.NoError(t, conn.Close(context.Background())) }()
	f := &follower{graded: &gradeMemory{}, memory: &memory{}, log: slog.New(slog.DiscardHandler)}
	f.metrics = newMetrics(prometheus.NewRegistry(), f.memory, time.Now)
	f.charts = newChartMemory(f.metrics)
	held := func() []grade.Shown { return *f.graded.shown.Load() }
	require.NoError(t, f.reload(t.Context(), conn, nil))
	require.Len(t, held(), 1)
	before := f.graded.shown.Load()
	require.NoError(t, f.reload(t.Context(), conn, f.memory.load()))
	require.Same(t, before, f.graded.shown.Load(), "nothing is new")
	db.enterGrade("video", "1h", noon, 2, .5)
	require.NoError(t, f.reload(t.Context(), conn, f.memory.load()))
	require.Len(t, held(), 2)
	require.Equal(t, int64(2), held()[0].ID)
	require.True(t, held()[1].Replaced)

	db.exec(`INSERT INTO grades (item_type, window_name, from_time, until_time, exact_version, reason)
		SELECT 't' || n, '1h', now(), now(), 1, 'there was none' FROM generate_series(1, $1) AS n`, gradesHeld+1)
	require.NoError(t, f.reload(t.Context(), conn, f.memory.load()))
	require.Len(t, held(), gradesHeld)

	db.exec("TRUNCATE grades RESTART IDENTITY")
	db.enterGrade("hashtag", "1h", noon, 1, 1)
	require.NoError(t, f.reload(t.Context(), conn, nil))
	require.Len(t, held(), 1)
	require.Equal(t, "hashtag", held()[0].ItemType)
}

func TestGradesBeforeTheFirstLoad(t *testing.T) {
	api := startAPI(t, func(c *Config) { c.Postgres = "postgres://topk@127.0.0.1:1/topk" })
	got := api.get("/v1/grades")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Equal(t, "1", got.header.Get("Retry-After"))
}
