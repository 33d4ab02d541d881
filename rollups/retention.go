package rollups

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// maxDrops bounds the partitions dropped of a table in one round; a long absence is caught up over many.
const maxDrops = 24

// dropEvery is how often partitions are looked at, by the clock or in event time: they are hours and days.
const dropEvery = time.Minute

// dropper drops the partitions that are too old.
type dropper struct {
	conn  driver.Conn
	keeps []kept
	asOf  time.Time // of the last look
	at    time.Time // when that was, on the wall clock
}

// drop looks again when it is time. It returns how many partitions it dropped; those that are left over go in the next look.
func (d *dropper) drop(ctx context.Context, asOf time.Time) (dropped int, err error) {
	if asOf.Sub(d.asOf) < dropEvery && time.Since(d.at) < dropEvery {
		return 0, nil
	}
	dropped, err = dropOld(ctx, d.conn, d.keeps, asOf)
	if err == nil && dropped == 0 {
		d.asOf, d.at = asOf, time.Now()
	}
	return dropped, err
}

// droppers of what waits for recounts and charts in different ways.
type droppers struct{ landed, events dropper }

func newDroppers(conn driver.Conn, c Config) *droppers {
	return &droppers{landed: dropper{conn: conn, keeps: c.keeps()}, events: dropper{conn: conn, keeps: c.keepsEvents()}}
}

// drop drops what is too old, seen from asOf or from what recounts and charts still need.
func (w *Worker) drop(ctx context.Context, d *droppers, asOf time.Time) error {
	landed, events := w.recounted.ages(asOf)
	dropped, err := d.landed.drop(ctx, landed)
	if err == nil {
		var more int
		more, err = d.events.drop(ctx, w.charted.eventsNotBefore(events, w.config.KeepEvents))
		dropped += more
	}
	w.metrics.drops.Add(float64(dropped))
	return err
}

// kept says how long the rows of a table live, by event time. Recorded data may be decades old, so no clock has a say.
type kept struct {
	table string
	life  time.Duration
}

func (c Config) keeps() []kept {
	return []kept{
		{"filled_minutes", c.KeepCounts}, {"slice_minutes", c.KeepCounts}, // before what they are made from, and the ledger first
		{"counts_second", c.KeepCounts}, {"counts_minute", c.KeepCounts}, {"landed", c.KeepCounts},
		{"event_identities", c.KeepCounts}, {"topk_10s", c.KeepCounts},
		{"topk_10s_combined", c.KeepCounts}, {"cms_minute", c.KeepCounts}, {"topk_minute", c.KeepSketches}, {"cms_hour", c.KeepEvents},
		{"viewers_minute", c.KeepCounts}, {"viewers_hour", c.Viewers.KeepHours()},
	}
}

func (c Config) keepsEvents() []kept { return []kept{{"events", c.KeepEvents}} }

// dropOld drops the partitions whose newest row is older than the table keeps, seen from asOf. It returns how many.
func dropOld(ctx context.Context, conn driver.Conn, keeps []kept, asOf time.Time) (dropped int, err error) {
	for _, k := range keeps {
		old, err := oldPartitions(ctx, conn, k.table, asOf.Add(-k.life))
		if err != nil {
			return dropped, err
		}
		for _, partition := range old[:min(len(old), maxDrops)] {
			p := parameters{"table": k.table, "partition": partition}
			if err := execute(ctx, conn, "drop_partition", p, questionBudget); err != nil {
				return dropped, err
			}
			dropped++
		}
	}
	return dropped, nil
}

func oldPartitions(ctx context.Context, conn driver.Conn, table string, before time.Time) ([]string, error) {
	var old []string
	err := read(ctx, conn, "parts", parameters{"table": table}, questionBudget, func(r driver.Rows) error {
		var id string
		var newest time.Time
		if err := r.Scan(&id, &newest); err != nil {
			return err
		}
		if newest.Unix() > 0 && newest.Before(before) {
			old = append(old, id)
		}
		return nil
	})
	return old, err
}
