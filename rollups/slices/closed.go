package slices

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
	"topk/rollups/recount"
)

const (
	// batchRows and batchParts bound what one statement groups of partitions of exact counts: small ones together, a large one by itself.
	batchRows, batchParts = 2_000_000, 100
	// partsBudget is when a round begins no further partitions. The first of all have a month to catch up.
	partsBudget = 20 * time.Second
	// partBudget bounds one statement about partitions: the total is the whole catalogue.
	partBudget = 5 * time.Minute
)

// closed is the part of a window that has been counted exactly.
type closed struct {
	cover        *recount.Cover
	parts, taken []recount.Part    // of it; those that are taken away are in both
	left         map[string]uint64 // by item type: what a slice without a row in any of them has at most
	leftTaken    map[string]uint64 // the same of those that are taken away
}

// name adds the partitions to the parameters of a question.
func (c *closed) name(p parameters) {
	names := partNames(c.parts)
	taken := make([]string, len(c.parts))
	for i := len(c.parts) - len(c.taken); i < len(c.parts); i++ {
		taken[i] = c.parts[i].Grain
	}
	p["parts"], p["buckets"], p["part_versions"], p["taken"] = names["parts"], names["buckets"], names["versions"], taken
}

// close finds out what is known of the closed part, and where the window is open.
func (b *Builder) close(ctx context.Context, m *moment, cover *recount.Cover) error {
	m.closed = closed{cover: cover, left: map[string]uint64{}, leftTaken: map[string]uint64{}}
	m.open = m.closed.cover.Until
	if m.until.Sub(m.open) > Reach {
		if err := b.reach(ctx, m); err != nil {
			return err
		}
	}
	if m.from.Unix() <= 0 {
		if m.from = m.closed.cover.First; m.from.IsZero() {
			m.from = m.open
		}
	}
	var added []recount.Part
	added, m.closed.taken = m.closed.cover.Parts()
	m.closed.parts = slices.Concat(added, m.closed.taken)
	known, err := readParts(ctx, b.conn, b.config, m.closed.parts)
	if err != nil {
		return err
	}
	for n, p := range m.closed.parts {
		left, ok := known[p]
		if !ok {
			return fmt.Errorf("%s %s: %w", p.Grain, time.Unix(p.Bucket, 0).UTC().Format(time.RFC3339), ErrNotFilled)
		}
		into := m.closed.left
		if n >= len(added) {
			into = m.closed.leftTaken
		}
		for itemType, views := range left {
			into[itemType] += views
		}
	}
	return nil
}

// reach moves the open part up to the first hour that anything is kept of: nothing came before it, as long as nothing has been dropped.
// Minutes further back than Reach are not filled.
func (b *Builder) reach(ctx context.Context, m *moment) error {
	var landed, raw time.Time
	err := b.config.read(ctx, b.conn, "first_kept", nil, func(rows driver.Rows) error { return rows.Scan(&landed, &raw) })
	if err != nil {
		return err
	}
	first := m.until
	for _, kept := range []time.Time{landed, raw} {
		if kept.Unix() > 0 && kept.Before(first) {
			first = kept.UTC().Truncate(time.Hour)
		}
	}
	if first.After(m.open) && m.closed.cover.Empty() {
		m.open = first
	}
	if m.until.Sub(m.open) > Reach {
		return fmt.Errorf("hours are recounted up to %s only, minutes since: %w", m.open.Format(time.RFC3339), ErrNotFilled)
	}
	return nil
}

// readParts returns, of the partitions that have been filled, what a slice without a row has at most, by item type.
func readParts(ctx context.Context, conn driver.Conn, c Config, parts []recount.Part) (map[recount.Part]map[string]uint64, error) {
	left, filled := map[recount.Part]map[string]uint64{}, map[recount.Part]map[string]uint64{}
	if len(parts) == 0 {
		return filled, nil
	}
	p := partNames(parts)
	p["dimensions"] = c.dimensions()
	err := c.read(ctx, conn, "parts", p, func(rows driver.Rows) error {
		var part recount.Part
		var bucket time.Time
		var itemType string
		var floor uint64
		if err := rows.Scan(&part.Grain, &bucket, &part.Version, &itemType, &floor); err != nil {
			return err
		}
		part.Bucket = bucket.Unix()
		if left[part] == nil {
			left[part] = map[string]uint64{}
		}
		if itemType == "" {
			filled[part] = left[part]
		} else {
			left[part][itemType] = floor
		}
		return nil
	})
	return filled, err
}

// partNames are names of partitions as parameters.
func partNames(parts []recount.Part) parameters {
	grains, buckets, versions := make([]string, len(parts)), make([]time.Time, len(parts)), make([]uint64, len(parts))
	for i, part := range parts {
		grains[i], buckets[i], versions[i] = part.Grain, time.Unix(part.Bucket, 0).UTC(), part.Version
	}
	return parameters{"parts": grains, "buckets": buckets, "versions": versions}
}

// FillClosed fills the partitions of exact counts that the long windows and the scores which end at until are made of, as far as time allows:
// those of the shortest window first. It returns how many it filled.
func (f *Filler) FillClosed(ctx context.Context, until time.Time) (filled int, err error) {
	began := time.Now()
	var froms []time.Time
	for _, w := range list.Long {
		froms = append(froms, w.From(until))
	}
	covers, err := recount.ReadCovers(ctx, f.conn, froms, until.Truncate(time.Hour))
	if err != nil {
		return 0, err
	}
	hours, err := recount.ReadHours(ctx, f.conn, until.Add(-list.TrendReach).Truncate(time.Hour), until.Truncate(time.Hour))
	if err != nil {
		return 0, err
	}
	var parts []recount.Part
	seen := map[recount.Part]bool{}
	for _, c := range append(covers, hours) { // those of scores last
		added, taken := c.Parts()
		for _, p := range slices.Concat(added, taken) {
			if !seen[p] && !f.closed[p] {
				parts = append(parts, p)
			}
			seen[p] = true
		}
	}
	known, err := readParts(ctx, f.conn, f.config, parts)
	if err != nil {
		return 0, err
	}
	for p := range f.closed {
		if !seen[p] {
			delete(f.closed, p)
		}
	}
	var missing []recount.Part
	for _, p := range parts {
		if _, ok := known[p]; ok {
			f.closed[p] = true
		} else {
			missing = append(missing, p)
		}
	}
	sized, err := f.sizes(ctx, missing)
	if err != nil {
		return 0, err
	}
	for _, batch := range sized {
		if filled > 0 && time.Since(began) > partsBudget {
			break
		}
		if err := f.fillParts(ctx, batch); err != nil {
			return filled, fmt.Errorf("fill slices of %s %s: %w", batch[0].Grain, time.Unix(batch[0].Bucket, 0).UTC().Format(time.DateTime), err)
		}
		filled += len(batch)
	}
	return filled, nil
}

// sizes cuts partitions into batches that one statement can group.
func (f *Filler) sizes(ctx context.Context, parts []recount.Part) (batched [][]recount.Part, err error) {
	if len(parts) == 0 {
		return nil, nil
	}
	sizes := map[recount.Part]uint64{}
	err = questions.Read(ctx, f.conn, "part_rows", recount.CoverOf(parts).Parameters(), partBudget, func(rows driver.Rows) error {
		var part recount.Part
		var bucket time.Time
		var n uint64
		if err := rows.Scan(&part.Grain, &bucket, &part.Version, &n); err != nil {
			return err
		}
		part.Bucket = bucket.Unix()
		sizes[part] = n
		return nil
	})
	var size uint64 // of the last batch
	for _, p := range parts {
		if last := len(batched) - 1; last >= 0 && size+sizes[p] <= batchRows && len(batched[last]) < batchParts {
			batched[last], size = append(batched[last], p), size+sizes[p]
			continue
		}
		batched, size = append(batched, []recount.Part{p}), sizes[p]
	}
	return batched, err
}

// fillParts writes the slices of some partitions, and then enters that they are there. Doing it twice changes nothing.
func (f *Filler) fillParts(ctx context.Context, parts []recount.Part) error {
	p := recount.CoverOf(parts).Parameters()
	p["keep"], p["slices"], p["most"] = f.config.Items, f.config.Slices, list.MaxMadeTypes
	types := []string{}
	err := questions.Read(ctx, f.conn, "part_types", p, partBudget, func(rows driver.Rows) error {
		var itemType string
		err := rows.Scan(&itemType)
		types = append(types, itemType)
		return err
	})
	if err != nil {
		return err
	}
	p["types"] = types
	for _, d := range f.config.Kept.Dimensions() {
		p["dimensions"] = uint8(d)
		if err := questions.Execute(ctx, f.conn, "fill_parts", p, partBudget); err != nil {
			return err
		}
	}
	if len(types) == list.MaxMadeTypes {
		if err := questions.Execute(ctx, f.conn, "enter_other_types", p, partBudget); err != nil {
			return err
		}
	}
	names := partNames(parts)
	names["slices"], names["dimensions"] = f.config.Slices, f.config.dimensions()
	for _, enter := range []string{"enter_left_out", "enter_parts"} {
		if err := f.config.execute(ctx, f.conn, enter, names); err != nil {
			return err
		}
	}
	for _, part := range parts {
		f.closed[part] = true
	}
	return nil
}
