package rollups

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

// nominee is an item that may be among the most viewed.
type nominee struct {
	id    string
	upper uint64 // no more views than this in a little more than the window, replays included
	lower uint64 // counted in buckets wholly inside the window, replays included
}

// nomination holds the candidates of one item type.
type nomination struct {
	items  []nominee
	unseen uint64 // no item that is not among them has more views than this
}

// nominate returns candidates by item type. A type without views in the window has none.
func (b *Builder) nominate(ctx context.Context, q question) (map[string]*nomination, error) {
	named := map[string]*nomination{}
	p := parameters{"slice": list.GlobalSlice, "types": q.types, "from": q.from, "as_of": q.asOf, "candidates": nominees}
	err := read(ctx, b.conn, "nominate", p, questionBudget, func(r driver.Rows) error {
		var itemType, id string
		var over, lower, floors uint64
		if err := r.Scan(&itemType, &id, &over, &lower, &floors); err != nil {
			return err
		}
		n := named[itemType]
		if n == nil {
			n = &nomination{unseen: floors}
			named[itemType] = n
		}
		if len(n.items) == nominees {
			n.unseen = over + floors // the best of those left out: rows come greatest first
			return nil
		}
		n.items = append(n.items, nominee{id: id, upper: over + floors, lower: lower})
		return nil
	})
	return named, err
}

// maxChunkBytes bounds the candidates of one question: parameters travel in the URL, where servers accept a megabyte, and
// escapes may triple them.
const maxChunkBytes = 200 << 10

// chunks calls ask with the candidates of all types, a bounded part at a time, as two arrays of equal length. It calls it
// at least once.
func chunks(q question, named map[string]*nomination, ask func(types, ids []string) error) error {
	var types, ids []string
	size := 0
	for _, itemType := range q.types {
		n := named[itemType]
		if n == nil {
			continue
		}
		for _, item := range n.items {
			if size += len(itemType) + len(item.id) + 8; size > maxChunkBytes {
				if err := ask(types, ids); err != nil {
					return err
				}
				types, ids, size = nil, nil, len(itemType)+len(item.id)+8
			}
			types, ids = append(types, itemType), append(ids, item.id)
		}
	}
	return ask(types, ids)
}
