package rollups

import (
	"context"
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
}

// nominate returns candidates by item type. A type without views in the window has none.
func (b *Builder) nominate(ctx context.Context, q question) (map[string]*nomination, error) {
	minutes, err := b.combinedMinutes(ctx, q)
	if err != nil {
		return nil, err
	}
	named := map[string]*nomination{}
	floors := uint64(0) // of the type whose rows are being read
	p := parameters{"slice": list.GlobalSlice, "types": q.types, "from": q.from, "as_of": q.asOf, "candidates": nominees + followers, "minutes": minutes, "depth": b.depth()}
	err = read(ctx, b.conn, "nominate", p, questionBudget, func(r driver.Rows) error {
		var itemType, id string
		var over, lower uint64
		if err := r.Scan(&itemType, &id, &over, &lower); err != nil {
			return err
		}
		if id == "" { // comes first of its type
			floors = over
			named[itemType] = &nomination{unseen: floors}
			return nil
		}
		n := named[itemType]
		if len(n.items) == nominees {
			if len(n.next) == 0 {
				n.unseen = over + floors // the best of those left out: rows come greatest first
			}
			n.next = append(n.next, id)
			return nil
		}
		n.items = append(n.items, nominee{id: id, upper: over + floors, lower: lower})
		return nil
	})
	return named, err
}

// combinedMinutes are the names of combined minutes wholly inside the window that share nothing.
func (b *Builder) combinedMinutes(ctx context.Context, q question) ([]uint64, error) {
	whole := span{q.from.Add(time.Minute - 1).Truncate(time.Minute), q.asOf.Truncate(time.Minute)}
	if q.window.Length < minutesPay {
		return nil, nil
	}
	combined, err := combinations(ctx, b.conn, "topk_minute", whole)
	names := make([]uint64, 0, len(combined))
	for _, c := range combined {
		names = append(names, c.block)
	}
	return names, err
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

func chunksOf(all []item, ask func(types, ids []string) error) error {
	var types, ids []string
	size := 0
	for _, i := range all {
		bytes := len(i.itemType) + len(i.id) + 8
		if size += bytes; size > maxChunkBytes {
			if err := ask(types, ids); err != nil {
				return err
			}
			types, ids, size = nil, nil, bytes
		}
		types, ids = append(types, i.itemType), append(ids, i.id)
	}
	return ask(types, ids)
}
