package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLRUHoldsWhatWasUsedLast(t *testing.T) {
	c := newLRU[string, int](3, 100)
	c.put("a", 1, 10)
	c.put("b", 2, 10)
	c.put("c", 3, 10)
	require.Equal(t, 1, c.get("a"))
	c.put("d", 4, 10) // b was used least lately
	require.Zero(t, c.get("b"))
	require.Equal(t, 1, c.get("a"))
	c.put("a", 5, 90) // c goes, and d fits
	entries, bytes := c.size()
	require.Equal(t, 2, entries)
	require.Equal(t, 100, bytes)
	require.Equal(t, 4, c.get("d"))
	c.resize("a", 1, 1000) // that value was replaced
	require.Equal(t, 5, c.get("a"))
	c.resize("d", 4, 11) // d is used less lately than a, and goes
	require.Zero(t, c.get("d"))
	c.put("huge", 1, 101)
	entries, bytes = c.size()
	require.Zero(t, entries, "what does not fit by itself is not held")
	require.Zero(t, bytes)
	c.put("a", 1, 1)
	c.drop("a")
	c.drop("a")
	require.Zero(t, c.get("a"))
}
