package ingestor

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/wire"
)

// TestCombinerIsAMap compares the combiner with a Go map on random streams, over resets.
func TestCombinerIsAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := combiner{seed: maphash.MakeSeed()}
	for round := range 20 {
		want := map[string]uint64{}
		items := 1 + rng.IntN(1<<(round%14))
		for range 5000 {
			e := wire.Event{
				ItemType: []byte("video"), ItemID: fmt.Append(nil, rng.IntN(items)),
				Country: [][]byte{nil, []byte("IN"), []byte("GB")}[rng.IntN(3)], Language: []byte("hi"),
			}
			second := uint32(1764547200 + rng.IntN(3))
			key := string(wire.AppendCountKey(nil, &e, second))
			require.Equal(t, want[key] == 0, c.add(&e, second))
			want[key]++
		}
		got := map[string]uint64{}
		for i := range c.entries {
			got[string(c.key(&c.entries[i]))] = c.entries[i].n
		}
		require.Equal(t, want, got)
		c.reset()
		require.Empty(t, c.entries)
	}
}

// TestKeysDoNotRunTogether: fields that concatenate to the same bytes are different keys.
func TestKeysDoNotRunTogether(t *testing.T) {
	c := combiner{seed: maphash.MakeSeed()}
	for _, fields := range [][3]string{{"ab", "", ""}, {"a", "b", ""}, {"a", "", "b"}, {"", "ab", ""}} {
		require.True(t, c.add(&wire.Event{ItemID: []byte(fields[0]), Category: []byte(fields[1]), Language: []byte(fields[2])}, 1))
	}
}
