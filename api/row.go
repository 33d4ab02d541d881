package api

import (
	"encoding/json"
	"fmt"
	"time"

	"topk/internal/list"
)

// currentRow is a row of current_lists.sql and current_list.sql.
type currentRow struct {
	key         list.Key
	version     int64
	publishedAt *time.Time // null when the body was not asked for
	body        []byte
}

// targets are where the columns go, in order.
func (r *currentRow) targets() []any {
	return []any{&r.key.ItemType, &r.key.Window, &r.key.Slice, &r.version, &r.publishedAt, &r.body}
}

// list decodes the body. The table's own columns win over what the body says.
func (r *currentRow) list() (*list.List, error) {
	var l list.List
	if err := json.Unmarshal(r.body, &l); err != nil {
		return nil, fmt.Errorf("decode list: %w", err)
	}
	if len(l.Items) > list.StoredItems {
		return nil, fmt.Errorf("decode list: %d items are more than %d", len(l.Items), list.StoredItems)
	}
	l.ItemType, l.Window, l.Slice = r.key.ItemType, r.key.Window, r.key.Slice
	l.Version = r.version
	l.From, l.AsOf = l.From.UTC(), l.AsOf.UTC()
	if r.publishedAt != nil {
		l.PublishedAt = r.publishedAt.UTC()
	}
	if l.ExactUntil != nil {
		utc := l.ExactUntil.UTC()
		l.ExactUntil = &utc
	}
	if l.Partial == nil {
		l.Partial = []string{} // a list in the contract, never null
	}
	if l.Items == nil {
		l.Items = []list.Item{}
	}
	return &l, nil
}
