package grades

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/rollups/recount"
)

// An hour that is in the ledger while one before it is missing is not exact yet: it waits, however often it is looked at.
func testGap(t *testing.T, e *engines) {
	day := e.newDay(t)
	e.exact(t, day.Add(5*time.Hour), views{"video", "a", 2})
	g := e.grader()
	for range 2 {
		require.Zero(t, e.round(t, g, day.Add(7*time.Hour)))
	}
	e.quiet(t, day.Add(5*time.Hour))
	require.Equal(t, 1, e.round(t, g, day.Add(7*time.Hour)))
}

// What is older than grades are kept is not graded: the grade would be removed at once, and be missing again.
func testOld(t *testing.T, e *engines) {
	day := e.newDay(t)
	e.exact(t, day, views{"video", "a", 2})
	e.quiet(t, day.AddDate(0, 0, 1))
	g := e.grader()
	later := day.Add(g.config.KeepGrades + 2*time.Hour)
	require.Zero(t, e.round(t, g, later.AddDate(0, 0, 1)))
	require.Zero(t, e.round(t, g, later.AddDate(0, 0, 1)))
	require.Empty(t, e.grades(t, day, day.Add(time.Hour)))
}

// Whoever recounts an hour of a sealed day changes nothing that is read: there is nothing to grade, and nothing fails.
func testSealed(t *testing.T, e *engines) {
	day := e.newDay(t)
	e.exact(t, day, views{"video", "a", 2})
	e.quiet(t, day.AddDate(0, 0, 1))
	g := e.grader()
	require.Equal(t, 2, e.round(t, g, day.AddDate(0, 0, 1)))
	before := e.grades(t, day, day.Add(time.Hour))
	e.Query(t, "INSERT INTO topk.recounts_daily (day, version, hours, events, items, sealed) VALUES ('"+day.Format(time.DateTime)+"', 1, [], 0, 0, 1)")
	e.exact(t, day, views{"video", "a", 3})
	require.Zero(t, e.round(t, g, day.AddDate(0, 0, 1)), "nor its day: the sum is an empty one")
	require.Equal(t, before, e.grades(t, day, day.Add(time.Hour)))
}

// What fails is tried again, and nothing of it is stored by halves.
func testFailures(t *testing.T, e *engines) {
	end := e.newDay(t).Add(time.Hour)
	e.exact(t, end.Add(-time.Hour), views{"video", "a", 2}, views{"hashtag", "go", 1})
	e.publish(t, "1h", end, 0, views{"video", "a", 2})
	away := errors.New("away")
	var g *Grader
	for failing := 1; failing <= 4; failing++ { // what is known, what is due, its lists, its grades
		asked := 0
		g = e.grader()
		_, err := g.Round(t.Context(), func(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
			if asked++; asked == failing {
				return away
			}
			return f(ctx, e.postgres)
		}, end, made(end))
		require.ErrorIs(t, err, away)
	}
	_, err := e.postgres.Exec(t.Context(), `ALTER TABLE grades ADD CONSTRAINT planted CHECK (item_type <> 'video' OR until_time < '`+end.Format(time.RFC3339)+`') NOT VALID`)
	require.NoError(t, err)
	_, err = g.Round(t.Context(), e.do, end, made(end))
	require.ErrorContains(t, err, "planted")
	require.Empty(t, e.grades(t, end, end), "all or none")
	_, err = e.postgres.Exec(t.Context(), "ALTER TABLE grades DROP CONSTRAINT planted")
	require.NoError(t, err)
	require.Equal(t, 1, e.round(t, g, end))
	require.Len(t, e.grades(t, end, end), 2)
}

func testMetrics(t *testing.T, e *engines) {
	day := e.newDay(t)
	grades := func(hours int, itemTypes ...string) {
		end := day.Add(time.Duration(hours) * time.Hour)
		var all []views
		for _, itemType := range itemTypes {
			all = append(all, views{itemType, "a", 2})
			e.publish(t, "1h", end, 0, views{itemType, "a", 2})
		}
		e.exact(t, end.Add(-time.Hour), all...)
		e.quiet(t, end)
		e.round(t, e.grader(), end)
	}
	told := func(itemType string) bool {
		_, told := e.metric(t, "topk_grade_recall_ratio", itemType, "1000", "1h")
		return told
	}
	grades(1, "video", "sound")
	require.True(t, told("sound"))
	e.grader().Forget()
	require.False(t, told("sound"), "another worker leads")
	grades(25, "video")
	require.True(t, told("sound"), "a worker that starts tells what is known")
	grades(26, "video")
	require.False(t, told("sound"))
	require.True(t, told("video"))

	e.exact(t, day, views{"video", "b", 1})
	require.NotZero(t, e.round(t, e.grader(), day.Add(26*time.Hour)))
	value, _ := e.metric(t, "topk_grade_until_seconds", "video", "1h")
	require.Equal(t, float64(day.Add(26*time.Hour).Unix()), value, "an older hour that is graded again is not the newest list")
}

// Levels and types are those of the counts, whatever a cover is made of: a total, days that replace others in it, and hours.
func testLevels(t *testing.T, e *engines) {
	day := e.newDay(t)
	config := recount.DefaultConfig()
	config.LookEvery = 0
	r := recount.New(e.conn, config, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	for more := true; more; {
		report, err := r.Round(t.Context(), day.AddDate(0, 0, 1))
		require.NoError(t, err)
		more = report.More
	}
	e.exact(t, firstDay.AddDate(0, 0, 3).Add(10*time.Hour), views{"hashtag", "go", 900}, views{"hashtag", "c", 900}, views{"video", "a", 1})
	cover, err := recount.ReadTotalCover(t.Context(), e.conn)
	require.NoError(t, err)
	totals := map[string]uint64{}
	for _, itemType := range []string{"hashtag", "sound", "video", "none"} {
		counts, err := cover.Top(t.Context(), e.conn, itemType, 1000, countBudget)
		require.NoError(t, err)
		var all []uint64
		for _, c := range counts {
			all = append(all, c.Views)
			totals[itemType] += c.Views
		}
		levels, err := cover.Levels(t.Context(), e.conn, itemType, countBudget)
		require.NoError(t, err)
		require.Equal(t, levelsOf(all), levels, itemType)
	}
	busiest, err := cover.Totals(t.Context(), e.conn, 2, countBudget)
	require.NoError(t, err)
	require.Equal(t, map[string]uint64{"hashtag": totals["hashtag"], "video": totals["video"]}, busiest)
	require.Less(t, totals["sound"], totals["video"])
}

func testReadme(t *testing.T, e *engines) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := strings.Split(string(text), "```sql\n")[1:]
	require.Len(t, blocks, 1)
	statement, _, _ := strings.Cut(blocks[0], "```")
	rows, err := e.postgres.Query(t.Context(), statement)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowToMap)
	require.NoError(t, err)
	require.NotEmpty(t, found)
}

func testPrune(t *testing.T, e *engines) {
	end := e.newDay(t).Add(time.Hour)
	e.exact(t, end.Add(-time.Hour), views{"video", "a", 2})
	require.Equal(t, 1, e.round(t, e.grader(), end))
	require.NoError(t, store{e.do}.prune(t.Context(), "1h", end))
	hours, others := 0, 0
	for _, one := range e.grades(t, firstDay, end) {
		if one.Window != "1h" {
			others++
			continue
		}
		require.False(t, one.Until.Before(end))
		hours++
	}
	require.Equal(t, 1, hours)
	require.Positive(t, others)
}
