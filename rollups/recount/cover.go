package recount

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
)

// Cover names the partitions that together are a stretch of closed time. It is read first, and counts with it as parameters
// afterwards: so a list is of the versions that counted at one moment, whatever is recounted meanwhile. They are kept for
// Config.KeepVersions after they are replaced.
type Cover struct {
	From, Until time.Time // Until is at most ExactUntil; From is zero when the cover is of all time
	// ExactUntil says that every hour before is recounted; 1970 when none is.
	ExactUntil time.Time
	First      time.Time // hour that anything is known of; zero when nothing is
	// Revised says that an hour in it was counted again since the last but one was entered: for one to two hours, so that nobody
	// who looks once an hour misses it.
	Revised bool
	// Late is what came for hours in it and is not counted yet, by item type.
	Late map[string]Late

	hours   []time.Time
	days    []time.Time
	less    []time.Time // days that the total holds in a version that does not count any more
	hour    []uint64    // their versions
	day     []uint64
	lessDay []uint64
	total   uint64 // 0 when there is none
}

// ErrSealed says that a stretch begins or ends within a day whose hours are no longer kept.
var ErrSealed = errors.New("hours of that day are no longer kept: begin and end at midnight (UTC)")

// Partitions is how many there are to read.
func (c *Cover) Partitions() int {
	n := len(c.hours) + len(c.days) + len(c.less)
	if c.total != 0 {
		n++
	}
	return n
}

// Parameters are those of the view exact_cover.
func (c *Cover) Parameters() clickhouse.Parameters {
	return clickhouse.Parameters{
		"hours": c.hours, "hour_versions": c.hour, "days": c.days, "day_versions": c.day,
		"less": c.less, "less_versions": c.lessDay, "total": c.total,
	}
}

// ReadCover returns the partitions of [from, until), as far as it is exact: days where they are whole, else hours. Both must be
// starts of hours. ErrSealed where only days are kept.
func ReadCover(ctx context.Context, conn driver.Conn, from, until time.Time) (*Cover, error) {
	l, err := readLedger(ctx, conn)
	if err != nil {
		return nil, err
	}
	return l.cover(from, until)
}

// ReadTotalCover returns the partitions of all time before ExactUntil.
func ReadTotalCover(ctx context.Context, conn driver.Conn) (*Cover, error) {
	l, err := readLedger(ctx, conn)
	if err != nil {
		return nil, err
	}
	return l.coverTotal(l.exactUntil())
}

func (l *ledger) cover(from, until time.Time) (*Cover, error) {
	c := &Cover{From: from, ExactUntil: l.exactUntil()}
	c.Until = later(from, earlier(until, c.ExactUntil))
	for i := range l.days {
		d := &l.days[i]
		end := d.day.Add(day)
		switch {
		case !end.After(c.From) || !d.day.Before(c.Until):
		case d.holds && !d.day.Before(c.From) && !end.After(c.Until):
			c.days, c.day = append(c.days, d.day), append(c.day, d.sum.number)
		case d.sealed:
			return nil, fmt.Errorf("%s: %w", d.day.Format(time.DateOnly), ErrSealed)
		default:
			c.addHours(d)
		}
	}
	return c, nil
}

// addHours adds the hours of a day that lie in [From, Until).
func (c *Cover) addHours(d *ledgerDay) {
	first, end := before(d.hours, c.From), before(d.hours, c.Until)
	if first < end {
		hours, versions := split(d.hours[first:end])
		c.hours, c.hour = append(c.hours, hours...), append(c.hour, versions...)
	}
}

// coverTotal is the newest total, with the days that it holds in another version than counts, that lie behind a gap, or that do not end
// before until, taken out; and what it lacks: days, or their hours where their sum does not hold.
func (l *ledger) coverTotal(until time.Time) (*Cover, error) {
	c := &Cover{ExactUntil: l.exactUntil(), total: l.total.number}
	c.Until = earlier(until, c.ExactUntil)
	for i := range l.days {
		d := &l.days[i]
		counts := d.holds && !d.day.Add(day).After(c.Until)
		if counts && d.folded == d.sum.number {
			continue
		}
		if !counts && d.sealed && d.day.Before(c.Until) {
			return nil, fmt.Errorf("%s: %w", d.day.Format(time.DateOnly), ErrSealed)
		}
		if d.folded != 0 {
			c.less, c.lessDay = append(c.less, d.day), append(c.lessDay, d.folded)
		}
		if counts {
			c.days, c.day = append(c.days, d.day), append(c.day, d.sum.number)
		} else {
			c.addHours(d)
		}
	}
	return c, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Late is what came for closed hours and is not counted yet.
type Late struct {
	Hours  []time.Time
	Events uint64 // at most so many: repeats and flagged ones are among them
}

// Count is an item's exact count.
type Count struct {
	ItemID string
	Views  uint64
}

// Counts returns the exact counts of items in the cover; items without any are left out.
func (c *Cover) Counts(ctx context.Context, conn driver.Conn, itemType string, ids []string, budget time.Duration) ([]Count, error) {
	p := c.Parameters()
	p["type"], p["ids"] = itemType, ids
	return readCounts(ctx, conn, "counts", p, budget)
}

// Top returns the k greatest counts of the cover, count descending, then item by bytes. It groups every item of the cover.
func (c *Cover) Top(ctx context.Context, conn driver.Conn, itemType string, k int, budget time.Duration) ([]Count, error) {
	p := c.Parameters()
	p["type"], p["k"] = itemType, k
	return readCounts(ctx, conn, "top", p, budget)
}

func readCounts(ctx context.Context, conn driver.Conn, question string, p clickhouse.Parameters, budget time.Duration) (counts []Count, err error) {
	err = questions.Read(ctx, conn, question, p, budget, func(rows driver.Rows) error {
		var c Count
		err := rows.Scan(&c.ItemID, &c.Views)
		counts = append(counts, c)
		return err
	})
	return counts, err
}
