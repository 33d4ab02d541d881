package rollups

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"topk/internal/list"
	"topk/internal/wire"
)

// raceTime bounds how long lists are built while minutes are combined.
const raceTime = 8 * time.Second

// Two workers, as when the lock changes hands, combine the same minutes while lists are built: every list is whole. Then more
// arrives for the same minutes, and they are combined again.
func testCombiningWhileBuilding(t *testing.T, e *engines) {
	const minutes = 4
	end := time.Now().Add(raceTime)
	for rounds := 0; rounds < 1 || time.Now().Before(end); rounds++ {
		start := e.newDay()
		asOf := start.Add((minutes + 1) * time.Minute)
		truth := map[string]uint64{}
		for _, blocks := range []int{8, manyLoose} {
			var all []message
			for block := range blocks {
				var rows []count
				for n := block % 7; n < 300; n += 7 {
					id := fmt.Sprintf("item-%d", n)
					for minute := range minutes {
						rows = append(rows, views(id, uint64(1+n), start.Add(time.Duration(minute)*time.Minute+time.Duration(block)*time.Second))...)
						truth[id] += uint64(1 + n)
					}
				}
				all = append(all, e.message(rows...))
			}
			for _, m := range all {
				e.land(t, wire.CountsTopic, m)
			}
			e.raceToCombine(t, asOf, truth)
		}
	}
}

func (e *engines) raceToCombine(t *testing.T, asOf time.Time, truth map[string]uint64) {
	t.Helper()
	var group errgroup.Group
	var combined [2]int
	for worker := range combined {
		group.Go(func() error {
			for last := -1; combined[worker] > last; {
				last = combined[worker]
				for _, g := range grains {
					done, err := compact(t.Context(), e.conn, g, asOf)
					combined[worker] += done
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	over := make(chan error, 1)
	go func() { over <- group.Wait() }()
	exact, sketches := e.builder(), e.builder(func(c *BuilderConfig) { c.VerifyTimeout = time.Nanosecond })
	for last := false; ; {
		for _, b := range []*Builder{exact, sketches} {
			l := build(t, b, "1h", "video", asOf)
			require.Len(t, l.Items, len(truth))
			for _, item := range l.Items {
				require.LessOrEqual(t, item.Lower, truth[item.ItemID], "%s by %s", item.ItemID, l.Method)
				require.GreaterOrEqual(t, item.Upper, truth[item.ItemID], "%s by %s", item.ItemID, l.Method)
				if l.Method == list.MethodVerified {
					require.Equal(t, truth[item.ItemID], item.Count)
				}
			}
		}
		if last { // once more after all is combined
			require.Positive(t, combined[0]+combined[1])
			return
		}
		select {
		case err := <-over:
			require.NoError(t, err)
			last = true
		default:
		}
	}
}

// Of combinations that share a row, that of most views counts, whoever wrote them and in whatever order they are read.
func TestCombinationsThatShareARowCountOnce(t *testing.T) {
	old := combination{block: 1, absorbed: []uint64{10, 11}, applied: 5}
	first := combination{block: 3, absorbed: []uint64{10, 11, 12}, applied: 9}
	second := combination{block: 2, absorbed: []uint64{10, 11, 12}, applied: 9}
	other := combination{block: 4, absorbed: []uint64{13}, applied: 1}
	for _, all := range [][]combination{{old, first, second, other}, {other, second, first, old}, {first, other, old, second}} {
		var names []uint64
		for _, c := range disjoint(all) {
			names = append(names, c.block)
		}
		require.Equal(t, []uint64{2, 4}, names)
	}
}
