package rollups

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/rollups/recount"
	"topk/rollups/store"
)

// Whatever the order and however often events arrive, up to 40 hours late, the final lists are the same. A bug that is planted in an old
// hour and corrected by a recount leaves no trace, and a list that is made while hours are recounted is never a mixture.
func TestLongWindowsInAnyOrder(t *testing.T) {
	h := newHistory(t, 50, 400, 1500, 0.9)
	h.events = slices.DeleteFunc(h.events, func(v event) bool { return v.at.Hour()%5 != 0 }) // each hour takes its time
	inOrder := h.events
	end, after := h.start.Add(50*time.Hour), h.start.Add(51*time.Hour)
	r := rand.New(rand.NewPCG(3, 3))
	shuffled := slices.Clone(inOrder)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	var late []event
	punctual := slices.DeleteFunc(slices.Clone(inOrder), func(v event) bool {
		isLate := v.at.After(end.Add(-40*time.Hour)) && r.IntN(20) == 0
		if isLate {
			late = append(late, v)
		}
		return isLate
	})
	var want []string
	for _, order := range []struct {
		name   string
		events []event
	}{
		{"in order", inOrder}, {"shuffled", shuffled}, {"late", slices.Concat(punctual, late)}, {"twice", slices.Concat(inOrder, shuffled)},
	} {
		h.clear(t)
		for part := range slices.Chunk(order.events, len(order.events)/3+1) {
			h.store(t, part)
			h.recount(t, after)
		}
		got := finals(t, h.newLong(), end)
		if want == nil {
			want = got
			h.events, h.stored = inOrder, len(inOrder)
			h.build(t, end) // against the truth
		}
		require.Equal(t, want, got, order.name)
	}

	hour := h.start.Add(15 * time.Hour)
	require.NoError(t, h.enter(t.Context(), hour, 2_000_000_000_000_000, "'item-1', 5000"))
	require.NotEqual(t, want, finals(t, h.newLong(), end), "the bug is in every list")
	_, err := h.exact.Recount(t.Context(), recount.Range{From: hour, Until: hour.Add(time.Hour)})
	require.NoError(t, err)
	require.Equal(t, want, finals(t, h.newLong(), end), "and gone")
	h.recount(t, after)
	require.Equal(t, want, finals(t, h.newLong(), end))

	h.neverAMixture(t, hour, end)
}

// neverAMixture makes lists while an hour alternates between two versions of what was viewed in it.
func (h *history) neverAMixture(t *testing.T, hour, end time.Time) {
	t.Helper()
	versions := [][]string{{"'this', 7000", "'that', 100"}, {"'this', 100", "'that', 7000"}}
	const first = 3_000_000_000_000_000
	require.NoError(t, h.enter(t.Context(), hour, first, versions[0]...))
	ctx, stop := context.WithCancel(t.Context())
	entered := 0
	ended := make(chan error)
	go func() {
		var err error
		for ; ctx.Err() == nil && err == nil; entered++ {
			err = h.enter(t.Context(), hour, first+1+entered, versions[(1+entered)%2]...)
		}
		ended <- err
	}()
	seen := map[string]int{}
	for range 25 {
		lists, err := h.newLong().Build(t.Context(), end)
		require.NoError(t, err)
		for _, l := range lists {
			if l.Window == "24h" {
				continue // the hour is not in it
			}
			found := map[string]uint64{}
			for _, item := range l.Items {
				found[item.ItemID] = item.Count
			}
			require.EqualValues(t, 7100, found["this"]+found["that"], "%s", l.Window)
			require.True(t, found["this"] == 7000 || found["that"] == 7000, "%s", l.Window)
			seen[fmt.Sprint(found["this"])]++
		}
	}
	stop()
	require.NoError(t, <-ended)
	require.Greater(t, entered, 25, "versions came and went")
	require.Len(t, seen, 2, "both were seen")
}

// enter replaces the counts of an hour by hand. It notes fewer events than views, so raw events prove it wrong.
func (h *history) enter(ctx context.Context, hour time.Time, version int, rows ...string) error {
	at := fmt.Sprintf("toDateTime('%s', 'UTC')", hour.Format(time.DateTime))
	for _, row := range rows {
		counts := fmt.Sprintf("INSERT INTO topk.counts_hourly (item_type, hour, version, item_id, n) SELECT 'video', %s, %d, %s", at, version, row)
		if err := h.conn.Exec(ctx, counts); err != nil {
			return err
		}
	}
	ledger := fmt.Sprintf("INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) SELECT %s, %d, 1, 7100, 2, 'by hand'", at, version)
	return h.conn.Exec(ctx, ledger)
}

// finals are lists when nothing is open, without what says how they came about.
func finals(t *testing.T, long *Long, asOf time.Time) (all []string) {
	t.Helper()
	lists, err := long.Build(t.Context(), asOf)
	require.NoError(t, err)
	for _, l := range lists {
		require.Equal(t, list.MethodExact, l.Method)
		require.Empty(t, l.Partial)
		l.Revised = false
		encoded, err := store.Encode(l)
		require.NoError(t, err)
		all = append(all, string(encoded))
	}
	return all
}

// store brings events of hours that are over.
func (h *history) store(t *testing.T, events []event) {
	t.Helper()
	batch, err := h.conn.PrepareBatch(t.Context(), `INSERT INTO topk.events (event_id, item_type, item_id, event_time)`)
	require.NoError(t, err)
	for _, v := range events {
		require.NoError(t, batch.Append(v.eventID, v.itemType, v.id, v.at))
	}
	require.NoError(t, batch.Send())
}

// clear empties every table.
func (h *history) clear(t *testing.T) {
	t.Helper()
	for table := range strings.FieldsSeq(h.Query(t, "SELECT DISTINCT table FROM system.parts WHERE database = 'topk' AND active AND table NOT LIKE '%schema%'")) {
		h.Query(t, "TRUNCATE TABLE topk."+table)
	}
	h.begin()
}
