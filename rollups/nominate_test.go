package rollups

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

func TestOnlyWhoMayBeListedIsCandidate(t *testing.T) {
	many := func(n int) *nomination {
		nomination := &nomination{unseen: 7, once: true}
		for i := range n {
			upper := uint64(1_000_000 - 100*i)
			nomination.items = append(nomination.items, nominee{id: fmt.Sprint(i), upper: upper, lower: upper - 1_000})
		}
		return nomination
	}
	few := many(list.StoredItems)
	few.choose()
	require.Len(t, few.items, list.StoredItems, "all fit into the list")
	require.Equal(t, uint64(7), few.unseen)

	n := many(nominees + followers)
	n.choose()
	// The last that fits into a list has been counted 1,000 less than its upper bound, which ten more reach.
	require.Len(t, n.items, list.StoredItems+10)
	require.Len(t, n.next, followers)
	require.Equal(t, fmt.Sprint(len(n.items)), n.next[0])
	require.Equal(t, n.items[len(n.items)-1].upper-100, n.unseen, "nobody outside has more")

	n = many(nominees + followers)
	n.once = false
	n.choose()
	require.Len(t, n.items, nominees)
	require.Len(t, n.next, followers)
	require.Equal(t, uint64(1_000_000-100*nominees), n.unseen)
}

// An id may be a candidate of two types, and both come in one question: each answers for all of its types.
func TestAnIDIsAskedForOnce(t *testing.T) {
	var all []item
	for _, itemType := range []string{"a", "b", "c"} {
		for i := range 20_000 {
			all = append(all, item{itemType, fmt.Sprintf("item-%d", i)})
		}
	}
	asked := map[string]int{} // id -> question
	questions, pairs := 0, 0
	require.NoError(t, chunksOf(all, func(types, ids []string) error {
		size := 0
		for n, id := range ids {
			size += len(id) + len(types[n]) + 8
			before, ok := asked[id]
			require.True(t, !ok || before == questions, id)
			asked[id] = questions
		}
		require.Less(t, size, maxChunkBytes+1_000)
		questions, pairs = questions+1, pairs+len(ids)
		return nil
	}))
	require.Equal(t, len(all), pairs)
	require.Greater(t, questions, 3)
}
