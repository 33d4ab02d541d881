package rollups

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
	"topk/internal/list"
)

const (
	// sketchRows is the depth of a sketch: topk_cms_rows() counts to it. A seal is not written for fewer.
	sketchRows = 5
	// rollEvery is how often totals are looked at while as_of stays in a minute, and the least time between two attempts at one.
	rollEvery = time.Minute
	// refillEvery is how often a bucket is filled again while late events arrive for it, by the clock or in event time. Lists do
	// not wait for it: they count such a minute from counts_minute.
	refillEvery = time.Hour
	// passBudget bounds a round of statements, of which the last may end later: a tenth of keepEvery, so that a backlog leaves
	// the machine to fresh lists.
	passBudget = keepEvery / 10
	// rollBudget bounds one statement: a row of an hour of 100,000 events a second adds up 16 million cells of minutes.
	rollBudget = 2 * time.Minute
	// fillCells bounds what one statement may write: views times rows. Where one row of one bucket is more, it is that.
	fillCells = 1_000_000
	// maxBatch bounds the minutes of one statement, maxDue those of one look.
	maxBatch, maxDue = 60, 1440
	// maxTries bounds the attempts at one total: one that never agrees would be filled for ever.
	maxTries = 3
)

// roller fills the sketches of minutes, hours and days once they are over, and the summaries of hours and days with them. It
// works in small statements, so that a large minute or a backlog is spread over time. It remembers nothing that matters: what
// is missing shows in the totals.
type roller struct {
	conn  driver.Conn
	until time.Time // minutes before have been looked at; zero at first
	asked time.Time // when, on the wall clock
	work  []batch
	tries map[bucket]attempt
}

type bucket struct {
	table string
	start time.Time
}

// attempt is how often a bucket was filled for a total, and when last.
type attempt struct {
	arrived uint64
	tries   int
	at      time.Time // on the wall clock
	asOf    time.Time
}

// batch is buckets of one step that are filled together, and what of it is left to do.
type batch struct {
	step     step
	buckets  []time.Time
	arrived  []uint64 // views of each
	views    []uint64 // what the source held of each before the first row was filled
	combined bool
	rows     []uint64 // of the sketch, not filled yet
	together int      // rows in a statement
}

func newRoller(conn driver.Conn) *roller { return &roller{conn: conn, tries: map[bucket]attempt{}} }

// roll goes on filling what is due at asOf. It returns how many buckets it completed, and whether nothing is left: old rows
// must not be dropped before.
func (r *roller) roll(ctx context.Context, asOf time.Time) (filled int, all bool, err error) {
	minute := minuteStep.closed(asOf)
	if len(r.work) == 0 && minute.Equal(r.until) && time.Since(r.asked) < rollEvery {
		return 0, true, nil
	}
	for began := time.Now(); time.Since(began) < passBudget; {
		if len(r.work) == 0 {
			if r.work, err = r.look(ctx, asOf); err != nil {
				return filled, false, err
			}
		}
		if len(r.work) == 0 {
			r.until, r.asked = minute, time.Now()
			return filled, true, nil
		}
		b := &r.work[0]
		done, err := b.advance(ctx, r.conn)
		if err != nil {
			err = fmt.Errorf("fill %s from %s: %w", b.step.target, b.buckets[0].Format(time.DateTime), err)
			if clickhouse.TimedOut(err) {
				r.note(*b, asOf) // or it would be tried for ever, and nothing else
			}
			r.work = nil
			return filled, false, err
		}
		if done {
			r.note(*b, asOf)
			filled += len(b.buckets)
			r.work = r.work[1:]
		}
	}
	return filled, false, nil
}

// look returns what is due of the first step that has anything due, oldest first.
func (r *roller) look(ctx context.Context, asOf time.Time) ([]batch, error) {
	for _, s := range steps {
		held, err := s.held(ctx, r.conn, span{time.Unix(0, 0).UTC(), s.closed(asOf)})
		if err != nil {
			return nil, err
		}
		r.forget(s, held)
		var due []time.Time
		for _, start := range slices.SortedFunc(maps.Keys(held), time.Time.Compare) {
			if r.due(bucket{s.target, start}, held[start], asOf) && len(due) < maxDue {
				due = append(due, start)
			}
		}
		if len(due) > 0 {
			return batches(s, due, held), nil
		}
	}
	return nil, nil
}

// due says whether a bucket is to be filled now. Cells only grow, so nothing is gained where more was filled than there is.
func (r *roller) due(b bucket, v holding, asOf time.Time) bool {
	last, tried := r.tries[b]
	switch {
	case v.arrived <= v.filled:
		return false
	case !tried:
		return true
	case last.arrived == v.arrived: // rows of which one view had them and another not yet, or never will
		return last.tries < maxTries && time.Since(last.at) >= rollEvery
	default:
		return time.Since(last.at) >= refillEvery || asOf.Sub(last.asOf) >= refillEvery
	}
}

// note remembers an attempt.
func (r *roller) note(b batch, asOf time.Time) {
	for i, start := range b.buckets {
		a := r.tries[bucket{b.step.target, start}]
		if a.arrived != b.arrived[i] {
			a = attempt{arrived: b.arrived[i]}
		}
		a.tries, a.at, a.asOf = a.tries+1, time.Now(), asOf
		r.tries[bucket{b.step.target, start}] = a
	}
}

// forget bounds what is remembered to the buckets whose source is still there.
func (r *roller) forget(s step, held map[time.Time]holding) {
	maps.DeleteFunc(r.tries, func(b bucket, _ attempt) bool {
		_, there := held[b.start]
		return b.table == s.target && !there
	})
}

// batches puts small minutes together, and takes large buckets apart into rows.
func batches(s step, due []time.Time, held map[time.Time]holding) []batch {
	var all []batch
	cells := uint64(0) // of the last batch
	for _, start := range due {
		arrived := held[start].arrived
		n := arrived * sketchRows
		if last := len(all) - 1; last >= 0 && s.length == time.Minute && cells+n <= fillCells && len(all[last].buckets) < maxBatch {
			all[last].buckets, all[last].arrived = append(all[last].buckets, start), append(all[last].arrived, arrived)
			cells += n
			continue
		}
		cells = n
		b := batch{step: s, buckets: []time.Time{start}, arrived: []uint64{arrived}, together: sketchRows, combined: s.combine == nil}
		if n > fillCells {
			b.together = 1
		}
		for row := range uint64(sketchRows) {
			b.rows = append(b.rows, row)
		}
		all = append(all, b)
	}
	return all
}

// measure asks what the source holds. A view may not have written yet what others have: only then this is not what arrived.
func (b *batch) measure(ctx context.Context, conn driver.Conn, p parameters) error {
	if b.step.measure == "" {
		b.views = b.arrived
		return nil
	}
	found, err := askViews(ctx, conn, b.step.measure, p)
	if err != nil {
		return err
	}
	for _, start := range b.buckets {
		b.views = append(b.views, found[start])
	}
	return nil
}

// advance runs the next statement of a batch. The seal comes last: it says that everything else is there.
func (b *batch) advance(ctx context.Context, conn driver.Conn) (done bool, err error) {
	s := span{b.buckets[0], b.buckets[0].Add(b.step.length)}
	if !b.combined {
		b.combined = true
		return false, b.step.combine(ctx, conn, s)
	}
	p := parameters{"slice": list.GlobalSlice, "source": b.step.source, "target": b.step.target, "buckets": b.buckets,
		"from": s.from, "until": s.until}
	if b.views == nil {
		return false, b.measure(ctx, conn, p)
	}
	if len(b.rows) == 0 {
		p["views"] = b.views
		return true, execute(ctx, conn, "seal", p, rollBudget)
	}
	p["rows"], b.rows = b.rows[:b.together], b.rows[b.together:]
	return false, execute(ctx, conn, b.step.fill, p, rollBudget)
}
