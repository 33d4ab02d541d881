package top

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/grade"
	"topk/internal/problem"
)

func sampleGrades() []grade.Grade {
	version := int64(7)
	good := &grade.Measures{Recall100: 1, Recall1000: .9996, Shared100: 1, MaxOvercount: 17, Overcount: 17, Displacement: 2}
	bad := &grade.Measures{Recall100: .5, Recall1000: 1, Shared100: .94, MaxOvercount: 17, Overcount: 18}
	return []grade.Grade{
		{ID: 1, ItemType: "video", Window: "1h", Until: now, ListVersion: &version, Measures: bad},
		{ID: 2, ItemType: "video", Window: "1h", Until: now, ListVersion: &version, Measures: good},
		{ID: 3, ItemType: "hashtag", Window: "1h", Until: now, Reason: "there was none\x1b[2J"},
		{ID: 4, ItemType: "video", Window: "24h", Until: now.Add(-time.Hour), ListVersion: &version, Measures: bad},
	}
}

// startGradesAPI answers with grades and remembers what it was asked.
func startGradesAPI(t *testing.T, grades []grade.Grade, more bool) (url string, asked *string) {
	asked = new(string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = r.URL.RequestURI()
		if r.URL.Query().Get("window") == "1m" {
			_ = problem.New(http.StatusBadRequest, "window: not graded").Write(w)
			return
		}
		since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
		shown := slices.DeleteFunc(grade.Show(grades), func(g grade.Shown) bool { return g.Until.Before(since) })
		_ = json.NewEncoder(w).Encode(map[string]any{"grades": shown, "more": more})
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestGradesTable(t *testing.T) {
	api, asked := startGradesAPI(t, sampleGrades(), true)
	c := DefaultGradesConfig()
	c.API = api
	var out bytes.Buffer
	require.NoError(t, ShowGrades(t.Context(), c, Screen{Out: &out}))
	require.Equal(t, "/v1/grades?limit=100", *asked)
	require.Equal(t, strings.Join([]string{
		"until                 window  item type  recall 100   1000  shared 100  displaced  over-count  bound",
		`2026-03-01T12:00:03Z  1h      hashtag             -      -           -          -           -      -  not graded: there was none\x1b[2J`,
		"2026-03-01T12:00:03Z  1h      video           1.000  0.999       1.000          2          17     17",
		"2026-03-01T12:00:03Z  1h      video           0.500  1.000       0.940          0          18     17  ALERT recall_100, ALERT overcount, replaced by a newer grade",
		"2026-03-01T11:00:03Z  24h     video           0.500  1.000       0.940          0          18     17  ALERT recall_100, ALERT overcount, ALERT shared_100",
		"... and earlier ones: --limit, --since",
		"",
	}, "\n"), out.String())

	out.Reset()
	c.JSON, c.ItemType, c.Window, c.Since = true, "video", "1h", "2026-03-01T14:00:00+02:00"
	require.NoError(t, ShowGrades(t.Context(), c, Screen{Out: &out}))
	require.Equal(t, "/v1/grades?item_type=video&limit=100&since=2026-03-01T12%3A00%3A00Z&window=1h", *asked)
	require.True(t, json.Valid(out.Bytes()))
}

// With --check, what stands fails, after it was shown; what a newer grade has replaced does not.
func TestCheckFailsWhileAnAlertStands(t *testing.T) {
	for _, test := range []struct {
		grades []grade.Grade
		fails  string
	}{
		{sampleGrades(), "lists are beyond their limits: 1 of those shown"},
		{sampleGrades()[:3], ""},
		{sampleGrades()[:1], "lists are beyond their limits: 1 of those shown"},
		{nil, ""},
	} {
		api, _ := startGradesAPI(t, test.grades, false)
		c := DefaultGradesConfig()
		c.API = api
		var out bytes.Buffer
		require.NoError(t, ShowGrades(t.Context(), c, Screen{Out: &out}))
		require.NotEmpty(t, out.String())
		c.Check = true
		err := ShowGrades(t.Context(), c, Screen{Out: &out})
		if test.fails == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrAlerts)
		require.EqualError(t, err, test.fails)
	}
}

// Where nothing is to be shown it is said whether there would be something older.
func TestNoGradesSayWhatThereIs(t *testing.T) {
	for _, test := range []struct {
		grades []grade.Grade
		config GradesConfig
		want   string
	}{
		{nil, GradesConfig{}, "no list has been graded"},
		{nil, GradesConfig{Since: "2026-03-01", Window: "24h"}, "no 24h list has been graded"},
		{
			sampleGrades()[:3], GradesConfig{Since: "2026-03-02"},
			"no list that ends at 2026-03-02T00:00:00Z or later has been graded; the newest one graded ends at 2026-03-01T12:00:03Z",
		},
		{
			sampleGrades()[:1], GradesConfig{Since: "2026-03-01T14:00:00+01:00", Window: "1h", ItemType: "video"},
			"no 1h list of item type video that ends at 2026-03-01T13:00:00Z or later has been graded; the newest one graded ends at 2026-03-01T12:00:03Z",
		},
	} {
		test.config.API, _ = startGradesAPI(t, test.grades, false)
		test.config.Limit = 100
		var out bytes.Buffer
		require.NoError(t, ShowGrades(t.Context(), test.config, Screen{Out: &out}))
		require.Equal(t, test.want+"\n", out.String())
	}
}

func TestGradesSayWhatIsWrong(t *testing.T) {
	var out bytes.Buffer
	err := ShowGrades(t.Context(), GradesConfig{API: "8081", Since: "yesterday"}, Screen{Out: &out})
	require.ErrorContains(t, err, `since: "yesterday" is neither a time`)
	require.ErrorContains(t, err, "api:")
	api, _ := startGradesAPI(t, nil, false)
	require.EqualError(t, ShowGrades(t.Context(), GradesConfig{API: api, Window: "1m"}, Screen{Out: &out}), "the API refused: window: not graded")
	require.Empty(t, out.String())
	since, err := GradesConfig{Since: "48h"}.since(now)
	require.NoError(t, err)
	require.Equal(t, now.Add(-48*time.Hour), since)
	since, err = GradesConfig{Since: "2026-03-01"}.since(now)
	require.NoError(t, err)
	require.Equal(t, now.Truncate(24*time.Hour), since)
}
