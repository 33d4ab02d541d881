package recount

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
)

// Check is what Verify found.
type Check struct {
	Hours, Days int      // looked at
	Folded      uint64   // days in the total
	Drifts      []string // what differs, a line each; none when all is right
}

// Verify works totals out anew from what they are made of: hours against the ledger, each day from its hours, the total from its
// days. progress is called with the days done and their number; it may be nil.
func Verify(ctx context.Context, conn driver.Conn, budget time.Duration, progress func(done, days int)) (check Check, err error) {
	l, err := readLedger(ctx, conn)
	if err != nil {
		return check, err
	}
	if err = check.hours(ctx, conn, l, budget); err == nil {
		err = check.days(ctx, conn, l.days, budget, progress)
	}
	if err == nil {
		err = check.total(ctx, conn, budget)
	}
	if err == nil {
		err = check.sealed(ctx, conn)
	}
	return check, err
}

// hours compares what lies there with the ledger. Those of sealed days are gone.
func (c *Check) hours(ctx context.Context, conn driver.Conn, l *ledger, budget time.Duration) error {
	type entry struct {
		at      int64
		version uint64
	}
	have := map[entry]uint64{}
	err := questions.Read(ctx, conn, "hour_events", nil, budget, func(rows driver.Rows) error {
		var at time.Time
		var version, events uint64
		err := rows.Scan(&at, &version, &events)
		have[entry{at.Unix(), version}] = events
		return err
	})
	if err != nil {
		return err
	}
	for i := range l.days {
		d := &l.days[i]
		c.Hours += d.known(d.day.Add(day))
		for _, h := range d.hours {
			if events := have[entry{h.at.Unix(), h.version.number}]; events != h.events {
				c.Drifts = append(c.Drifts, fmt.Sprintf("hour %s: the ledger says %d events, counts_hourly holds %d",
					h.at.Format(time.RFC3339), h.events, events))
			}
		}
	}
	return nil
}

// days compares those that are not sealed: the hours of the others are gone.
func (c *Check) days(ctx context.Context, conn driver.Conn, days []ledgerDay, budget time.Duration, progress func(done, days int)) error {
	var standing []*ledgerDay
	for i := range days {
		if d := &days[i]; d.holds && !d.sealed {
			standing = append(standing, d)
		}
	}
	for _, batch := range batches(standing, DefaultConfig().BatchEvents, maxBatchDays, (*ledgerDay).events) {
		if err := c.compare(ctx, conn, batch, budget); err != nil {
			return err
		}
		if c.Days += len(batch); progress != nil {
			progress(c.Days, len(standing))
		}
	}
	return nil
}

// compare works out some days anew.
func (c *Check) compare(ctx context.Context, conn driver.Conn, days []*ledgerDay, budget time.Duration) error {
	var sums, all []ledgerHour
	for _, d := range days {
		sums, all = append(sums, ledgerHour{at: d.day, version: d.sum}), append(all, d.hours...)
	}
	starts, versions := split(sums)
	hours, hourVersions := split(all)
	p := clickhouse.Parameters{"days": starts, "versions": versions, "hours": hours, "hour_versions": hourVersions}
	return questions.Read(ctx, conn, "drifted_days", p, budget, func(rows driver.Rows) error {
		var at time.Time
		var d drift
		if err := rows.Scan(&at, &d.differ, &d.views, &d.some); err != nil {
			return err
		}
		c.note("day "+at.UTC().Format(time.DateOnly)+" is not the sum of its hours", d)
		return nil
	})
}

// total compares the newest total with its days.
func (c *Check) total(ctx context.Context, conn driver.Conn, budget time.Duration) error {
	return questions.Read(ctx, conn, "drifted_total", nil, budget, func(rows driver.Rows) error {
		var d drift
		if err := rows.Scan(&d.differ, &d.views, &d.some, &c.Folded); err != nil {
			return err
		}
		if d.differ > 0 {
			c.note("the total is not the sum of its days", d)
		}
		return nil
	})
}

// drift is by how much something differs: in how many (item, dimensions), by how many views in all, and some of them.
type drift struct {
	differ, views uint64
	some          []string
}

func (c *Check) note(what string, d drift) {
	c.Drifts = append(c.Drifts, fmt.Sprintf("%s: %d (item, dimensions) differ, by %d views in all, such as %s",
		what, d.differ, d.views, strings.Join(d.some, ", ")))
}
