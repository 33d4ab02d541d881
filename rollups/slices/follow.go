package slices

import (
	"context"
	"fmt"
	"time"

	"topk/internal/slice"
)

const (
	// followedOf bounds the items that are followed of a union in one window, and maxFollowed about all of them: the busiest slices, which come first,
	// have 75,000 and fewer.
	followedOf  = 300
	maxFollowed = 200_000
)

// Follow has the items that may be in lists counted in every minute that is filled from now on, in each slice that a list is of.
func (f *Filler) Follow(ctx context.Context, made ...*Made) error {
	type followed struct{ itemType, member, id string }
	all := map[followed]bool{}
	for _, m := range made {
		for key, named := range m.named {
			for _, id := range named[:min(len(named), followedOf)] {
				if len(all) >= maxFollowed {
					break
				}
				for _, member := range m.members[key.Union] {
					all[followed{key.ItemType, member, id}] = true
				}
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, f.config.Budget)
	defer cancel()
	batch, err := f.conn.PrepareBatch(ctx, "INSERT INTO topk.slice_followed (version, dimensions, item_type, country, category, language, item_id)")
	if err != nil {
		return fmt.Errorf("follow items of slices: %w", err)
	}
	version := uint64(time.Now().UnixMicro())
	for v := range all {
		s, err := slice.Parse(v.member)
		if err != nil {
			continue // rows written by hand may hold what no event can, and nobody can ask for
		}
		if err := batch.Append(version, uint8(s.Dimensions()), v.itemType, first(s.Country), first(s.Category), first(s.Language), v.id); err != nil {
			return fmt.Errorf("follow items of slices: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("follow items of slices: %w", err)
	}
	return nil
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
