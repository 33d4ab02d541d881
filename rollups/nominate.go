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
	// shallow items of a block's summary are usually enough to certify a list of any length, at half the cost.
	shallow = 2000
	// whole is more than a summary holds.
	whole = 1 << 20
	// deepBuilds read summaries whole after a list that could not be certified to its end.
	deepBuilds = 60
)

// depth is how many items of each summary this build reads.
func (b *Builder) depth() int {
	if b.deep > 0 {
		b.deep--
		return whole
	}
	return shallow
}

// nominee is an item that may be among the most viewed.
type nominee struct {
	id    string
	upper uint64 // no more views than this in a little more than the window, replays included
	lower uint64 // counted in buckets wholly inside the window, replays included
}

// nomination holds the candidates of one item type.
type nomination struct {
	items  []nominee
	unseen uint64   // no item that is not among them has more views than this
	next   []string // the best of the others: they may be candidates soon
	once   bool     // it is known that no view is in the lower counts twice
}

// nominate returns candidates by item type. A type without views in the window has none.
func (b *Builder) nominate(ctx context.Context, q question) (map[string]*nomination, error) {
	buckets := span{q.from.Add(bucketLength - 1).Truncate(bucketLength), q.asOf.Truncate(bucketLength)}
	landed := q.landed.within(buckets)
	named := map[string]*nomination{}
	p := parameters{"slice": list.GlobalSlice, "types": q.types, "from": q.from, "as_of": q.asOf, "most": nominees + followers + 1, "minutes": q.combined.minutes, "tens": q.combined.tens, "depth": b.depth()}
	err := read(ctx, b.conn, "nominate", p, questionBudget, func(r driver.Rows) error {
		var itemType, id string
		var over, lower uint64
		if err := r.Scan(&itemType, &id, &over, &lower); err != nil {
			return err
		}
		if id == "" { // floors and views come first of a type
			named[itemType] = &nomination{unseen: over, once: lower <= landed[itemType]}
			return nil
		}
		n := named[itemType]
		n.items = append(n.items, nominee{id: id, upper: over + n.unseen, lower: lower})
		return nil
	})
	for _, n := range named {
		n.choose()
	}
	return named, err
}

// choose keeps those that may be in the list, of items that come with the greatest upper bound first. Where nothing was replayed, as
// many as a list stores have been viewed some number of times: who cannot reach that is not looked at, but stays next in line.
func (n *nomination) choose() {
	lowers := make([]uint64, len(n.items))
	for i, item := range n.items {
		lowers[i] = item.lower
	}
	slices.SortFunc(lowers, func(a, b uint64) int { return cmp.Compare(b, a) })
	kept := min(len(n.items), nominees)
	if kept > list.StoredItems && n.once {
		enough := lowers[list.StoredItems-1]
		kept, _ = slices.BinarySearchFunc(n.items[:kept], enough, func(item nominee, enough uint64) int {
			if item.upper >= enough {
				return -1
			}
			return 1
		})
	}
	if kept == len(n.items) {
		return
	}
	n.unseen = n.items[kept].upper // the best of those left out
	for _, item := range n.items[kept:min(len(n.items), kept+followers)] {
		n.next = append(n.next, item.id)
	}
	n.items = n.items[:kept]
}

// part of a window is answered by summaries of a grain.
type part struct {
	grain
	span span
}

// names are of combined summaries.
type names struct{ minutes, tens []uint64 }

// combined names summaries that share nothing: minutes wholly inside the window, and at its ends tens of seconds, of which one may
// begin before it. The last whole minute is an end as well: it may not have been combined yet.
func (b *Builder) combined(ctx context.Context, w list.Window, s span) (named names, err error) {
	parts := []part{{tensGrain, span{s.from.Add(time.Second - tensGrain.length), s.until}}}
	if w.Length >= minutesPay {
		whole := span{s.from.Add(time.Minute - 1).Truncate(time.Minute), s.until.Truncate(time.Minute)}
		first, last := parts[0].span, parts[0].span
		first.until, last.from = whole.from, whole.until.Add(-time.Minute)
		parts = []part{{minuteGrain, whole}, {tensGrain, first}, {tensGrain, last}}
	}
	var all []combination
	for _, p := range parts {
		found, err := combinations(ctx, b.conn, p.table, p.span)
		if err != nil {
			return named, err
		}
		all = append(all, found...)
	}
	for _, c := range disjoint(all) {
		if c.table == minuteGrain.table {
			named.minutes = append(named.minutes, c.block)
		} else {
			named.tens = append(named.tens, c.block)
		}
	}
	return named, nil
}

// maxChunkBytes bounds the candidates of one question: parameters travel in the URL, where servers accept a megabyte, and
// escapes may triple them.
const maxChunkBytes = 200 << 10

// chunks calls ask with the candidates of all types, a bounded part at a time, as two arrays of equal length. It calls it
// at least once.
func chunks(q question, named map[string]*nomination, ask func(types, ids []string) error) error {
	var all []item
	for _, itemType := range q.types {
		if n := named[itemType]; n != nil {
			for _, candidate := range n.items {
				all = append(all, item{itemType, candidate.id})
			}
		}
	}
	return chunksOf(all, ask)
}

// chunksOf never divides the items of one id: types and ids are two sets in a question, and an id that two types share would be
// answered twice.
func chunksOf(all []item, ask func(types, ids []string) error) error {
	slices.SortFunc(all, func(a, b item) int { return cmp.Compare(a.id, b.id) })
	var types, ids []string
	size := 0
	for n, i := range all {
		bytes := len(i.itemType) + len(i.id) + 8
		if size += bytes; size > maxChunkBytes && i.id != all[n-1].id {
			if err := ask(types, ids); err != nil {
				return err
			}
			types, ids, size = nil, nil, bytes
		}
		types, ids = append(types, i.itemType), append(ids, i.id)
	}
	return ask(types, ids)
}
