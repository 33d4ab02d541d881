package slices

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/slice"
	"topk/rollups/recount"
)

// recounter counts what is closed at once.
func (e *engine) recounter() *recount.Recounter {
	c := recount.DefaultConfig()
	c.Debounce, c.LookEvery = 0, 0
	return recount.New(e.conn, c, quiet(), prometheus.NewRegistry())
}

func recountAll(t *testing.T, r *recount.Recounter, asOf time.Time) {
	t.Helper()
	for {
		report, err := r.Round(context.Background(), asOf)
		require.NoError(t, err)
		if !report.More {
			return
		}
	}
}

// both brings views both ways: as counts and as events.
func (e *engine) both(t *testing.T, views ...view) {
	t.Helper()
	e.land(t, 1, views...)
	e.landEvents(t, views...)
}

// history is random views of the days before noon, more of them lately.
func history(r *rand.Rand, days float64, items, n int) []view {
	views := make([]view, n)
	for i := range views {
		views[i] = random(r, items)
		at := days * 24 * 3600 * r.Float64() * r.Float64()
		views[i].at = noon.Add(-time.Duration(1+int(at)) * time.Second)
	}
	return views
}

// fillAll fills until nothing is left.
func fillAll(t *testing.T, f *Filler) {
	t.Helper()
	_, err := f.Fill(context.Background(), noon.Add(-Reach), noon)
	require.NoError(t, err)
	for {
		n, err := f.FillClosed(context.Background(), noon)
		require.NoError(t, err)
		if n == 0 {
			return
		}
	}
}

// checkLong checks every long window of some unions, and returns the lists of all time.
func (e *engine) checkLong(t *testing.T, b *Builder, stored int, unions ...Union) []*list.List {
	t.Helper()
	var all []*list.List
	for _, w := range list.Long {
		all = e.build(t, b, w.Name, stored, unions...)
		for i, l := range all {
			from := w.From(noon)
			if w.Length == 0 {
				from = time.Time{}
			} else {
				require.Equal(t, from, l.From)
			}
			truth := e.truth("video", unions[i], from, noon)
			checkClaims(t, l, truth)
			total := uint64(0)
			for _, n := range truth {
				total += n
			}
			if l.Method != list.MethodEstimated && len(l.Partial) == 0 {
				require.Equal(t, total, l.Total, "%s of %s", w.Name, l.Slice)
			}
			require.Equal(t, noon.Add(-time.Hour), *l.ExactUntil)
		}
	}
	return all
}

func testClosed(t *testing.T, e *engine) {
	r := rand.New(rand.NewPCG(7, 8))
	e.both(t, history(r, 3, 60, 2500)...)
	recountAll(t, e.recounter(), noon)
	countries := make([]string, 0, 6)
	for _, c := range []string{"DE", "FR", "IN", "IT", "US", ""} {
		countries = append(countries, "country="+c)
	}
	everything := Union{"all countries", countries}
	for name, change := range map[string]func(*Config){
		"cut": func(c *Config) { c.Items = 6 }, "cut, nothing counted": func(c *Config) { c.Items, c.Loose, c.CountBudget = 6, 0, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			e.Query(t, "TRUNCATE TABLE topk.slice_heads")
			e.Query(t, "TRUNCATE TABLE topk.slice_minutes")
			e.Query(t, "TRUNCATE TABLE topk.filled_minutes")
			c := config(change)
			fillAll(t, NewFiller(e.conn, c))
			b := NewBuilder(e.conn, c)
			all := e.checkLong(t, b, 10, append(slices.Clone(wanted), everything)...)
			if name != "cut, nothing counted" {
				for _, l := range all {
					require.Equal(t, list.MethodVerified, l.Method)
					require.NotEmpty(t, l.Items)
				}
			}
			added := all[len(all)-1]
			require.Equal(t, "all countries", added.Slice)
			total := uint64(0)
			for _, v := range e.views {
				total += v.n
			}
			require.Equal(t, total, added.Total, "countries add up to all")
		})
	}
}

// testCorrected: an event that comes late for an old day is within the bounds, and then counted: the day is taken out of the total and put
// back in.
func testCorrected(t *testing.T, e *engine) {
	r := rand.New(rand.NewPCG(9, 10))
	e.both(t, history(r, 4, 40, 800)...)
	recounts := e.recounter()
	recountAll(t, recounts, noon)
	for _, items := range []int{1000, 5} {
		c := config(func(c *Config) { c.Items = items })
		e.Query(t, "TRUNCATE TABLE topk.slice_heads")
		f, b := NewFiller(e.conn, c), NewBuilder(e.conn, c)
		fillAll(t, f)
		late := view{"video", fmt.Sprint("late", items), "DE", "news", "de", noon.Add(-74 * time.Hour), 200}
		e.both(t, late)
		fillAll(t, f)
		unions := append(slices.Clone(wanted), one("category=news")...)
		for _, l := range e.checkLong(t, b, 10, unions...) {
			require.NotEmpty(t, l.Partial, "the hour is named")
		}
		e.recountByHand(t, late.at.Truncate(time.Hour))
		cover, err := recount.ReadTotalCover(context.Background(), e.conn)
		require.NoError(t, err)
		_, taken := cover.Parts()
		require.NotEmpty(t, taken, "the day as it was is taken out of the total, and its hours are added")
		for _, step := range []string{"the hour alone", "its day and the total, too"} {
			fillAll(t, f)
			for i, l := range e.checkLong(t, b, 10, unions...) {
				require.True(t, step == "the hour alone" || len(l.Partial) == 0, "what came before a count by hand is not told from what came after")
				if unions[i].Name == "country=DE" {
					require.Contains(t, []string{l.Items[0].ItemID, l.Items[1].ItemID}, late.id, step)
				}
			}
			recountAll(t, recounts, noon)
		}
	}
}

// counted enters the closed hours of views as they are, without events.
func (e *engine) counted(t *testing.T, views ...view) {
	t.Helper()
	batch, err := e.conn.PrepareBatch(context.Background(), `INSERT INTO topk.counts_hourly (item_type, item_id, hour, version, country, category, language, n)`)
	require.NoError(t, err)
	for _, v := range views {
		if hour := v.at.Truncate(time.Hour); hour.Before(noon.Add(-time.Hour)) {
			require.NoError(t, batch.Append(v.itemType, v.id, hour, uint64(1), v.country, v.category, v.language, v.n))
		}
	}
	require.NoError(t, batch.Send())
	e.Query(t, `INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why)
		SELECT hour, version, sum(n), sum(n), uniqExact(item_type, item_id), 'closed' FROM topk.counts_hourly FINAL GROUP BY hour, version`)
}

// recountByHand counts an hour, and leaves its day and the total to the worker.
func (e *engine) recountByHand(t *testing.T, hour time.Time) {
	t.Helper()
	version := time.Now().UnixMicro()
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.counts_hourly (item_type, item_id, hour, version, country, category, language, n)
		SELECT item_type, item_id, toStartOfHour(event_time) AS hour, %d, country, category, language, count()
		FROM topk.events FINAL
		WHERE event_time >= toDateTime(%d, 'UTC') AND event_time < toDateTime(%d, 'UTC') AND empty(flags)
		GROUP BY ALL`, version, hour.Unix(), hour.Add(time.Hour).Unix()))
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why)
		SELECT hour, version, sum(n), sum(n), uniqExact(item_type, item_id), 'corrected by hand'
		FROM topk.counts_hourly FINAL
		WHERE hour = toDateTime(%d, 'UTC') AND version = %d
		GROUP BY hour, version`, hour.Unix(), version))
}

func testClosedNotFilled(t *testing.T, e *engine) {
	b := NewBuilder(e.conn, config())
	ask := func() (*list.List, error) {
		made, err := b.Build(context.Background(), window(t, "24h"), noon, map[string][]Union{"video": one("country=DE")}, 10)
		if err != nil {
			return nil, err
		}
		return made.Lists[0], nil
	}
	l, err := ask()
	require.NoError(t, err)
	require.Empty(t, l.Items, "nothing was ever viewed")
	require.NotEmpty(t, l.Reason)
	e.both(t, view{"video", "a", "DE", "news", "de", noon.Add(-5 * time.Hour), 3})
	_, err = ask()
	require.ErrorIs(t, err, ErrNotFilled, "hours back to it are not recounted")
	recountAll(t, e.recounter(), noon)
	_, err = ask()
	require.ErrorIs(t, err, ErrNotFilled, "the hour has no heads")
	fillAll(t, NewFiller(e.conn, config()))
	l, err = ask()
	require.NoError(t, err)
	require.Equal(t, uint64(3), l.Items[0].Count)
	require.True(t, l.Certified)
	// A configuration that keeps less finds what it needs.
	b.config.Kept = must(slice.ParsePairs("country+category"))
	_, err = ask()
	require.NoError(t, err, "fewer dimensions are in what is there")
}
