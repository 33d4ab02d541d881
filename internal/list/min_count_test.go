package list

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCutAtLeavesOutWhatHasFewerViews(t *testing.T) {
	l := counted(9, 5, 5, 1)
	l.ItemType, l.Floor = "video", 1
	for _, c := range []struct {
		k         int
		least     uint64
		items     int
		other     uint64
		certified bool
	}{
		{10, 1, 4, 10, false}, {10, 2, 3, 11, true}, {10, 5, 3, 11, true}, {10, 6, 1, 21, true}, {10, 9, 1, 21, true}, {10, 10, 0, 30, true},
		{1, 5, 1, 21, true}, {2, 5, 2, 16, true}, {3, 5, 3, 11, true}, {1000, 1 << 63, 0, 30, true},
	} {
		cut := l.CutAt(c.k, c.least)
		require.Len(t, cut.Items, c.items, c)
		require.Equal(t, c.other, cut.Other, c)
		require.Equal(t, c.certified, cut.Certified, c)
		require.Equal(t, c.items == 0, cut.Reason != "", c)
		if c.least == 1 {
			require.Equal(t, l.Cut(c.k), cut)
		}
	}
	require.Equal(t, uint64(9), l.CutAt(10, 10).Floor, "no last position says it")
	require.Len(t, l.Items, 4)
	require.Empty(t, l.Reason)
	require.Empty(t, (&List{}).CutAt(5, 3).Items)
}

// A short list is certified only if it is proven which items have so many views.
func TestCutAtCertifiesOnlyWhatIsProven(t *testing.T) {
	l := counted(9, 5, 3)
	require.True(t, l.CutAt(10, 4).Certified)
	l.Floor = 4
	require.False(t, l.CutAt(10, 4).Certified, "another item may have 4")
	require.True(t, l.CutAt(10, 5).Certified)
	l.Items[1].Lower = 4
	require.False(t, l.CutAt(10, 5).Certified, "the second may have less")
	l.Items[1].Lower, l.Items[2].Upper = 5, 5
	require.False(t, l.CutAt(10, 5).Certified, "the third may have more")
}
