package api

import (
	stdlist "container/list"
	"sync"
)

// lru holds what was used last, within a number of entries and of bytes. It is safe for concurrent use.
type lru[K, V comparable] struct {
	maxEntries, maxBytes int

	mu      sync.Mutex
	order   *stdlist.List // of *lruEntry, used last first
	entries map[K]*stdlist.Element
	bytes   int
}

type lruEntry[K, V comparable] struct {
	key   K
	value V
	bytes int
}

func newLRU[K, V comparable](maxEntries, maxBytes int) *lru[K, V] {
	return &lru[K, V]{maxEntries: maxEntries, maxBytes: maxBytes, order: stdlist.New(), entries: map[K]*stdlist.Element{}}
}

// get returns what is held of a key, or the zero value, and marks it as used.
func (c *lru[K, V]) get(key K) (value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.order.MoveToFront(e)
		value = entryOf[K, V](e).value
	}
	return value
}

// put holds a value in the place of what was held of its key, and lets go of others when all are too many or too large.
func (c *lru[K, V]) put(key K, value V, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
	c.entries[key] = c.order.PushFront(&lruEntry[K, V]{key: key, value: value, bytes: bytes})
	c.bytes += bytes
	c.shrink()
}

// resize says how large a value is now. One that is not held any more is passed over.
func (c *lru[K, V]) resize(key K, value V, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil && entryOf[K, V](e).value == value {
		c.bytes += bytes - entryOf[K, V](e).bytes
		entryOf[K, V](e).bytes = bytes
		c.shrink()
	}
}

func (c *lru[K, V]) drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// size returns how many entries are held, and their bytes.
func (c *lru[K, V]) size() (entries, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries), c.bytes
}

func (c *lru[K, V]) shrink() {
	for len(c.entries) > c.maxEntries || c.bytes > c.maxBytes {
		c.remove(entryOf[K, V](c.order.Back()).key)
	}
}

func (c *lru[K, V]) remove(key K) {
	if e := c.entries[key]; e != nil {
		c.bytes -= entryOf[K, V](e).bytes
		c.order.Remove(e)
		delete(c.entries, key)
	}
}

func entryOf[K, V comparable](e *stdlist.Element) *lruEntry[K, V] {
	entry, ok := e.Value.(*lruEntry[K, V])
	if !ok {
		panic("lru: an element is no entry") // nothing else is put in
	}
	return entry
}
