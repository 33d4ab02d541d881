package ingestor

import "hash/maphash"

// rememberedIDs bounds what conflicts takes: 16 bytes each, half a megabyte, which stays in a core's cache. Four times as many
// cost three times the time (bench/ingestor.md). A client that uses an id for several items does so again and again, in one
// batch or the next, so a short memory is enough to see it.
const rememberedIDs = 1 << 15

// conflicts notices an id that comes again with another item or hour. By contract that is another event, so both count;
// clients that number their events wrongly are seen by it.
//
// Each id has one place and takes it from whatever was there, so memory and time are constant and a conflict is never made
// up: of the ids, 64 bits of a hash are compared. Two events with m other ids between them are noticed with probability
// e^(-m / rememberedIDs), and only when they come to the same ingestor.
type conflicts struct {
	seed   maphash.Seed // nobody outside can choose ids that meet in a place
	places []sighting
}

// sighting is an id and what it was last seen with, as hashes.
type sighting struct{ id, identity uint64 }

func newConflicts() *conflicts {
	return &conflicts{seed: maphash.MakeSeed(), places: make([]sighting, rememberedIDs)}
}

const millisPerHour = 3_600_000

// see remembers an event whose time is final and reports whether its id was last seen with another item or hour.
func (c *conflicts) see(e *parsedEvent) bool {
	const odd = 0x9e3779b97f4a7c15 // spreads the hour over all bits
	now := sighting{id: maphash.Bytes(c.seed, e.ID), identity: e.hash ^ uint64(e.Millis/millisPerHour)*odd}
	place := &c.places[now.id%uint64(len(c.places))]
	before := *place
	*place = now
	return before.id == now.id && before.identity != now.identity
}
