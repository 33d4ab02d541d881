package recount

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
)

// Tables of exact counts.
const (
	hourly = "counts_hourly"
	daily  = "counts_daily"
	totals = "counts_total"
)

// partition is one version of an hour, a day or the total, as it lies in its table.
type partition struct {
	table, id string
	bucket    time.Time // start of the hour or day; zero for a total
	version   uint64
	rows      uint64
	merged    bool          // it is one part, and the work of a merge
	quiet     time.Duration // since anything was written to it
}

func (p partition) parameters() clickhouse.Parameters {
	return clickhouse.Parameters{"table": p.table, "partition": p.id}
}

func readPartitions(ctx context.Context, conn driver.Conn) (found []partition, err error) {
	err = questions.Read(ctx, conn, "partitions", nil, askBudget, func(rows driver.Rows) error {
		var p partition
		var parts uint64
		var level uint32
		var quiet int64
		if err := rows.Scan(&p.table, &p.id, &p.rows, &parts, &level, &quiet); err != nil {
			return err
		}
		p.merged, p.quiet = parts == 1 && level > 0, time.Duration(quiet)*time.Second
		found = append(found, p)
		return found[len(found)-1].name()
	})
	return found, err
}

// name reads bucket and version from the partition's id, which ClickHouse makes of them.
func (p *partition) name() error {
	bucket, version, of := strings.Cut(p.id, "-")
	if !of {
		version = bucket
	}
	var err error
	if p.version, err = strconv.ParseUint(version, 10, 64); err != nil {
		return fmt.Errorf("partition %s of %s: %w", p.id, p.table, err)
	}
	if of {
		seconds, err := strconv.ParseInt(bucket, 10, 64)
		if err != nil {
			return fmt.Errorf("partition %s of %s: %w", p.id, p.table, err)
		}
		p.bucket = time.Unix(seconds, 0).UTC()
	}
	return nil
}

// bucket is an hour or a day in its table, or the total.
type bucket struct {
	table string
	at    time.Time
}

// counting returns the version of each that counts.
func (l *ledger) counting() map[bucket]version {
	counting := map[bucket]version{{table: totals}: l.total}
	for i := range l.days {
		d := &l.days[i]
		counting[bucket{daily, d.day}] = d.sum
		for _, h := range d.hours {
			counting[bucket{hourly, h.at}] = h.version
		}
	}
	return counting
}

// unmerged are large partitions that count and are in several parts, or in one that has not been merged. FINAL has to merge
// those at each read, and reads a single merged part as it is. With few rows that is no matter.
func (l *ledger) unmerged(partitions []partition) (found []partition) {
	counting := l.counting()
	for _, p := range partitions {
		if p.rows >= largeRows && !p.merged && counting[bucket{p.table, p.bucket}].number == p.version {
			found = append(found, p)
		}
	}
	slices.Reverse(found) // the newest first: they are read most
	return found
}

// unused are partitions that nobody reads any more: versions that a newer one in the ledger has replaced grace ago, so that no
// query is still about to read them; hours of days that have been sealed for as long; versions that are in no ledger and that
// nothing was written to for orphan.
func (l *ledger) unused(partitions []partition, grace, orphan time.Duration) (found []partition) {
	counting, settled := l.counting(), l.now.Add(-grace)
	days := map[time.Time]*ledgerDay{}
	for i := range l.days {
		days[l.days[i].day] = &l.days[i]
	}
	for _, p := range partitions {
		c, d := counting[bucket{p.table, p.bucket}], days[p.bucket.Truncate(day)]
		replaced := p.version < c.number && c.since.Before(settled)
		abandoned := p.version > c.number && p.quiet > orphan
		if p.table == hourly && d != nil && d.sealed {
			replaced, abandoned = d.sum.since.Before(settled), false
		}
		if (replaced || abandoned) && (p.table != daily || l.free(d, p, settled)) {
			found = append(found, p)
		}
	}
	return found
}

// free says whether no total needs a version of a day: the newest one does not hold it, and is what everybody reads.
func (l *ledger) free(d *ledgerDay, p partition, settled time.Time) bool {
	return (d == nil || d.folded != p.version) && l.total.since.Before(settled)
}
