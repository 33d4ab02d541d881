package recount

import (
	"context"
	"fmt"
	"time"

	"topk/internal/clickhouse"
)

// tidy seals days whose hours are older than is kept, merges what counts, and drops what nobody reads any more.
func (r *Recounter) tidy(ctx context.Context, l *ledger, closed time.Time, report *Report) error {
	until, entered := closed.Add(-r.config.KeepHours).Truncate(day), l.now.Add(-r.config.SealAfter)
	if l.seals(until, entered) {
		err := r.run(ctx, "seal_days", clickhouse.Parameters{"until": until, "entered": entered.UnixMilli()}, askBudget)
		if err == nil {
			l, err = readLedger(ctx, r.conn)
		}
		if err != nil {
			return fmt.Errorf("seal days: %w", err)
		}
	}
	if err := r.tellSealed(ctx); err != nil {
		return err
	}
	parts, err := readPartitions(ctx, r.conn)
	if err != nil {
		return err
	}
	if err := r.merge(ctx, l.unmerged(parts), report); err != nil {
		return err
	}
	return r.drop(ctx, l.unused(parts, r.config.KeepVersions, r.config.KeepUnentered), report)
}

// merge puts what counts into one part a partition, whoever wrote it: it is read many times a minute, and FINAL then costs
// nothing.
func (r *Recounter) merge(ctx context.Context, unmerged []partition, report *Report) error {
	for _, u := range unmerged[:min(len(unmerged), maxMerges)] {
		if err := r.run(ctx, "merge_partition", u.parameters(), r.config.Budget); err != nil {
			return err
		}
	}
	report.More = report.More || len(unmerged) > maxMerges
	return nil
}

func (r *Recounter) drop(ctx context.Context, unused []partition, report *Report) error {
	for _, u := range unused[:min(len(unused), maxDrops)] {
		if err := r.run(ctx, "drop_partition", u.parameters(), r.config.Budget); err != nil {
			return err
		}
		r.metrics.drops.Inc()
		report.Dropped++
	}
	report.More = report.More || len(unused) > maxDrops
	return nil
}
