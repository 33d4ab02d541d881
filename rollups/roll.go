package rollups

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

const (
	day = 24 * time.Hour
	// settle is how long after its end an hour is rolled up, in event time. What arrives later has it filled again.
	settle = 10 * time.Minute
	// lookBack is how long late events have an hour filled again.
	lookBack = 3 * time.Hour
	// rollEvery is how often hours are looked at while as_of stays in one.
	rollEvery = time.Minute
	// rollBudget bounds the filling of one hour or day: an hour of 100,000 events a second is some 80 million cells of minutes.
	rollBudget = 2 * time.Minute
	// maxFills bounds a round, and maxTries those for one total: a total that never agrees would be filled for ever.
	maxFills = 24
	maxTries = 3
)

// roller fills cms_hour and topk_hour once an hour is over, cms_day and topk_day once a day is. It remembers nothing that
// matters: what is missing shows in the totals.
type roller struct {
	conn  driver.Conn
	until time.Time // hours before have been looked at; zero at first
	asked time.Time // when, on the wall clock
	tries map[span]attempt
}

// attempt is how often a bucket was filled for a total.
type attempt struct {
	arrived uint64
	tries   int
}

func newRoller(conn driver.Conn) *roller { return &roller{conn: conn, tries: map[span]attempt{}} }

// roll fills what is due at asOf. It returns how many hours and days it filled, and whether that was all: old rows must not be
// dropped before. The first round looks at everything that is kept.
func (r *roller) roll(ctx context.Context, asOf time.Time) (filled int, all bool, err error) {
	closed := asOf.Add(-settle).Truncate(time.Hour)
	if closed.Equal(r.until) && time.Since(r.asked) < rollEvery {
		return 0, true, nil
	}
	from := time.Unix(0, 0).UTC()
	if !r.until.IsZero() {
		from = r.until.Add(-lookBack)
	}
	filled, err = r.fill(ctx, "roll_hours", span{from, closed}, time.Hour, r.hour)
	if err != nil || filled == maxFills {
		return filled, false, err
	}
	days, err := r.fill(ctx, "roll_days", span{from.Truncate(day), closed.Truncate(day)}, day, r.day)
	if filled += days; err != nil || days == maxFills {
		return filled, false, err
	}
	r.until, r.asked = closed, time.Now()
	for s := range r.tries {
		if s.until.Before(closed.Add(-lookBack - day)) {
			delete(r.tries, s)
		}
	}
	return filled, true, nil
}

// fill fills the buckets of s whose total differs from what arrived for them.
func (r *roller) fill(ctx context.Context, question string, s span, length time.Duration, one func(context.Context, span) error) (filled int, err error) {
	if !s.from.Before(s.until) {
		return 0, nil
	}
	var due []span
	p := parameters{"slice": list.GlobalSlice, "from": s.from, "until": s.until}
	err = read(ctx, r.conn, question, p, rollBudget, func(rows driver.Rows) error {
		var bucket time.Time
		var arrived, have uint64
		if err := rows.Scan(&bucket, &arrived, &have); err != nil {
			return err
		}
		b := span{bucket.UTC(), bucket.UTC().Add(length)}
		if a := r.tries[b]; arrived != have && (a.arrived != arrived || a.tries < maxTries) && len(due) < maxFills {
			if a.arrived != arrived {
				a = attempt{arrived: arrived}
			}
			a.tries++
			r.tries[b] = a
			due = append(due, b)
		}
		return nil
	})
	for _, b := range due {
		if err == nil {
			err = one(ctx, b)
		}
		if err != nil {
			delete(r.tries, b)
			return filled, fmt.Errorf("roll up %s from %s: %w", length, b.from.Format(time.DateTime), err)
		}
		filled++
	}
	return filled, err
}

// hour fills one hour. The sketch comes last: its total says that both are there.
func (r *roller) hour(ctx context.Context, s span) error {
	minutes, err := combinations(ctx, r.conn, "topk_minute", s)
	if err != nil {
		return err
	}
	names := blocksOf(minutes)
	taken := absorbed(minutes)
	loose, err := readLoose(ctx, r.conn, s)
	if err != nil {
		return err
	}
	for _, a := range loose {
		for _, block := range a.blocks {
			if !taken[block] {
				names = append(names, block)
			}
		}
	}
	if err := combine(ctx, r.conn, "topk_hour", s, names); err != nil {
		return err
	}
	return execute(ctx, r.conn, "fill_hour", parameters{"slice": list.GlobalSlice, "bucket": s.from, "until": s.until}, rollBudget)
}

// day fills one day from its hours.
func (r *roller) day(ctx context.Context, s span) error {
	hours, err := combinations(ctx, r.conn, "topk_hour", s)
	if err != nil {
		return err
	}
	if err := combine(ctx, r.conn, "topk_day", s, blocksOf(fullest(hours))); err != nil {
		return err
	}
	return execute(ctx, r.conn, "fill_day", parameters{"slice": list.GlobalSlice, "bucket": s.from, "until": s.until}, rollBudget)
}

// fullest keeps, of the rows of an hour or a day, the one of most views: each was combined from all there was. It expects
// them as combinations returns them, those of most views first.
func fullest(combined []combination) []combination {
	type key struct {
		itemType string
		bucket   int64
	}
	seen := map[key]bool{}
	var kept []combination
	for _, c := range combined {
		if k := (key{c.itemType, c.bucket.Unix()}); !seen[k] {
			seen[k] = true
			kept = append(kept, c)
		}
	}
	return kept
}

func blocksOf(combined []combination) []uint64 {
	names := make([]uint64, 0, len(combined))
	for _, c := range combined {
		names = append(names, c.block)
	}
	return names
}
