package rollups

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/truth"
	"topk/internal/wire"
	"topk/rollups/recount"
)

// history is days of events. Those of closed hours are in ClickHouse as raw events only: what landed of them is no longer kept.
type history struct {
	*engines
	start    time.Time
	itemType string
	events   []event // in order of time, repeats included
	stored   int     // of events
	exact    *recount.Recounter
	long     *Long

	asOf  time.Time         // of the last list of all time
	least map[string]uint64 // what its items have at least
}

// newHistory is hours of random events, one in fifty sent twice.
func newHistory(t *testing.T, hours, perHour, items int, skew float64) *history {
	h := &history{engines: startEngines(t), start: time.Date(2026, 3, 1, 5, 0, 0, 0, time.UTC), itemType: "video"}
	r := rand.New(rand.NewPCG(7, 7))
	rank := ranks(r, skew, items)
	for hour := range hours {
		for n := range perHour {
			v := event{itemType: "video", id: fmt.Sprintf("item-%d", rank()), eventID: fmt.Sprintf("e%d-%d", hour, n),
				at: h.start.Add(time.Duration(hour)*time.Hour + time.Duration(r.IntN(3_600_000))*time.Millisecond)}
			h.events = append(h.events, v)
			if r.IntN(50) == 0 {
				h.events = append(h.events, v)
			}
		}
	}
	return h.begin()
}

// recordedHistory is the recorded year of sales, of equal rows the later ones being retries of the first. Hours that are no multiple of
// every are left out: each hour takes a part of two tables, and those take most of the time.
func recordedHistory(t *testing.T, every int) *history {
	rows, err := truth.ReadEvents("../test/testdata/online_retail/events.csv.gz")
	require.NoError(t, err)
	h := &history{engines: startEngines(t), itemType: "product"}
	distinct := map[[2]string]bool{}
	for _, v := range rows {
		id := fmt.Sprint(v.User, "-", v.Weight, "-", v.Kind, "-", v.Time.UnixMilli(), "-", v.Country)
		one := event{itemType: h.itemType, id: v.Item, eventID: id[:min(len(id), 64)], at: v.Time}
		distinct[[2]string{one.id, one.eventID}] = true
		if v.Time.Hour()%every == 0 {
			h.events = append(h.events, one)
		}
	}
	require.Equal(t, 6110, len(rows)-len(distinct), "retries")
	h.begin()
	h.start = h.events[0].at.Truncate(24 * time.Hour)
	return h
}

func (h *history) begin() *history {
	slices.SortStableFunc(h.events, func(a, b event) int { return a.at.Compare(b.at) })
	config := recount.DefaultConfig()
	config.Debounce, config.LookEvery, config.KeepHours = 0, 0, 400*24*time.Hour
	h.exact = recount.New(h.conn, config, quiet(), nil)
	h.long = h.newLong()
	return h
}

// newLong remembers few items, so that the bound of the others matters.
func (h *history) newLong() *Long {
	l := NewLong(h.conn, h.builder(), 10*time.Minute)
	for _, b := range l.bases {
		b.most = 1200
	}
	return l
}

// until lets the events before asOf arrive, closes hours, and makes the lists of asOf.
func (h *history) until(t *testing.T, asOf time.Time) map[string]*list.List {
	t.Helper()
	h.arrive(t, asOf)
	h.recount(t, asOf)
	return h.build(t, asOf)
}

func (h *history) arrive(t *testing.T, asOf time.Time) {
	t.Helper()
	first := h.stored
	for h.stored < len(h.events) && h.events[h.stored].at.Before(asOf) {
		h.stored++
	}
	arrived := h.events[first:h.stored]
	closed := asOf.Add(-recount.DefaultConfig().Settle).Truncate(time.Hour)
	open, _ := slices.BinarySearchFunc(arrived, closed, func(v event, at time.Time) int { return v.at.Compare(at) })
	h.store(t, arrived[:open])
	if open == len(arrived) {
		return
	}
	h.landEvents(t, arrived[open:])
	rows := map[count]uint64{}
	for _, v := range arrived[open:] {
		rows[count{itemType: v.itemType, id: v.id, second: v.at.Truncate(time.Second)}]++
	}
	m := h.message()
	for row, n := range rows {
		row.n = n
		m.rows = append(m.rows, row)
	}
	h.land(t, wire.CountsTopic, m)
}

func (h *history) recount(t *testing.T, asOf time.Time) {
	t.Helper()
	for more := true; more; {
		report, err := h.exact.Round(t.Context(), asOf)
		require.NoError(t, err)
		more = report.More
	}
}

// build makes the lists, by a builder that has seen all and by a new one, and holds them against the truth.
func (h *history) build(t *testing.T, asOf time.Time) map[string]*list.List {
	t.Helper()
	found := map[string]*list.List{}
	for _, long := range []*Long{h.newLong(), h.long} {
		lists, err := long.Build(t.Context(), asOf)
		require.NoError(t, err)
		require.Len(t, lists, len(list.Long))
		for _, l := range lists {
			w := window(t, l.Window)
			from := w.From(asOf)
			if from.Before(h.start) {
				from = h.start
			}
			require.Equal(t, asOf, l.AsOf)
			requireClaims(t, l, truthOf(from, asOf, h.events[:h.stored]))
			found[l.Window] = l
		}
	}
	h.goesUp(t, found["all"])
	return found
}

// goesUp holds a list of all time against the one before: no count falls by more than what that one said it may have too many, unless
// the newer one is revised.
func (h *history) goesUp(t *testing.T, l *list.List) {
	t.Helper()
	if l.AsOf.Before(h.asOf) {
		return
	}
	if !l.Revised {
		for id, least := range h.least {
			i := slices.IndexFunc(l.Items, func(i list.Item) bool { return i.ItemID == id })
			require.True(t, i >= 0 && l.Items[i].Count >= least || i < 0 && least <= l.Floor, "%s had at least %d views before %s", id, least, l.AsOf)
		}
	}
	h.asOf, h.least = l.AsOf, map[string]uint64{}
	for _, item := range l.Items {
		h.least[item.ItemID] = item.Count - min(item.Count, l.MaxOvercount)
	}
}

// Lists of long windows are exact counts of the closed hours and verified ones of the time since. They hold at every moment, while hours
// close, days are added up, and late events correct what was closed.
func TestLongWindows(t *testing.T) {
	h := newHistory(t, 80, 1500, 6000, 0.9)
	at := func(d time.Duration) time.Time { return h.start.Add(d) }

	lists := h.until(t, at(40*time.Minute))
	require.Equal(t, list.MethodVerified, lists["24h"].Method, "no hour is closed")
	require.Equal(t, h.start, *lists["24h"].ExactUntil, "the hours before were empty")
	require.False(t, lists["all"].From.After(h.start))

	for _, d := range []time.Duration{50*time.Hour + 37*time.Minute, 50*time.Hour + 42*time.Minute + 9*time.Second, 51*time.Hour + 10*time.Minute,
		52*time.Hour + 30*time.Minute, 67*time.Hour + 15*time.Minute, 68*time.Hour + 1*time.Minute} {
		lists = h.until(t, at(d))
		closed := at(d - recount.DefaultConfig().Settle).Truncate(time.Hour)
		for _, l := range lists {
			require.Equal(t, closed, *l.ExactUntil, l.Window)
			require.Equal(t, list.MethodVerified, l.Method)
			require.False(t, l.Revised)
		}
	}
	require.Equal(t, at(68*time.Hour).Add(-24*time.Hour), lists["24h"].From)
	require.Equal(t, h.start.Truncate(24*time.Hour).Add(-4*24*time.Hour), lists["7d"].From, "7 days before midnight")
	require.True(t, lists["24h"].Cut(1).Certified)
	require.True(t, lists["all"].Cut(1).Certified)
	asked := h.long.bases["all"].cover
	h.build(t, at(68*time.Hour+time.Minute))
	require.Same(t, asked, h.long.bases["all"].cover, "nothing is asked of closed hours until the next one closes")

	// Five hundred events of one item come for an hour that is closed.
	before := lists["all"]
	h.late(t, at(40*time.Hour), "riser", 500)
	lists = h.build(t, at(68*time.Hour+time.Minute))
	require.Equal(t, []string{at(40 * time.Hour).Format(time.RFC3339)}, lists["all"].Partial, "they are not counted yet")
	require.GreaterOrEqual(t, lists["all"].Floor, uint64(500), "any item may have them")
	require.Empty(t, lists["24h"].Partial, "the hour is not in it")
	require.False(t, lists["all"].Revised)
	h.recount(t, at(68*time.Hour+time.Minute))
	lists = h.build(t, at(68*time.Hour+time.Minute))
	for _, name := range []string{"7d", "30d", "all"} {
		require.True(t, lists[name].Revised, name)
		require.Empty(t, lists[name].Partial, name)
		i := slices.IndexFunc(lists[name].Items, func(i list.Item) bool { return i.ItemID == "riser" })
		require.GreaterOrEqual(t, i, 0, name)
		require.EqualValues(t, 500, lists[name].Items[i].Count)
	}
	require.Equal(t, before.Total+500, lists["all"].Total)
	require.False(t, lists["24h"].Revised, "the hour is not in it")
	lists = h.until(t, at(69*time.Hour+15*time.Minute))
	require.False(t, lists["all"].Revised, "revised before the last two hours were closed")

	// Between two lists an old hour is corrected, and another closes.
	h.late(t, at(41*time.Hour), "riser", 5)
	h.recount(t, at(69*time.Hour+15*time.Minute))
	require.True(t, h.until(t, at(70*time.Hour+11*time.Minute))["all"].Revised)
	require.False(t, h.until(t, at(71*time.Hour+11*time.Minute))["all"].Revised)

	// Nothing is open: every count is exact. A list of a time that is past counts nothing after it.
	h.arrive(t, at(74*time.Hour))
	h.recount(t, at(76*time.Hour))
	lists = h.build(t, at(74*time.Hour))
	earlier := h.build(t, at(72*time.Hour))
	require.Equal(t, at(72*time.Hour), *earlier["all"].ExactUntil)
	require.Less(t, earlier["all"].Total, lists["all"].Total)
	require.Equal(t, list.MethodExact, lists["24h"].Method)
	require.True(t, lists["24h"].Cut(100).Certified)
	require.Zero(t, lists["24h"].MaxOvercount)

	// What is closed was grouped once: a worker that starts anew asks what is remembered.
	inserts := func() string { return h.Query(t, "SELECT value FROM system.events WHERE event = 'InsertQuery'") }
	grouped := inserts()
	_, err := h.newLong().Build(t.Context(), at(74*time.Hour))
	require.NoError(t, err)
	require.Equal(t, grouped, inserts())
	h.Query(t, "TRUNCATE TABLE topk.exact_heads")
	h.build(t, at(74*time.Hour))
	require.NotEqual(t, grouped, inserts(), "it can be rebuilt")
}

// late brings events of one item for an hour that is closed.
func (h *history) late(t *testing.T, at time.Time, id string, n int) {
	t.Helper()
	events := make([]event, n)
	for i := range events {
		events[i] = event{itemType: "video", id: id, eventID: fmt.Sprintf("late-%d-%d", at.Unix(), i), at: at}
	}
	h.events = slices.Insert(h.events, 0, events...)
	h.stored += n
	h.landEvents(t, events)
}

// A type whose last views were in closed hours, and that has new ones, is counted at once.
func TestLongWindowsOfATypeThatWakes(t *testing.T) {
	h := newHistory(t, 3, 50, 20, 1)
	sound := func(name string, at time.Duration, n int) {
		for i := range n {
			h.events = append(h.events, event{itemType: "sound", id: "s", eventID: fmt.Sprint(name, i), at: h.start.Add(at)})
		}
	}
	sound("first", time.Minute, 10)
	sound("second", 2*time.Hour+25*time.Minute, 5)
	h.begin()
	total := func(asOf time.Time) uint64 {
		h.arrive(t, asOf)
		h.recount(t, asOf)
		lists, err := h.long.Build(t.Context(), asOf)
		require.NoError(t, err)
		i := slices.IndexFunc(lists, func(l *list.List) bool { return l.ItemType == "sound" && l.Window == "24h" })
		require.GreaterOrEqual(t, i, 0)
		require.Equal(t, lists[i].Total, lists[i].Items[0].Count)
		return lists[i].Total
	}
	require.EqualValues(t, 10, total(h.start.Add(2*time.Hour+20*time.Minute)))
	h.long.open.types, h.long.open.typesAsked = []string{"video"}, time.Now() // as when the answer is a moment old
	require.EqualValues(t, 15, total(h.start.Add(2*time.Hour+30*time.Minute)))
}

// While recounts are far behind, the last good lists stay.
func TestLongWindowsWaitForRecounts(t *testing.T) {
	h := newHistory(t, 3, 50, 20, 1)
	h.arrive(t, h.start.Add(3*time.Hour))
	h.recount(t, h.start.Add(2*time.Hour+30*time.Minute))
	_, err := h.long.Build(t.Context(), h.start.Add(20*time.Hour))
	require.ErrorContains(t, err, "hours are recounted up to 2026-03-01T07:00:00Z only")

	// So they do when what landed since is no longer kept, as far as the worker or the tables know.
	asOf := h.start.Add(3 * time.Hour)
	h.build(t, asOf)
	h.long.open.KeptSince(h.start.Add(2*time.Hour + time.Minute))
	_, err = h.long.Build(t.Context(), asOf)
	require.ErrorIs(t, err, ErrNotKept)
	h.Query(t, "TRUNCATE TABLE topk.recounts")
	_, err = h.newLong().Build(t.Context(), asOf)
	require.ErrorIs(t, err, ErrNotKept, "raw events say that there was more than landed")
}

// The recorded year of sales: at eleven moments the lists of 24 hours, 7 days, 30 days and all time equal a count by brute force,
// and say up to when they are exact.
//
// Every twelfth hour, which takes a minute; TOPK_TEST_HOURS=1 takes all.
func TestLongWindowsOfARecordedYear(t *testing.T) {
	every, err := strconv.Atoi(cmp.Or(os.Getenv("TOPK_TEST_HOURS"), "12"))
	require.NoError(t, err)
	h := recordedHistory(t, every)
	last := h.events[len(h.events)-1].at
	r := rand.New(rand.NewPCG(9, 9))
	var moments []time.Time
	const some = 10
	for range some {
		moments = append(moments, h.start.Add(time.Duration(1+r.Int64N(int64(last.Sub(h.start)/time.Second)))*time.Second))
	}
	moments = append(moments, last.Truncate(time.Second).Add(time.Second))
	slices.SortFunc(moments, time.Time.Compare)
	for _, asOf := range moments {
		lists := h.until(t, asOf)
		for _, l := range lists {
			require.Equal(t, asOf.Add(-recount.DefaultConfig().Settle).Truncate(time.Hour), *l.ExactUntil, l.Window)
			from := window(t, l.Window).From(asOf)
			if l.Window == "all" {
				require.False(t, l.From.After(h.start))
			} else {
				require.Equal(t, from, l.From)
			}
			open := truthOf(*l.ExactUntil, asOf, h.events[:h.stored])
			if len(open) == 0 {
				require.Zero(t, l.MaxOvercount, "nothing was sold since")
			}
			if l.MaxOvercount > 0 {
				continue
			}
			want := truthOf(from, asOf, h.events[:h.stored])
			var total uint64
			for _, n := range want {
				total += n
			}
			require.Equal(t, total, l.Total, "%s at %s", l.Window, asOf)
			for _, item := range l.Items {
				require.Equal(t, want[item.ItemID], item.Count)
			}
		}
	}
	require.Equal(t, list.MethodVerified, h.build(t, moments[some])["all"].Method)
}
