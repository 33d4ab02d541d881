package ingestor

import (
	"bytes"
	"hash/maphash"

	"topk/internal/wire"
)

// combiner adds up views per (item, dimensions, second). It is an open-addressing table over an arena: a key is stored
// once, as the very bytes of its columns on Kafka, so that emitting a row is a copy and adding a view to a known key
// allocates nothing. The hash is seeded by the process: nobody outside can choose ids that collide.
type combiner struct {
	seed    maphash.Seed
	slots   []uint64 // upper half: upper half of the hash; lower half: index of the entry + 1, 0 when free
	entries []combined
	arena   []byte
}

type combined struct {
	n            uint64
	hash         uint64
	start, bytes uint32 // of the key, in the arena
}

// What an entry takes besides its key: itself, and two slots, since the table is at most half full.
const combinedBytes = 24 + 2*8

const minSlots = 64

// add counts one view and reports whether it made a new row.
func (c *combiner) add(e *wire.Event, second uint32) bool {
	if 2*len(c.entries) >= len(c.slots) {
		c.grow()
	}
	start := len(c.arena)
	c.arena = wire.AppendCountKey(c.arena, e, second)
	key := c.arena[start:]
	hash := maphash.Bytes(c.seed, key)
	mask := uint64(len(c.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := c.slots[i]
		if slot == 0 {
			c.entries = append(c.entries, combined{n: 1, hash: hash, start: uint32(start), bytes: uint32(len(key))})
			c.slots[i] = hash&^0xffffffff | uint64(len(c.entries))
			return true
		}
		if slot>>32 != hash>>32 {
			continue
		}
		entry := &c.entries[uint32(slot)-1]
		if bytes.Equal(c.key(entry), key) {
			entry.n++
			c.arena = c.arena[:start]
			return false
		}
	}
}

func (c *combiner) key(e *combined) []byte { return c.arena[e.start : e.start+e.bytes] }

func (c *combiner) grow() {
	c.slots = make([]uint64, max(minSlots, 2*len(c.slots)))
	mask := uint64(len(c.slots) - 1)
	for n := range c.entries {
		hash := c.entries[n].hash
		i := hash & mask
		for c.slots[i] != 0 {
			i = (i + 1) & mask
		}
		c.slots[i] = hash&^0xffffffff | uint64(n+1)
	}
}

// reset empties the table and keeps its memory, unless that is several times what was used: traffic moves between
// partitions, and the sum over them must stay bounded.
func (c *combiner) reset() {
	if len(c.slots) > minSlots && len(c.slots) > 8*len(c.entries) {
		c.slots = nil
	} else {
		clear(c.slots)
	}
	c.entries = emptied(c.entries)
	c.arena = emptied(c.arena)
}

// emptied is a slice of length 0 over the same memory, or none when little of it was used.
func emptied[T any](s []T) []T {
	if cap(s) > 4096 && cap(s) > 4*len(s) {
		return nil
	}
	return s[:0]
}
