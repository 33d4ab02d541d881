package recount

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
)

// maxSealed bounds the days that are told of at once: three years, of which somebody imports hours in vain.
const maxSealed = 1000

// sealedDay is a day that hours were entered for after it was sealed. It stands for its hours, so they count nowhere.
type sealedDay struct {
	day    time.Time
	hours  uint64
	newest uint64 // version among them
}

func readSealed(ctx context.Context, conn driver.Conn) (days []sealedDay, err error) {
	err = questions.Read(ctx, conn, "sealed_hours", clickhouse.Parameters{"most": maxSealed}, askBudget, func(rows driver.Rows) error {
		var d sealedDay
		err := rows.Scan(&d.day, &d.hours, &d.newest)
		d.day = d.day.UTC()
		days = append(days, d)
		return err
	})
	return days, err
}

// tellSealed makes it known that hours were entered in vain: at once and whenever there are others.
func (r *Recounter) tellSealed(ctx context.Context) error {
	days, err := readSealed(ctx, r.conn)
	if err != nil {
		return err
	}
	var hours uint64
	for _, d := range days {
		hours += d.hours
	}
	r.metrics.sealed.Set(float64(hours))
	if len(days) > 0 && !slices.Equal(days, r.sealed) {
		r.log.Warn("hours were entered for days that are sealed: they count nowhere, correct the days", "hours", hours, "days", len(days),
			"first", days[0].day.Format(time.DateOnly), "last", days[len(days)-1].day.Format(time.DateOnly))
	}
	r.sealed = days
	return nil
}

func (c *Check) sealed(ctx context.Context, conn driver.Conn) error {
	days, err := readSealed(ctx, conn)
	for _, d := range days {
		c.Drifts = append(c.Drifts, fmt.Sprintf("day %s is sealed, and %d of its hours were entered after that: they count nowhere, correct the day",
			d.day.Format(time.DateOnly), d.hours))
	}
	return err
}
