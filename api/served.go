package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"topk/internal/list"
)

// maxPagesPerList bounds the answers kept ready for one version of a list: each differs in k or staleness. Clients of one
// installation ask for a handful of k; beyond the bound an answer is put together for each request and not compressed.
const maxPagesPerList = 64

// served is one version of a list, ready to be written out. It is made once, by the follower or on demand, and read by every request.
type served struct {
	list         *list.List
	precomputed  bool   // published, and not made on demand
	staleAt      int64  // Unix nanoseconds from which the list is stale; 0 is never
	cacheControl string // of its answers
	maxPages     int
	asks         *asks // when it was asked for; nil where nobody wants to know

	items []byte // the JSON of all items, separated by commas
	ends  []int  // ends[i] is where item i ends in items

	mu        sync.Mutex // held while a page is made
	pages     atomic.Pointer[map[pageKey]*page]
	pageBytes atomic.Int64 // of the pages that are kept
}

// pageKey says what an answer is cut to. It has no gaps, so that it is hashed as a whole: looking one up is most of what a request costs.
type pageKey struct {
	cut   uint64 // k, and whether the list is stale
	least uint64
}

func newPageKey(k int, least uint64, stale bool) pageKey {
	key := pageKey{cut: uint64(k) << 1, least: least}
	if stale {
		key.cut |= 1
	}
	return key
}

func (p pageKey) k() int      { return int(p.cut >> 1) }
func (p pageKey) stale() bool { return p.cut&1 == 1 }

// newServed prepares a published list. The list must not change afterwards.
func newServed(l *list.List, fresh freshness) (*served, error) {
	s := &served{list: l, precomputed: true, staleAt: fresh.staleAt(l, l.PublishedAt), cacheControl: cacheControl(l.Window), maxPages: maxPagesPerList}
	if l.Slice != list.GlobalSlice {
		s.asks = &asks{}
	}
	return s, s.encode()
}

// encode makes the JSON of the items, which all answers share.
func (s *served) encode() error {
	l := s.list
	for i := range l.Items {
		if i > 0 {
			s.items = append(s.items, ',')
		}
		item, err := marshal(&l.Items[i])
		if err != nil {
			return fmt.Errorf("encode item %d: %w", i+1, err)
		}
		s.items = append(s.items, item...)
		s.ends = append(s.ends, len(s.items))
	}
	s.pages.Store(&map[pageKey]*page{})
	return nil
}

// itemBytes is what an item takes beside its texts.
const itemBytes = int(unsafe.Sizeof(list.Item{}) + unsafe.Sizeof(int(0)))

// size is about what the list takes in memory, with the answers that are kept ready.
func (s *served) size() int {
	return 2*len(s.items) + itemBytes*len(s.ends) + len(s.list.Slice) + int(s.pageBytes.Load())
}

// stale says whether the list's successor is overdue.
func (s *served) stale(now time.Time) bool {
	return s.list.Stale || (s.staleAt != 0 && now.UnixNano() >= s.staleAt)
}

// page returns the answer for k positions of least views at the least.
func (s *served) page(k int, least uint64, stale bool) (*page, error) {
	key := newPageKey(k, least, stale)
	if ready, ok := (*s.pages.Load())[key]; ok {
		return ready, nil
	}
	if len(*s.pages.Load()) >= s.maxPages {
		return s.render(key, false)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := *s.pages.Load()
	if ready, ok := old[key]; ok {
		return ready, nil
	}
	made, err := s.render(key, true)
	if err != nil || len(old) >= s.maxPages {
		return made, err
	}
	pages := maps.Clone(old)
	pages[key] = made
	s.pages.Store(&pages)
	s.pageBytes.Add(int64(made.size()))
	return made, nil
}

// emptyItems is how the JSON of a list without items ends.
var emptyItems = []byte(`[]}`)

// render puts an answer together: the JSON of the list without items, then the first k of the items made before.
func (s *served) render(key pageKey, compress bool) (*page, error) {
	cut := s.list.CutAt(key.k(), key.least)
	kept := len(cut.Items)
	cut.Items = []list.Item{}
	cut.Stale = key.stale()
	cut.Precomputed = &s.precomputed
	head, err := marshal(cut)
	if err != nil {
		return nil, fmt.Errorf("encode list: %w", err)
	}
	head, ok := bytes.CutSuffix(head, emptyItems)
	if !ok {
		return nil, fmt.Errorf("encode list: items are not the last field")
	}
	end := 0
	if kept > 0 {
		end = s.ends[kept-1]
	}
	body := make([]byte, 0, len(head)+end+len(emptyItems))
	body = append(body, head...)
	body = append(body, '[')
	body = append(body, s.items[:end]...)
	body = append(body, ']', '}')
	return newPage(body, s.tag(key), s.cacheControl, compress)
}

// tag names the body: a version never changes, and the time of publishing tells apart databases that were made anew and
// count versions from 1 again, and lists that were made on demand, which have no version.
func (s *served) tag(key pageKey) string {
	tag := strconv.FormatInt(s.list.Version, 10) + "." + strconv.FormatInt(s.list.PublishedAt.UnixMicro(), 36) + "." +
		strconv.Itoa(key.k())
	if key.least != defaultMinCount {
		tag += "." + strconv.FormatUint(key.least, 10) + "up"
	}
	if key.stale() {
		tag += ".stale"
	}
	return tag
}

// marshal is json.Marshal without the escapes that only matter inside HTML.
func marshal(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
