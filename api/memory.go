package api

import (
	"maps"
	"slices"
	"sync/atomic"

	"topk/internal/list"
)

// memory holds the served lists. Readers take a snapshot, which never changes; the one writer is the follower.
type memory struct {
	current atomic.Pointer[snapshot]
}

// snapshot is every served list at one moment.
type snapshot struct {
	lists map[list.Key]*served
	types []string // item types that have a list, in order
}

// knows says whether an item type has a list.
func (s *snapshot) knows(itemType string) bool {
	_, found := slices.BinarySearch(s.types, itemType)
	return found
}

// load returns the newest snapshot, or nil before the first one.
func (m *memory) load() *snapshot {
	return m.current.Load()
}

// replace makes lists the served ones. The caller gives the map away.
func (m *memory) replace(lists map[list.Key]*served) {
	seen := make(map[string]bool)
	old := m.load()
	for key, s := range lists {
		seen[key.ItemType] = true
		// What is not served yet takes over when its last version was asked for.
		if old != nil && old.lists[key] != nil && old.lists[key] != s {
			s.asks = old.lists[key].asks
		}
	}
	m.current.Store(&snapshot{lists: lists, types: slices.Sorted(maps.Keys(seen))})
}

// put serves one more list, or another version of one.
func (m *memory) put(s *served) {
	lists := m.copied()
	lists[s.list.Key()] = s
	m.replace(lists)
}

// remove serves a list no longer.
func (m *memory) remove(key list.Key) {
	lists := m.copied()
	delete(lists, key)
	m.replace(lists)
}

// copied is a map of the served lists that may be changed.
func (m *memory) copied() map[list.Key]*served {
	lists := make(map[list.Key]*served)
	if old := m.load(); old != nil {
		maps.Copy(lists, old.lists)
	}
	return lists
}
