package grades

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/grade"
	"topk/internal/list"
)

func TestGrading(t *testing.T) {
	e := startEngines(t)
	for _, test := range []struct {
		name string
		test func(*testing.T, *engines)
	}{
		{"an hour, once", testHour},
		{"an hour that is recounted is graded again", testRevised},
		{"a wrong list gives every alert", testAlerts},
		{"a day", testDay},
		{"hours without a list have a reason", testNoList},
		{"lists that cannot be compared have a reason", testIncomparable},
		{"hours before it are missing", testGap},
		{"a sealed day", testSealed},
		{"time that is older than grades are kept", testOld},
		{"engines fail", testFailures},
		{"metrics name what was graded lately", testMetrics},
		{"the README's SQL", testReadme},
		{"levels of every part of a cover", testLevels},
		{"old grades go", testPrune},
	} {
		t.Run(test.name, func(t *testing.T) { test.test(t, e) })
	}
}

func testHour(t *testing.T, e *engines) {
	day := e.newDay(t)
	end := day.Add(11 * time.Hour)
	e.publish(t, "1h", end, 2, views{"video", "b", 9})
	version := e.publish(t, "1h", end, 2, views{"video", "a", 6}, views{"video", "b", 3})
	e.publish(t, "1h", end.Add(time.Second), 2, views{"video", "c", 1})
	e.publish(t, "5m", end, 2, views{"video", "c", 1})
	e.publish(t, "1h", end, 0, views{"hashtag", "go", 1})
	g := e.grader()
	e.quiet(t, end.Add(-time.Hour))
	require.Zero(t, e.round(t, g, end), "the hour is not exact")
	e.exact(t, end.Add(-time.Hour), views{"video", "a", 5}, views{"video", "b", 3}, views{"hashtag", "go", 1})
	for range 2 {
		n, err := g.Round(t.Context(), e.do, end.Add(time.Hour), made(end.Add(-time.Second)))
		require.NoError(t, err)
		require.Zero(t, n, "its list may be on its way: the worker was away")
	}
	require.Equal(t, 1, e.round(t, g, end))
	require.Zero(t, e.round(t, g, end))
	require.Zero(t, e.round(t, e.grader(), end), "another worker finds it graded")

	found := e.grades(t, day, end.Add(time.Hour))
	require.Len(t, found, 2)
	require.Equal(t, "hashtag", found[0].ItemType)
	require.Equal(t, grade.Grade{
		ID: found[1].ID, ItemType: "video", Window: "1h", From: end.Add(-time.Hour), Until: end, GradedAt: found[1].GradedAt,
		ExactVersion: int64(e.version), ListVersion: &version,
		Measures: &grade.Measures{Method: list.MethodVerified, Items: 2, ExactItems: 2, Recall100: 1, Recall1000: 1, Shared100: 1, Overcount: 1, MaxOvercount: 2},
	}, found[1], "the newest version of the list")
	require.Empty(t, found[1].Alerts())
}

func testRevised(t *testing.T, e *engines) {
	day := e.newDay(t)
	end := day.Add(time.Hour)
	e.exact(t, day, views{"video", "a", 5}, views{"video", "b", 3})
	e.publish(t, "1h", end, 0, views{"video", "a", 5}, views{"video", "b", 3})
	g := e.grader()
	require.Equal(t, 1, e.round(t, g, end))
	e.exact(t, day, views{"video", "a", 5}, views{"video", "b", 12}, views{"video", "c", 1})
	require.Equal(t, 1, e.round(t, g, end))
	require.Zero(t, e.round(t, g, end))
	found := e.grades(t, day, end)
	require.Len(t, found, 2, "both stay")
	require.Equal(t, []float64{1, 2. / 3}, []float64{found[0].Recall100, found[1].Recall100})
	require.Equal(t, uint64(1), found[1].Displacement)
	require.Greater(t, found[1].ExactVersion, found[0].ExactVersion)
	shown := grade.Show(found)
	require.Equal(t, found[1].ID, shown[0].ID)
	require.True(t, shown[1].Replaced)
}

func testAlerts(t *testing.T, e *engines) {
	day := e.newDay(t)
	midnight := day.AddDate(0, 0, 1)
	var real, wrong []views
	for i := range 100 {
		real = append(real, views{"video", fmt.Sprint("real", i), 2})
		wrong = append(wrong, views{"video", fmt.Sprint("real", i), 2})
	}
	for i := range 6 {
		wrong[10+i] = views{"video", fmt.Sprint("ghost", i), 4}
	}
	e.exact(t, midnight.Add(-time.Hour), real...)
	e.quiet(t, midnight)
	e.publish(t, "1h", midnight, 3, wrong...)
	e.publish(t, grade.Day, midnight, 3, wrong...)
	e.log.Reset()
	require.Equal(t, 2, e.round(t, e.grader(), midnight))
	found := e.grades(t, midnight, midnight)
	require.Len(t, found, 2)
	require.Equal(t, []grade.Alert{{What: grade.AlertRecall100, Measured: .94, Limit: grade.MinRecall100}, {What: grade.AlertOvercount, Measured: 4, Limit: 3}}, found[0].Alerts())
	require.Equal(t, append(found[0].Alerts(), grade.Alert{What: grade.AlertShared100, Measured: .94, Limit: grade.MinShared100Day}), found[1].Alerts())
	stamp := func(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }
	for _, line := range []string{
		`level=WARN msg="a list was beyond its limit" item_type=video window=1h hour=` + stamp(midnight.Add(-time.Hour)) + ` what=recall_100 measured=0.94 limit=0.99`,
		`window=1h hour=` + stamp(midnight.Add(-time.Hour)) + ` what=overcount measured=4 limit=3`,
		`window=24h hour=` + stamp(day) + ` what=shared_100 measured=0.94 limit=0.95`,
	} {
		require.Contains(t, e.log.String(), line)
	}
	require.Equal(t, 5, strings.Count(e.log.String(), "level=WARN"))
	for name, want := range map[string]float64{
		"shared_ratio": .94, "overcount_views": 4, "max_overcount_views": 3, "bound_exceeded": 1, "displacement_positions": 90,
		"until_seconds": float64(midnight.Unix()),
	} {
		value, told := e.metric(t, "topk_grade_"+name, "video", grade.Day)
		require.True(t, told, name)
		require.Equal(t, want, value, name)
	}
	value, _ := e.metric(t, "topk_grade_recall_ratio", "video", "100", grade.Day)
	require.Equal(t, .94, value)
}

// A day is graded once its last hour is exact, from all its hours, and again when one changes.
func testDay(t *testing.T, e *engines) {
	day := e.newDay(t)
	midnight := day.AddDate(0, 0, 1)
	e.exact(t, day, views{"video", "a", 4})
	e.exact(t, day.Add(13*time.Hour), views{"video", "a", 1}, views{"video", "b", 3})
	version := e.publish(t, grade.Day, midnight, 1, views{"video", "a", 6}, views{"video", "b", 3})
	g := e.grader()
	e.quiet(t, midnight.Add(-time.Hour))
	require.Equal(t, 2, e.round(t, g, midnight), "two hours, which have no lists")
	require.Empty(t, e.grades(t, midnight, midnight))
	e.quiet(t, midnight)
	require.Equal(t, 1, e.round(t, g, midnight), "its last hours were quiet")
	found := e.grades(t, midnight, midnight)
	require.Len(t, found, 1)
	require.Equal(t, &version, found[0].ListVersion)
	require.Equal(t, day, found[0].From)
	require.Equal(t, []uint64{1, 1, 2}, []uint64{found[0].Overcount, found[0].MaxOvercount, found[0].ExactItems})
	require.Zero(t, e.round(t, g, midnight))

	e.exact(t, day.Add(3*time.Hour), views{"video", "b", 1})
	require.Equal(t, 2, e.round(t, g, midnight), "the day, and an hour that was quiet before")
	require.Len(t, e.grades(t, midnight, midnight), 2)
}

func testNoList(t *testing.T, e *engines) {
	day := e.newDay(t)
	for hour := range 3 {
		e.exact(t, day.Add(time.Duration(hour)*time.Hour), views{"video", "a", 2}, views{"hashtag", "go", 1})
	}
	e.quiet(t, day.Add(5*time.Hour))
	e.publish(t, "1h", day.Add(time.Hour), 0, views{"video", "a", 2})
	before, _ := e.metric(t, "topk_grade_ungradable_total", "1h")
	require.Equal(t, 3, e.round(t, e.grader(), day.Add(5*time.Hour)))
	after, _ := e.metric(t, "topk_grade_ungradable_total", "1h")
	require.Equal(t, 5.0, after-before)
	found := e.grades(t, day, day.Add(5*time.Hour))
	require.Len(t, found, 6, "quiet hours have nothing to grade")
	for _, one := range found {
		if one.ItemType == "video" && one.Until.Equal(day.Add(time.Hour)) {
			require.Equal(t, 1.0, one.Recall100)
			continue
		}
		require.Equal(t, reasonNone, one.Reason)
		require.Nil(t, one.Measures)
		require.Nil(t, one.ListVersion)
	}
	e.exact(t, day, views{"video", "a", 2}, views{"hashtag", "go", 2})
	require.Equal(t, 1, e.round(t, e.grader(), day.Add(80*time.Hour)))
	found = e.grades(t, day, day.Add(5*time.Hour))
	require.Equal(t, reasonNotKept, found[6].Reason)
	require.Equal(t, 1.0, found[7].Recall100)
}

func testIncomparable(t *testing.T, e *engines) {
	end := e.newDay(t).Add(time.Hour)
	e.exact(t, end.Add(-time.Hour), views{"video", "a", 2}, views{"hashtag", "go", 1})
	e.publish(t, "1h", end, 0, views{"video", "a", 2})
	e.publish(t, "1h", end, 0, views{"hashtag", "go", 1})
	for itemType, set := range map[string]string{"video": `jsonb_set(body, '{from}', '"2026-01-01T00:00:00Z"')`, "hashtag": `'"text"'`} {
		_, err := e.postgres.Exec(t.Context(), "UPDATE lists SET body = "+set+" WHERE item_type = $1 AND as_of = $2", itemType, end)
		require.NoError(t, err)
	}
	require.Equal(t, 1, e.round(t, e.grader(), end))
	found := e.grades(t, end, end)
	require.Len(t, found, 2)
	require.Equal(t, []string{reasonUnread, reasonOther}, []string{found[0].Reason, found[1].Reason})
	require.NotNil(t, found[1].ListVersion)
}

// The rules for Prometheus name metrics that there are, with the limits that topk grades uses.
func TestRulesAreThoseOfTheCode(t *testing.T) {
	text, err := os.ReadFile("../../docker/prometheus/grades.rules.yml")
	require.NoError(t, err)
	source, err := os.ReadFile("metrics.go")
	require.NoError(t, err)
	rules := regexp.MustCompile(`expr: topk_grade_(\w+)\S* ([<>]) (\S+)`).FindAllStringSubmatch(string(text), -1)
	found := map[string]string{}
	for _, rule := range rules {
		require.Contains(t, string(source), strconv.Quote(rule[1]))
		found[rule[1]] = rule[2] + rule[3]
	}
	require.Equal(t, map[string]string{
		"recall_ratio": fmt.Sprint("<", grade.MinRecall100), "shared_ratio": fmt.Sprint("<", grade.MinShared100Day), "bound_exceeded": ">0",
	}, found)
}

func TestConfigNamesEveryMistake(t *testing.T) {
	require.NoError(t, DefaultConfig().Validate())
	err := Config{KeepLists: time.Minute}.Validate()
	require.ErrorContains(t, err, "keep-graded-lists: 1m0s")
	require.ErrorContains(t, err, "keep-grades: 0s")
}
