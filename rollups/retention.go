package rollups

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// maxDrops bounds the partitions dropped of a table in one round; a long absence is caught up over many.
const maxDrops = 24

// kept says how long the rows of a table live, by event time. Recorded data may be decades old, so no clock has a say.
type kept struct {
	table string
	life  time.Duration
}

func (c Config) keeps() []kept {
	return []kept{
		{"counts_second", c.KeepCounts}, {"counts_minute", c.KeepCounts}, {"landed", c.KeepCounts},
		{"event_identities", c.KeepCounts}, {"topk_10s", c.KeepCounts},
		{"topk_10s_combined", c.KeepCounts}, {"cms_minute", c.KeepCounts}, {"topk_minute", c.KeepSketches}, {"cms_hour", c.KeepEvents}, {"events", c.KeepEvents},
	}
}

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
