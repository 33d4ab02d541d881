package rollups

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

const (
	// maxSummaryItems bounds what is remembered of summaries, some fifty bytes each. Where a window has more, with many busy item
	// types, ClickHouse adds them up at every build.
	maxSummaryItems = 1 << 20
	// maxBlocksAsked bounds the names in one question.
	maxBlocksAsked = 2000
)

// summaries remembers the rows of topk_10s that overlap a sliding window, added up. Rows never change, so a build reads those
// that are new, and takes out those that the window has left: the same sums as those of sql/nominate.sql.
type summaries struct {
	depth  int // items read of a row
	blocks map[uint64]*block
	sums   map[item]*sum
	floors map[string]uint64 // by item type
}

// block is a row of topk_10s.
type block struct {
	itemType string
	bucket   time.Time
	floor    uint64
	applied  uint64 // views of all items, replays included
	items    []summed
	inside   bool // its bucket was wholly inside the window: its lower counts are added
}

type summed struct {
	sum         *sum
	over, lower uint64
}

// sum is what the blocks say of an item: the floors are kept apart.
type sum struct {
	item
	over, lower uint64
	blocks      int
}

func newSummaries() *summaries {
	return &summaries{blocks: map[uint64]*block{}, sums: map[item]*sum{}, floors: map[string]uint64{}}
}

// slide makes the sums those of a window. fits is false, and nothing is remembered, where there is too much.
func (s *summaries) slide(ctx context.Context, conn driver.Conn, q question, depth int) (fits bool, err error) {
	if s.depth != depth {
		*s = *newSummaries()
		s.depth = depth
	}
	there, items, err := s.names(ctx, conn, q)
	if err != nil {
		return false, err
	}
	if items > maxSummaryItems {
		*s = *newSummaries()
		return false, nil
	}
	for name, b := range s.blocks {
		if !there[name] {
			s.take(b)
			delete(s.blocks, name)
		}
	}
	var missing []uint64
	for name := range there {
		if s.blocks[name] == nil {
			missing = append(missing, name)
		}
	}
	for names := range slices.Chunk(missing, maxBlocksAsked) {
		if err := s.read(ctx, conn, q, names); err != nil {
			*s = *newSummaries()
			return false, err
		}
	}
	for _, b := range s.blocks {
		b.move(!b.bucket.Before(q.from) && !b.bucket.Add(bucketLength).After(q.asOf))
	}
	return true, nil
}

// names are the rows that overlap the window, and how many items they hold down to the depth.
func (s *summaries) names(ctx context.Context, conn driver.Conn, q question) (there map[uint64]bool, items int, err error) {
	there = map[uint64]bool{}
	p := parameters{"slice": list.GlobalSlice, "types": q.types, "from": q.from, "as_of": q.asOf}
	err = read(ctx, conn, "blocks", p, questionBudget, func(r driver.Rows) error {
		var name, length uint64
		if err := r.Scan(&name, &length); err != nil {
			return err
		}
		there[name] = true
		items += min(int(length), s.depth)
		return nil
	})
	return there, items, err
}

func (s *summaries) read(ctx context.Context, conn driver.Conn, q question, names []uint64) error {
	p := parameters{"slice": list.GlobalSlice, "types": q.types, "from": q.from, "as_of": q.asOf, "depth": s.depth, "blocks": names}
	return read(ctx, conn, "summaries", p, questionBudget, func(r driver.Rows) error {
		b := &block{}
		var name uint64
		var ids []string
		var counts, errs []uint64
		if err := r.Scan(&name, &b.itemType, &b.bucket, &b.floor, &b.applied, &ids, &counts, &errs); err != nil {
			return err
		}
		s.floors[b.itemType] += b.floor
		b.items = make([]summed, len(ids))
		for n, id := range ids {
			i := item{b.itemType, id}
			at := s.sums[i]
			if at == nil {
				at = &sum{item: i}
				s.sums[i] = at
			}
			at.blocks++
			at.over += counts[n] - b.floor
			b.items[n] = summed{at, counts[n] - b.floor, counts[n] - errs[n]}
		}
		s.blocks[name] = b
		return nil
	})
}

// take removes what a block has added.
func (s *summaries) take(b *block) {
	b.move(false)
	if s.floors[b.itemType] -= b.floor; s.floors[b.itemType] == 0 {
		delete(s.floors, b.itemType)
	}
	for _, i := range b.items {
		i.sum.over -= i.over
		if i.sum.blocks--; i.sum.blocks == 0 {
			delete(s.sums, i.sum.item)
		}
	}
}

// move says whether a block's bucket is wholly inside the window.
func (b *block) move(inside bool) {
	if b.inside == inside {
		return
	}
	b.inside = inside
	for _, i := range b.items {
		if inside {
			i.sum.lower += i.lower
		} else {
			i.sum.lower -= i.lower
		}
	}
}

// nominations are the best items of each type that has a block, greatest upper bound first.
func (s *summaries) nominations(q question, most int) map[string]*nomination {
	named := map[string]*nomination{}
	applied := map[string]uint64{}
	for _, b := range s.blocks {
		if named[b.itemType] == nil {
			named[b.itemType] = &nomination{unseen: s.floors[b.itemType]}
		}
		if b.inside {
			applied[b.itemType] += b.applied
		}
	}
	landed := q.landed.within(span{q.from.Add(bucketLength - 1).Truncate(bucketLength), q.asOf.Truncate(bucketLength)})
	for itemType, n := range named {
		n.once = applied[itemType] <= landed[itemType]
	}
	for i, at := range s.sums {
		n := named[i.itemType]
		n.items = append(n.items, nominee{id: i.id, upper: at.over + n.unseen, lower: at.lower})
	}
	for _, n := range named {
		slices.SortFunc(n.items, func(a, b nominee) int {
			return cmp.Or(cmp.Compare(b.upper, a.upper), cmp.Compare(a.id, b.id))
		})
		n.items = n.items[:min(len(n.items), most)]
	}
	return named
}
