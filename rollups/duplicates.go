package rollups

import (
	"context"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// duplicates bounds how many views of a window were sent more than once: what landed less the distinct events.
//
// Distinct events are counted second by second, each once and again when an event arrives for it: a retry repeats the time
// of its event, so both are in one second. Events and counts are read from two topics, either of which may be ahead for
// late events: of a second that has more events than views, repeats are told from its events alone, so what has not landed
// hides none.
//
// What repeats is not in the same second if its time came from the clock of an ingestor, or if a client changed it. A window
// of up to limit events is counted whole at every build as well, which finds both. Of a larger one only events without a time
// of their own are, up to limit of them: beyond it any of them may be a repeat. So may each whose own time was too far ahead:
// sent again a moment later it may be accepted as it is.
type duplicates struct {
	conn    driver.Conn
	limit   uint64
	seconds map[int64]map[string]distinct // by epoch second and item type, of one window
}

// distinct is what arrived for one second.
type distinct struct {
	arrived, events         uint64 // repeats included, and distinct
	untimedArrived, untimed uint64 // the same of events without a time of their own
	ahead                   uint64 // distinct events whose own time was too far ahead
}

// distincts is what is known of a window.
type distincts struct {
	seconds map[int64]map[string]distinct
	moved   map[string]uint64 // by item type: repeats that are in another second than the first
}

// maxSecondsAsked bounds the seconds of one question: each may hold a hundred thousand events.
const maxSecondsAsked = 60

func newDuplicates(conn driver.Conn, limit uint64) *duplicates {
	return &duplicates{conn: conn, limit: limit, seconds: map[int64]map[string]distinct{}}
}

// distinct counts the distinct events of a window.
func (d *duplicates) distinct(ctx context.Context, q question) (distincts, error) {
	if err := d.update(ctx, q); err != nil {
		return distincts{}, err
	}
	found := distincts{d.seconds, map[string]uint64{}}
	var landed uint64
	for _, views := range q.landed.within(span{q.from, q.asOf}) {
		landed += views
	}
	if landed <= d.limit {
		return found, d.countMoved(ctx, q, found, false)
	}
	var untimed uint64
	for _, types := range d.seconds {
		for itemType, at := range types {
			untimed += at.untimed
			found.moved[itemType] += at.ahead
		}
	}
	switch {
	case untimed == 0:
		return found, nil
	case untimed <= d.limit:
		return found, d.countMoved(ctx, q, found, true)
	}
	for _, types := range d.seconds {
		for itemType, at := range types {
			found.moved[itemType] += at.untimed
		}
	}
	return found, nil
}

// update counts the seconds for which events have arrived, and forgets those outside the window.
func (d *duplicates) update(ctx context.Context, q question) error {
	arrived, err := d.readArrived(ctx, q)
	if err != nil {
		return err
	}
	seconds := make(map[int64]map[string]distinct, len(arrived))
	var changed []int64
	for second := range (span{q.from, q.asOf}).seconds() {
		have := d.seconds[second]
		if len(arrived[second]) != len(have) {
			changed = append(changed, second)
			continue
		}
		same := true
		for itemType, n := range arrived[second] {
			same = same && have[itemType].arrived == n
		}
		if !same {
			changed = append(changed, second)
		} else if have != nil {
			seconds[second] = have
		}
	}
	for len(changed) > 0 {
		asked := changed[:min(len(changed), maxSecondsAsked)]
		changed = changed[len(asked):]
		if err := d.count(ctx, q.types, asked, seconds); err != nil {
			return err
		}
	}
	d.seconds = seconds
	return nil
}

func (d *duplicates) readArrived(ctx context.Context, q question) (map[int64]map[string]uint64, error) {
	arrived := map[int64]map[string]uint64{}
	p := parameters{"types": q.types, "from": q.from, "until": q.asOf}
	err := read(ctx, d.conn, "identities", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var at time.Time
		var events uint64
		if err := r.Scan(&itemType, &at, &events); err != nil {
			return err
		}
		if arrived[at.Unix()] == nil {
			arrived[at.Unix()] = map[string]uint64{}
		}
		arrived[at.Unix()][itemType] = events
		return nil
	})
	return arrived, err
}

func (d *duplicates) count(ctx context.Context, types []string, which []int64, into map[int64]map[string]distinct) error {
	p := parameters{"types": types, "seconds": times(which)}
	return read(ctx, d.conn, "distinct_seconds", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var second time.Time
		var at distinct
		if err := r.Scan(&itemType, &second, &at.arrived, &at.events, &at.untimedArrived, &at.untimed, &at.ahead); err != nil {
			return err
		}
		if into[second.Unix()] == nil {
			into[second.Unix()] = map[string]distinct{}
		}
		into[second.Unix()][itemType] = at
		return nil
	})
}

// countMoved adds the events that are in several seconds of the window, of all or of those without a time of their own.
func (d *duplicates) countMoved(ctx context.Context, q question, found distincts, untimed bool) error {
	bySecond := map[string]distinct{}
	for _, types := range found.seconds {
		for itemType, at := range types {
			sum := bySecond[itemType]
			if untimed {
				at.arrived, at.events = at.untimedArrived, at.untimed
			}
			bySecond[itemType] = distinct{arrived: sum.arrived + at.arrived, events: sum.events + at.events}
		}
	}
	p := parameters{"types": q.types, "from": q.from, "until": q.asOf, "untimed": 0}
	if untimed {
		p["untimed"] = 1
	}
	whole := map[string]distinct{}
	err := read(ctx, d.conn, "distinct_window", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var all distinct
		if err := r.Scan(&itemType, &all.arrived, &all.events); err != nil {
			return err
		}
		whole[itemType] = all
		return nil
	})
	for itemType, sum := range bySecond {
		// What has arrived since the seconds were counted may all be distinct, and is not in their sum.
		since := whole[itemType].arrived - min(whole[itemType].arrived, sum.arrived)
		all := whole[itemType].events - min(whole[itemType].events, since)
		found.moved[itemType] += sum.events - min(sum.events, all)
	}
	return err
}

// repeats is, by item type, what landed beyond the distinct events. What landed is asked after the items were counted, so
// that whatever arrives meanwhile can only raise it.
func (d distincts) repeats(q question, landed landed) map[string]uint64 {
	repeats := maps.Clone(d.moved)
	for second := range (span{q.from, q.asOf}).seconds() {
		for itemType, s := range landed[second] {
			at := d.seconds[second][itemType]
			repeats[itemType] += max(s.views, at.arrived) - at.events
		}
	}
	return repeats
}
