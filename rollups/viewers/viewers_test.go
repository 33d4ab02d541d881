package viewers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

func TestConfigNamesEveryMistake(t *testing.T) {
	require.NoError(t, DefaultConfig().Validate())
	for n, text := range map[int]string{-1: "min-viewers: -1 is not 0 to 10000", MaxViewers + 1: "min-viewers: 10001 is not 0 to 10000"} {
		config := DefaultConfig()
		config.Min, config.Budget = n, 0
		require.ErrorContains(t, config.Validate(), text)
		require.ErrorContains(t, config.Validate(), "budget: 0s is not positive")
	}
}

func TestOffByDefault(t *testing.T) {
	f := New(nil, DefaultConfig(), nil, nil)
	listed, hidden := screen(f, Window{}, 10, map[string]uint64{"a": 3, "b": 1})
	require.Equal(t, []string{"a", "b"}, listed)
	require.Zero(t, hidden)
	var l list.List
	f.Mark(&l, &Lot{Hidden: 1})
	require.Equal(t, list.List{}, l)
	f.Lead()
}

func TestStepsIntoThePast(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		grain       int
		since, from time.Duration // before noon
		want        time.Duration
	}{
		{minutes, -1 << 40, time.Minute, time.Minute},
		{minutes, -1 << 40, time.Hour, 2 * time.Minute},
		{minutes, 2 * time.Minute, time.Hour, time.Hour},
		{hours, -1 << 40, 24 * time.Hour, 24 * time.Hour},
		{hours, 0, 8 * day, 26 * time.Hour},
		{hours, 26 * time.Hour, 8 * day, 8 * day},
		{hours, 26 * time.Hour, 31 * day, 9 * day},
		{hours, 9 * day, 1000 * day, 32 * day},
		{hours, 32 * day, 1000 * day, 1000 * day},
	} {
		require.Equal(t, noon.Add(-c.want), allGrains[c.grain].target(noon.Add(-c.since), noon.Add(-c.from), noon), "%+v", c)
	}
}

func TestViewers(t *testing.T) {
	e := startEngine(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *engine)
	}{
		{"two devices, a hundred thousand times", testTwoDevices},
		{"as many as asked for", testLimit},
		{"a great limit allows for the estimate", testGreatLimit},
		{"the past of a new candidate", testPast},
		{"the past is not kept", testPastNotKept},
		{"whoever comes after an item was watched", testAfterwards},
		{"a block that was on its way", testBlockOnItsWay},
		{"replayed events", testReplay},
		{"candidates only", testCandidatesOnly},
		{"others move up", testOthersMoveUp},
		{"a new worker", testNewWorker},
		{"a reader", testReader},
		{"somebody else writes", testSomebodyElse},
		{"the set is bounded and renewed", testBoundedSet},
		{"what is not counted", testNotCounted},
		{"ids of any bytes", testStrangeIDs},
		{"ClickHouse is away", testAway},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, e) })
	}
}

func testTwoDevices(t *testing.T, e *engine) {
	noon := e.start(t)
	e.land(t, "two", noon.Add(-time.Second), 100_000, 2)
	e.land(t, "ten", noon.Add(-time.Second), 20, 10)
	for _, w := range list.Windows {
		listed, hidden := screen(e.filter(), window(t, w.Name, noon), 10, map[string]uint64{"two": 100_000, "ten": 20})
		require.Equal(t, []string{"ten"}, listed, w.Name)
		require.Equal(t, 1, hidden, w.Name)
	}
}

func testLimit(t *testing.T, e *engine) {
	noon := e.start(t)
	views := map[string]uint64{}
	e.crowds(t, noon.Add(-time.Second), "range(1, 21)")
	for n := 1; n <= 20; n++ {
		views[fmt.Sprintf("%03d", n)] = 100
	}
	views["few views"] = 9
	for _, most := range []int{7, 20} {
		f := e.filter(func(c *Config) { c.Min = most })
		listed, hidden := screen(f, window(t, "5m", noon), 100, views)
		require.Contains(t, listed, fmt.Sprintf("%03d", most))
		require.NotContains(t, listed, fmt.Sprintf("%03d", most-1))
		require.Equal(t, 21-len(listed), hidden)
	}
	l, lot := &list.List{ItemType: "video"}, &Lot{Hidden: 2}
	e.filter().Mark(l, lot)
	require.Equal(t, list.List{ItemType: "video", MinViewers: 10, Hidden: 2, Reason: "no video is known to have had 10 viewers in the window"}, *l)
}

// Within three standard errors an item stays; states say exactly how many viewers there are where they are few.
func testGreatLimit(t *testing.T, e *engine) {
	noon := e.start(t)
	e.crowds(t, noon.Add(-time.Second), "range(10, 101, 10)")
	e.land(t, "4000", noon.Add(-time.Second), 6000, 4000)
	e.land(t, "5000", noon.Add(-time.Second), 6000, 5000)
	f := e.filter(func(c *Config) { c.Min = 5000 })
	listed, _ := screen(f, window(t, "5m", noon), 10, map[string]uint64{"4000": 6000, "5000": 6000})
	require.Equal(t, []string{"5000"}, listed)
	views := map[string]uint64{}
	for n := 10; n <= exactTo; n += 10 {
		views[fmt.Sprintf("%03d", n)] = 10_000
	}
	screen(f, window(t, "5m", noon), 20, views)
	require.Equal(t, "10", e.Query(t, "SELECT countIf(n = toUInt64(item_id)) FROM (SELECT item_id, uniqCombinedMerge(12)(viewers) AS n FROM topk.viewers_minute GROUP BY item_id) WHERE item_id NOT IN ('4000', '5000')"))
}

// Each window needs its own past: ten viewers came, one at a time, over all of it.
func testPast(t *testing.T, e *engine) {
	noon := e.start(t)
	for name, apart := range map[string]time.Duration{"1m": 5 * time.Second, "5m": 25 * time.Second, "1h": 5 * time.Minute, "24h": 2 * time.Hour,
		"7d": 16 * time.Hour, "30d": 70 * time.Hour} {
		w := window(t, name, noon)
		for n := range 10 {
			e.Query(t, fmt.Sprintf(`INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, viewer) VALUES ('%d', 'video', '%s', '%s', 'v%d')`,
				n, name, noon.Add(-time.Duration(n)*apart-time.Second).Format(time.DateTime), n))
		}
		first := w.From.Add(time.Second)
		if kept := noon.Add(-29 * day); first.Before(kept) {
			first = kept
		}
		e.land(t, "two "+name, first, 1000, 2)
		f := e.filter()
		listed, _ := screen(f, w, 10, map[string]uint64{name: 10, "two " + name: 1000})
		require.Equal(t, []string{name}, listed, name)
		require.Zero(t, value(t, f.metrics.unknown), name)
		if name == "1m" {
			continue // buckets that it overlaps count whole, so there is no half of it
		}
		// They are too few in the first half of the window.
		half := Window{Name: name, From: noon.Add(-5 * apart).Truncate(allGrains[grainOf(w.From, noon)].length), AsOf: noon}
		listed, _ = screen(e.filter(), half, 10, map[string]uint64{name: 100})
		require.Empty(t, listed, name)
	}
}

// Raw events of the window are gone: what is not known leaves nothing out.
func testPastNotKept(t *testing.T, e *engine) {
	noon := e.start(t)
	e.land(t, "old", noon.Add(-time.Second), 1000, 2)
	f := e.filter(func(c *Config) { c.KeepEvents = 48 * time.Hour })
	for views, want := range map[uint64][]string{1000: nil, 1007: nil, 1008: {"old"}} { // each of eight may have been another viewer
		for _, name := range []string{"30d", "all"} {
			f = e.filter(func(c *Config) { c.KeepEvents = 48 * time.Hour })
			listed, _ := screen(f, window(t, name, noon), 10, map[string]uint64{"old": views})
			require.Equal(t, want, listed, "%s %d", name, views)
			require.Equal(t, float64(len(want)), value(t, f.metrics.unknown))
		}
	}
	listed, _ := screen(f, window(t, "24h", noon), 10, map[string]uint64{"old": 2000})
	require.Empty(t, listed)
}

func testAfterwards(t *testing.T, e *engine) {
	noon := e.start(t)
	e.land(t, "rising", noon.Add(-time.Second), 50, 5)
	f := e.filter()
	views := map[string]uint64{"rising": 50}
	listed, _ := screen(f, window(t, "1m", noon), 10, views)
	require.Empty(t, listed)
	e.land(t, "rising", noon.Add(time.Second), 100, 10)
	e.Query(t, "TRUNCATE TABLE topk.events") // nobody looks there again
	require.Eventually(t, func() bool {
		listed, _ = screen(f, window(t, "1m", noon.Add(2*time.Second)), 10, views)
		return len(listed) == 1
	}, 20*time.Second, 100*time.Millisecond)
	for _, name := range []string{"5m", "24h"} {
		listed, _ = screen(f, window(t, name, noon.Add(2*time.Second)), 10, views)
		require.Equal(t, []string{"rising"}, listed, name)
	}
	// Two minutes later they have left the minute.
	listed, _ = screen(f, window(t, "1m", noon.Add(3*time.Minute)), 10, views)
	require.Empty(t, listed)
}

// A block that did not meet the set became visible after the past had been counted.
func testBlockOnItsWay(t *testing.T, e *engine) {
	noon := e.start(t)
	e.land(t, "a", noon.Add(-time.Second), 50, 5)
	f := e.filter()
	listed, _ := screen(f, window(t, "1m", noon), 10, map[string]uint64{"a": 50})
	require.Empty(t, listed)
	e.Query(t, "DETACH TABLE topk.viewers_minute_mv")
	e.land(t, "a", noon.Add(time.Second), 100, 10)
	e.Query(t, "ATTACH TABLE topk.viewers_minute_mv")
	k := f.watch.items[Item{"video", "a"}]
	k.at, k.few = time.Now().Add(-settle), nil
	listed, _ = screen(f, window(t, "1m", noon.Add(settle)), 10, map[string]uint64{"a": 150})
	require.Equal(t, []string{"a"}, listed)
}

func testReplay(t *testing.T, e *engine) {
	noon := e.start(t)
	f := e.filter()
	views := map[string]uint64{"two": 1000, "ten": 1000}
	screen(f, window(t, "1h", noon), 10, views)
	states := func() string {
		return e.Query(t, "SELECT item_id, minute, finalizeAggregation(uniqCombinedMergeState(12)(viewers)) FROM topk.viewers_minute GROUP BY item_id, minute ORDER BY ALL") +
			e.Query(t, "SELECT item_id, hour, finalizeAggregation(uniqCombinedMergeState(12)(viewers)) FROM topk.viewers_hour GROUP BY item_id, hour ORDER BY ALL")
	}
	var before string
	for range 3 {
		e.land(t, "two", noon.Add(-time.Second), 1000, 2)
		e.land(t, "ten", noon.Add(-time.Second), 1000, 10)
		if before == "" {
			before = states()
			require.Contains(t, before, "two\t")
		}
		require.Equal(t, before, states())
		listed, hidden := screen(e.filter(), window(t, "1h", noon), 10, views)
		require.Equal(t, []string{"ten"}, listed)
		require.Equal(t, 1, hidden)
		require.Equal(t, before, states(), "counting the past again changes nothing")
	}
}

func testCandidatesOnly(t *testing.T, e *engine) {
	noon := e.start(t)
	e.land(t, "a", noon.Add(-time.Second), 100, 10)
	require.Equal(t, "0", e.Query(t, "SELECT count() FROM topk.viewers_minute"), "nothing is watched")
	f := e.filter()
	screen(f, window(t, "1m", noon), 10, map[string]uint64{"a": 100, "too few views to matter": 9})
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, viewer)
		SELECT toString(number), if(number %% 2 = 0, 'video', 'hashtag'), if(number %% 1000 = 1, 'a', toString(number)), '%s', toString(number) FROM numbers(100000)`,
		noon.Format(time.DateTime)))
	require.Equal(t, "video\ta", e.Query(t, "SELECT DISTINCT item_type, item_id FROM topk.viewers_minute"))
	require.Equal(t, "video\ta", e.Query(t, "SELECT DISTINCT item_type, item_id FROM topk.viewers_hour"))
	require.Equal(t, "1", e.Query(t, "SELECT uniqExact(item_id) FROM topk.watched_items"))
}

// So many are left out that others are looked at, until the list is full.
func testOthersMoveUp(t *testing.T, e *engine) {
	noon := e.start(t)
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, viewer)
		SELECT toString(number), 'video', concat('i', leftPad(toString(number %% 100), 2, '0')), '%s', toString(intDiv(number, 100) %% if(number %% 100 < 60, 3, 12)) FROM numbers(2000)`,
		noon.Add(-time.Second).Format(time.DateTime)))
	views := map[string]uint64{}
	for n := range 100 {
		views[fmt.Sprintf("i%02d", n)] = uint64(1000 - n)
	}
	listed, hidden := screen(e.filter(), window(t, "5m", noon), 20, views)
	require.Len(t, listed, 20)
	require.Equal(t, "i60", listed[0])
	require.Equal(t, 60, hidden)
	listed, _ = screen(e.filter(), window(t, "5m", noon), 60, views)
	require.Len(t, listed, 40, "there are no more")
}

func testNewWorker(t *testing.T, e *engine) {
	noon := e.start(t)
	e.land(t, "a", noon.Add(-time.Second), 50, 5)
	e.land(t, "b", noon.Add(-time.Second), 50, 5)
	f := e.filter()
	views := map[string]uint64{"a": 50, "b": 50}
	for _, name := range []string{"1h", "24h"} {
		listed, _ := screen(f, window(t, name, noon), 10, views)
		require.Empty(t, listed)
	}
	settled(f, window(t, "1h", noon.Add(settle)), views)
	e.land(t, "a", noon.Add(time.Second), 60, 10) // no worker is there
	e.Query(t, "TRUNCATE TABLE topk.events")
	for range 2 { // the second takes over a version that was written whole
		f = e.filter()
		for _, name := range []string{"1h", "24h"} {
			listed, _ := screen(f, window(t, name, noon.Add(time.Minute)), 10, views)
			require.Equal(t, []string{"a"}, listed, name)
		}
		require.Zero(t, value(t, f.metrics.unknown))
	}
}

// A reader leaves out whom the worker would, as long as it has read what the worker watches, and writes nothing.
func testReader(t *testing.T, e *engine) {
	noon := e.start(t)
	for _, id := range []string{"a", "b", "unwatched"} {
		e.land(t, id, noon.Add(-time.Second), 50, 5)
	}
	views := map[string]uint64{"a": 50, "b": 49, "unwatched": 48, "too few": 9}
	reader := func(change ...func(*Config)) *Filter {
		f := e.filter(change...)
		return NewReader(e.conn, f.config, f.log, nil)
	}
	r := reader()
	listed, hidden := screen(r, window(t, "1h", noon), 10, views)
	require.Equal(t, []string{"a", "b", "unwatched"}, listed, "nothing is watched")
	require.Equal(t, 1, hidden, "of few views")

	f := e.filter()
	screen(f, window(t, "1h", noon), 10, map[string]uint64{"a": 50, "b": 50})
	listed, _ = screen(reader(), window(t, "1h", noon), 10, views)
	require.Equal(t, []string{"a", "b", "unwatched"}, listed, "a block may be on its way that has not met them")
	settled(f, window(t, "1h", noon.Add(settle)), map[string]uint64{"a": 50, "b": 50})
	written := func() string {
		return e.Query(t, "SELECT sum(rows) FROM system.parts WHERE database = 'topk' AND active AND table IN ('watched_items', 'viewers_minute', 'viewers_hour') GROUP BY table ORDER BY table")
	}
	before := written()
	r = reader()
	for _, name := range []string{"5m", "1h"} {
		listed, hidden = screen(r, window(t, name, noon), 10, views)
		require.Equal(t, []string{"unwatched"}, listed, name)
		require.Equal(t, 3, hidden, name)
	}
	listed, _ = screen(r, window(t, "24h", noon), 10, views)
	require.Equal(t, []string{"a", "b", "unwatched"}, listed, "the worker has not counted so far back")
	listed, _ = screen(reader(func(c *Config) { c.Min = 5 }), window(t, "1h", noon), 10, views)
	require.Equal(t, []string{"a", "b", "unwatched", "too few"}, listed)
	require.Equal(t, before, written())

	e.land(t, "b", noon.Add(time.Second), 60, 10)
	listed, _ = screen(reader(), window(t, "1h", noon.Add(time.Minute)), 10, views)
	require.Equal(t, []string{"b", "unwatched"}, listed)

	// Since it read that, somebody has begun a version without them, and viewers have gone by.
	for _, id := range []string{"a", "b"} {
		r.watch.items[Item{"video", id}].few = nil
	}
	e.Query(t, fmt.Sprintf("INSERT INTO topk.watched_items (version, item_type, item_id) VALUES (%d, 'video', 'z')", time.Now().Add(time.Hour).UnixMicro()))
	e.land(t, "a", noon.Add(2*time.Second), 60, 10)
	for range 2 { // the second time it has read that
		listed, _ = screen(r, window(t, "1h", noon.Add(time.Minute)), 10, views)
		require.Equal(t, []string{"a", "b", "unwatched"}, listed)
	}
}

// settled has the blocks counted that may have been on their way when items were watched.
func settled(f *Filter, w Window, views map[string]uint64) {
	for id := range views {
		k := f.watch.items[Item{"video", id}]
		k.at, k.few = time.Now().Add(-settle), nil
	}
	screen(f, w, 10, views)
}

// Another worker's version may lack items: nothing is taken for counted that may not have been.
func testSomebodyElse(t *testing.T, e *engine) {
	noon := e.start(t)
	e.land(t, "a", noon.Add(-time.Second), 50, 5)
	f, views := e.filter(), map[string]uint64{"a": 50}
	listed, _ := screen(f, window(t, "1h", noon), 10, views)
	require.Empty(t, listed)
	e.Query(t, fmt.Sprintf("INSERT INTO topk.watched_items (version, item_type, item_id) VALUES (%d, 'video', 'z')", time.Now().Add(time.Hour).UnixMicro()))
	e.land(t, "a", noon.Add(time.Second), 60, 10) // goes by
	f.watch.checked = time.Time{}
	f.watch.items[Item{"video", "a"}].few = nil
	listed, _ = screen(f, window(t, "1h", noon.Add(time.Minute)), 10, views)
	require.Equal(t, []string{"a"}, listed)
	require.Equal(t, "a", e.Query(t, "SELECT DISTINCT item_id FROM topk.watched_items WHERE version = (SELECT max(version) FROM topk.watched_items)"))
}

func testBoundedSet(t *testing.T, e *engine) {
	noon := e.start(t)
	f := e.filter()
	newest := func() string {
		return e.Query(t, "SELECT uniqExact(item_id) FROM topk.watched_items WHERE version = (SELECT max(version) FROM topk.watched_items)")
	}
	ids := func(prefix string, n int) []Item {
		items := make([]Item, n)
		for i := range items {
			items[i] = Item{"video", fmt.Sprint(prefix, i)}
		}
		return items
	}
	require.NoError(t, f.watch.ready(t.Context()))
	require.NoError(t, f.watch.add(t.Context(), ids("a", maxWatched-1), noon))
	require.Equal(t, fmt.Sprint(maxWatched-1), newest())
	f.watch.items[Item{"video", "a7"}].wanted = time.Now().Add(time.Second)
	require.NoError(t, f.watch.add(t.Context(), ids("b", 2), noon))
	require.Equal(t, fmt.Sprint(keptWatched+2), newest())
	require.Equal(t, keptWatched+2, f.watch.size())
	require.Contains(t, f.watch.items, Item{"video", "a7"}, "those wanted last stay")
	require.NoError(t, f.watch.add(t.Context(), ids("c", maxWatched), noon))
	require.LessOrEqual(t, f.watch.size(), maxWatched)

	for _, k := range f.watch.items {
		k.wanted = time.Now().Add(-wantedFor)
	}
	f.watch.items[Item{"video", "c0"}].wanted = time.Now()
	f.watch.begun, f.watch.checked = time.Now().Add(-renewEvery), time.Time{}
	require.NoError(t, f.watch.ready(t.Context()))
	require.Equal(t, "1", newest())
}

// Flagged events have no viewers, and those without a viewer have one together.
func testNotCounted(t *testing.T, e *engine) {
	noon := e.start(t)
	for _, after := range []bool{false, true} {
		insert := func() {
			e.Query(t, fmt.Sprintf(`INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, viewer, flags)
				SELECT toString(number), 'video', if(number %% 2 = 0, 'flagged', 'nobody'), '%s', if(number %% 2 = 0, toString(number), ''), if(number %% 2 = 0, ['bot'], []) FROM numbers(100)`,
				noon.Add(-time.Second).Format(time.DateTime)))
		}
		f := e.filter(func(c *Config) { c.Min = 2 })
		if after {
			screen(f, window(t, "1m", noon), 10, map[string]uint64{"flagged": 50, "nobody": 50})
		}
		insert()
		listed, _ := screen(f, window(t, "5m", noon), 10, map[string]uint64{"flagged": 50, "nobody": 50})
		require.Empty(t, listed)
		require.Equal(t, "nobody\t1", e.Query(t, "SELECT item_id, uniqCombinedMerge(12)(viewers) FROM topk.viewers_minute GROUP BY item_id"))
	}
}

func testStrangeIDs(t *testing.T, e *engine) {
	noon := e.start(t)
	views := map[string]uint64{}
	for _, id := range []string{`it's`, `back\slash`, "фильм", " ", "a\u200bb"} {
		e.land(t, id, noon.Add(-time.Second), 20, 10)
		e.land(t, id+"2", noon.Add(-time.Second), 20, 2)
		views[id], views[id+"2"] = 20, 20
	}
	listed, hidden := screen(e.filter(), window(t, "1m", noon), 100, views)
	require.Equal(t, 5, hidden)
	for _, id := range listed {
		require.Contains(t, views, id+"2")
	}
}

// Lists are made while viewers cannot be counted. Who was left out stays so.
func testAway(t *testing.T, e *engine) {
	noon := e.start(t)
	e.land(t, "two", noon.Add(-time.Second), 100, 2)
	f := e.filter(func(c *Config) { c.Budget = time.Second })
	views := map[string]uint64{"two": 100, "new": 90}
	listed, _ := screen(f, window(t, "1m", noon), 10, map[string]uint64{"two": 100})
	require.Empty(t, listed)
	e.Kill()
	f.watch.mu.Lock()
	f.watch.items[Item{"video", "two"}].few["1m"] = time.Now().Add(-2 * again)
	f.watch.mu.Unlock()
	listed, hidden := screen(f, window(t, "1m", noon.Add(time.Second)), 10, views)
	require.Equal(t, []string{"new"}, listed)
	require.Equal(t, 1, hidden)
	require.Positive(t, value(t, f.metrics.failures))
	e.Start(t)
	e.land(t, "new", noon, 90, 3)
	require.Eventually(t, func() bool {
		listed, _ := screen(f, window(t, "1m", noon.Add(time.Second)), 10, views)
		return len(listed) == 0
	}, 20*time.Second, 100*time.Millisecond)
}
