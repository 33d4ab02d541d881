package slices

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/truth"
)

const recordings = "../../test/testdata/"

// in says whether a recorded event is in a slice.
func in(s truth.Slice) func(truth.Event) bool {
	return func(e truth.Event) bool {
		return s.Dimension == "country" && e.Country == s.Value || s.Dimension == "category" && e.Category == s.Value
	}
}

// landRecorded brings recorded events as counts.
func (e *engine) landRecorded(t *testing.T, events []truth.Event) {
	t.Helper()
	views := make([]view, len(events))
	for i, v := range events {
		views[i] = view{"item", v.Item, v.Country, v.Category, v.Language, v.Time.Truncate(time.Second), 1}
	}
	e.land(t, 1, views...)
}

// recordedTop is the list of a slice, as far as it is compared. It must be certified.
func recordedTop(t *testing.T, b *Builder, w list.Window, until time.Time, u Union, k int) []truth.Item {
	t.Helper()
	made, err := b.Build(context.Background(), w, until, map[string][]Union{"item": {u}}, list.StoredItems)
	require.NoError(t, err)
	l := made.Lists[0]
	require.True(t, l.CertifiedTo(k), "%s of %s at %s", u.Name, w.Name, until)
	var items []truth.Item
	for _, item := range l.Items[:min(k, len(l.Items))] {
		items = append(items, truth.Item{ID: item.ItemID, Count: int(item.Count)})
	}
	return items
}

func compareTop(t *testing.T, want, got []truth.Item, what string, a ...any) {
	t.Helper()
	require.Empty(t, truth.Difference(want[:min(len(want), len(got))], got), what, a)
	require.True(t, len(got) == len(want) || len(got) >= 10, what, a)
}

// testRecordedDay: every slice of a recorded day, the whole of it and its busiest hour, equals the known answers; random windows equal what is
// counted by brute force. The day is recounted from raw events.
func testRecordedDay(t *testing.T, e *engine) {
	events, err := truth.ReadEvents(recordings + "nasa_http/events.csv.gz")
	require.NoError(t, err)
	known, err := truth.ReadSlices(recordings + "nasa_http/truth_slices_top10.csv")
	require.NoError(t, err)
	e.landRecorded(t, events)
	e.landEvents(t, e.views...)
	day, end := events[0].Time.Truncate(24*time.Hour), events[0].Time
	for _, v := range events {
		if v.Time.After(end) {
			end = v.Time
		}
	}
	end = end.Truncate(time.Hour).Add(time.Hour)
	recountAll(t, e.recounter(), end)
	c := config()
	f, b := NewFiller(e.conn, c), NewBuilder(e.conn, c)
	for at := day; at.Before(end); at = at.Add(time.Hour) {
		_, err = f.Fill(context.Background(), at, at.Add(time.Hour))
		require.NoError(t, err)
	}
	for n := 1; n > 0; {
		n, err = f.FillClosed(context.Background(), end)
		require.NoError(t, err)
	}
	byHour := map[time.Time]int{}
	for _, v := range events {
		byHour[v.Time.Truncate(time.Hour)]++
	}
	busiest := day
	for hour, n := range byHour {
		if n > byHour[busiest] {
			busiest = hour
		}
	}
	r := rand.New(rand.NewPCG(13, 14))
	require.Len(t, known, 10)
	for _, s := range known {
		u := one(s.Dimension + "=" + s.Value)[0]
		of := truth.Where(events, in(s))
		compareTop(t, s.Top, recordedTop(t, b, window(t, "all"), end, u, 10), "all of %s", u.Name)
		want := truth.Top(truth.In(of, busiest, busiest.Add(time.Hour)))
		compareTop(t, want, recordedTop(t, b, window(t, "1h"), busiest.Add(time.Hour), u, 10), "busiest hour of %s", u.Name)
		for range 3 {
			w := list.Live[r.IntN(len(list.Live))]
			until := day.Add(time.Duration(60+r.IntN(int(end.Sub(day)/time.Minute)-60)) * time.Minute)
			want := truth.Top(truth.In(of, until.Add(-w.Length), until))
			compareTop(t, want, recordedTop(t, b, w, until, u, 50), "%s of %s at %s", u.Name, w.Name, until)
		}
	}
}

// testRecordedYear: every country of a recorded year equals the known answers; windows of days and hours of it equal what is counted by brute
// force. Its days are entered as they were counted: that they are counted rightly is recount's business.
func testRecordedYear(t *testing.T, e *engine) {
	events, err := truth.ReadEvents(recordings + "online_retail/events.csv.gz")
	require.NoError(t, err)
	known, err := truth.ReadSlices(recordings + "online_retail/truth_slices_top10.csv")
	require.NoError(t, err)
	const day = 24 * time.Hour
	first, last := events[0].Time.Truncate(day), events[0].Time.Truncate(day)
	days := map[time.Time]map[[2]string]uint64{} // views by item and country
	for _, v := range events {
		at := v.Time.Truncate(day)
		if days[at] == nil {
			days[at] = map[[2]string]uint64{}
		}
		days[at][[2]string{v.Item, v.Country}]++
		if at.After(last) {
			last = at
		}
		if at.Before(first) {
			first = at
		}
	}
	end := last.Add(day)
	for at := first; at.Before(end); at = at.Add(day) {
		batch, err := e.conn.PrepareBatch(context.Background(), `INSERT INTO topk.counts_daily (item_type, item_id, day, version, country, n)`)
		require.NoError(t, err)
		for key, n := range days[at] {
			require.NoError(t, batch.Append("item", key[0], at, uint64(1), key[1], n))
		}
		require.NoError(t, batch.Send())
	}
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.recounts_daily (day, version, sealed) SELECT toDateTime(%d, 'UTC') + 86400 * number, 1, 1 FROM numbers(%d)`,
		first.Unix(), int(end.Sub(first)/day)))
	c := config()
	f, b := NewFiller(e.conn, c), NewBuilder(e.conn, c)
	for n := 1; n > 0; {
		n, err = f.FillClosed(context.Background(), end)
		require.NoError(t, err)
	}
	r := rand.New(rand.NewPCG(15, 16))
	require.NotEmpty(t, known)
	for _, s := range known {
		u := one("country=" + s.Value)[0]
		compareTop(t, s.Top, recordedTop(t, b, window(t, "all"), end, u, 10), "all of %s", u.Name)
		of := truth.Where(events, in(s))
		w := []list.Window{window(t, "24h"), window(t, "7d"), window(t, "30d")}[r.IntN(3)]
		until := first.Add(time.Duration(31+r.IntN(300)) * day)
		for n := 1; n > 0; {
			n, err = f.FillClosed(context.Background(), until)
			require.NoError(t, err)
		}
		want := truth.Top(truth.In(of, until.Add(-w.Length), until))
		compareTop(t, want, recordedTop(t, b, w, until, u, 50), "%s of %s at %s", u.Name, w.Name, until)
	}
	// The busiest hour of all, as it lands.
	byHour := map[time.Time]int{}
	for _, v := range events {
		byHour[v.Time.Truncate(time.Hour)]++
	}
	busiest := first
	for hour, n := range byHour {
		if n > byHour[busiest] {
			busiest = hour
		}
	}
	e.landRecorded(t, truth.In(events, busiest, busiest.Add(time.Hour)))
	e.landEvents(t, e.views...)
	_, err = f.Fill(context.Background(), busiest, busiest.Add(time.Hour))
	require.NoError(t, err)
	for _, s := range known {
		of := truth.Where(events, in(s))
		want := truth.Top(truth.In(of, busiest, busiest.Add(time.Hour)))
		compareTop(t, want, recordedTop(t, b, window(t, "1h"), busiest.Add(time.Hour), one("country=" + s.Value)[0], 10), "busiest hour of %s", s.Value)
	}
}
