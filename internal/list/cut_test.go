package list

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func counted(counts ...uint64) *List {
	l := &List{Total: 10}
	for i, n := range counts {
		l.Items = append(l.Items, Item{Position: i + 1, Count: n, Lower: n, Upper: n})
		l.Total += n
	}
	return l
}

func TestCutCountsTheRestAsOther(t *testing.T) {
	l := counted(9, 5, 5, 1)
	for k, other := range map[int]uint64{1: 21, 2: 16, 3: 11, 4: 10, 5: 10, 1000: 10} {
		cut := l.Cut(k)
		require.Len(t, cut.Items, min(k, 4))
		require.Equal(t, other, cut.Other, "k=%d", k)
		require.Equal(t, l.CertifiedTo(k), cut.Certified, "k=%d", k)
	}
	require.Len(t, l.Items, 4)
	require.Zero(t, l.Other)
}

// Counts are upper bounds: together they can exceed the total, and what is left is then nothing, never a wrapped number.
func TestCutNeverWrapsOther(t *testing.T) {
	l := counted(9, 5)
	l.Total = 10
	require.Zero(t, l.Cut(2).Other)
	require.Equal(t, uint64(1), l.Cut(1).Other)
}

func TestCutCannotGrowIntoTheList(t *testing.T) {
	l := counted(9, 5, 1)
	cut := l.Cut(1)
	cut.Items = append(cut.Items, Item{ItemID: "other"})
	require.Empty(t, l.Items[1].ItemID)
}

func TestParseWindow(t *testing.T) {
	for _, w := range Windows {
		got, err := ParseWindow(w.Name)
		require.NoError(t, err)
		require.Equal(t, w, got)
		require.Equal(t, w.Name == "all", w.Length == 0)
		require.Positive(t, w.Every)
	}
	for name, text := range map[string]string{
		"": `window "" is not one of 1m, 5m, 1h, 24h, 7d, 30d, all`, "1w": "is not one of", "60m": "is not one of", "1M": "is not one of", "\x00": `"\x00"`,
	} {
		_, err := ParseWindow(name)
		require.ErrorContains(t, err, text)
	}
	day, err := ParseWindow("1d")
	require.NoError(t, err)
	require.Equal(t, "24h", day.Name)
	_, err = ParseWindow(DefaultWindow)
	require.NoError(t, err)
}

func TestWindowsBegin(t *testing.T) {
	asOf := time.Date(2026, 3, 1, 10, 37, 12, 0, time.UTC)
	for name, from := range map[string]string{
		"1m": "2026-03-01T10:36:12Z", "1h": "2026-03-01T09:37:12Z", "24h": "2026-02-28T10:00:00Z", "7d": "2026-02-22T00:00:00Z",
		"30d": "2026-01-30T00:00:00Z", "all": "1970-01-01T00:00:00Z",
	} {
		w, err := ParseWindow(name)
		require.NoError(t, err)
		require.Equal(t, from, w.From(asOf).Format(time.RFC3339), name)
	}
}
