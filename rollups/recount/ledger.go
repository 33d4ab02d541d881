package recount

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// ledger is what the three ledgers said at one moment: what counts, in which version. All that is to be done, read or dropped
// follows from it, so one question is asked in place of many.
type ledger struct {
	days  []ledgerDay // in order; what nothing is known of has no entry
	total version     // the newest total; 0 when there is none
	now   time.Time   // of ClickHouse, when it answered
}

// version is one version of an hour, a day or the total: epoch microseconds. since is when it was entered.
type version struct {
	number uint64
	since  time.Time
}

// ledgerHour is an hour that is entered.
type ledgerHour struct {
	at      time.Time
	version version
	events  uint64
	// corrected says that it was counted before. The recount may have come to the same: events and items of two versions may be equal
	// though views have moved from one item to another, and only comparing both item by item would tell.
	corrected bool
}

// ledgerDay is a day that anything is known of.
type ledgerDay struct {
	day     time.Time
	hours   []ledgerHour // in order; none once it is sealed
	empties int          // hours that are entered as empty, and never were otherwise
	sum     version      // its newest sum; 0 when there is none
	of      []uint64     // the versions of hours that this is the sum of
	sealed  bool         // its hours are no longer kept
	holds   bool         // the sum is that of the hours that count, and stands for them
	folded  uint64       // its version in the newest total; 0 when it is not in it
}

// Flags of an hour in the question.
const flagEmpty, flagCorrected = 1, 2

const hoursOfDay = 24

// known is how many hours before at are entered.
func (d *ledgerDay) known(at time.Time) int {
	if d.sealed {
		return hoursOfDay
	}
	return before(d.hours, at)
}

// before is how many of the hours, which are in order, are before at.
func before(hours []ledgerHour, at time.Time) int {
	n, _ := slices.BinarySearchFunc(hours, at, func(h ledgerHour, at time.Time) int { return h.at.Compare(at) })
	return n
}

// split are the hours and their versions, as statements take them.
func split(hours []ledgerHour) (at []time.Time, versions []uint64) {
	for _, h := range hours {
		at, versions = append(at, h.at), append(versions, h.version.number)
	}
	return at, versions
}

// ledgerRow is a row of the question.
type ledgerRow struct {
	part     string
	bucket   time.Time
	version  version
	flag     uint8
	events   uint64
	days     []time.Time
	versions []uint64
}

func readLedger(ctx context.Context, conn driver.Conn) (*ledger, error) {
	l := &ledger{}
	days := map[time.Time]*ledgerDay{}
	err := questions.Read(ctx, conn, "ledger", nil, askBudget, func(rows driver.Rows) error {
		var r ledgerRow
		err := rows.Scan(&r.part, &r.bucket, &r.version.number, &r.version.since, &r.flag, &r.events, &r.days, &r.versions, &l.now)
		if err == nil {
			l.enter(days, r)
		}
		return err
	})
	for _, start := range slices.SortedFunc(maps.Keys(days), time.Time.Compare) {
		d := days[start]
		slices.SortFunc(d.hours, func(a, b ledgerHour) int { return a.at.Compare(b.at) })
		_, versions := split(d.hours)
		d.holds = d.sealed || d.sum.number > 0 && slices.Equal(d.of, versions)
		l.days = append(l.days, *d)
	}
	return l, err
}

// enter puts a row where it belongs.
func (l *ledger) enter(days map[time.Time]*ledgerDay, r ledgerRow) {
	dayOf := func(bucket time.Time) *ledgerDay {
		start := bucket.UTC().Truncate(day)
		if days[start] == nil {
			days[start] = &ledgerDay{day: start}
		}
		return days[start]
	}
	switch r.part {
	case "hour":
		d := dayOf(r.bucket)
		d.hours = append(d.hours, ledgerHour{r.bucket.UTC(), r.version, r.events, r.flag == flagCorrected})
		if r.flag == flagEmpty {
			d.empties++
		}
	case "day":
		d := dayOf(r.bucket)
		d.sum, d.of, d.sealed = r.version, r.versions, r.flag == 1
	case "total":
		l.total = r.version
		for n, folded := range r.days {
			dayOf(folded).folded = r.versions[n]
		}
	}
}

// exactUntil is the end of the run of hours without a gap, from the first one; 1970 when none is known.
func (l *ledger) exactUntil() time.Time {
	if len(l.days) == 0 {
		return time.Unix(0, 0).UTC()
	}
	next := l.days[0].day
	if hours := l.days[0].hours; len(hours) > 0 {
		next = hours[0].at
	}
	for i := range l.days {
		d := &l.days[i]
		if d.sealed && next.Equal(d.day) {
			next = next.Add(day)
		}
		for _, h := range d.hours {
			if !h.at.Equal(next) {
				return next
			}
			next = next.Add(time.Hour)
		}
	}
	return next
}

// gaps says whether quiet hours before closed are not entered yet. pending hours have events, and are not entered either. Where
// nothing is entered, there may be some.
func (l *ledger) gaps(closed time.Time, pending []time.Time) bool {
	if len(l.days) == 0 {
		return true
	}
	first, known := l.days[0].day, len(pending)
	for _, hour := range pending {
		first = earlier(first, hour.Truncate(day))
	}
	for i := range l.days {
		known += l.days[i].known(closed)
	}
	return known < int(closed.Sub(first)/time.Hour)
}

// next is a version that is later than last and than every one that was made before.
func (l *ledger) next(last uint64) uint64 { return max(uint64(l.now.UnixMicro()), last+1) }

// events of the hours that count.
func (d *ledgerDay) events() (n uint64) {
	for _, h := range d.hours {
		n += h.events
	}
	return n
}

// dueDays are complete days before closed that have no sum that holds. empty says whether there are days without any event
// beside them, which are entered at once.
func (l *ledger) dueDays(closed time.Time) (due []*ledgerDay, empty bool) {
	for i := range l.days {
		d := &l.days[i]
		switch {
		case d.holds || len(d.hours) < hoursOfDay || !d.day.Before(closed):
		case d.empties == hoursOfDay:
			empty = true
		default:
			due = append(due, d)
		}
	}
	return due, empty
}

// fold is what the total lacks of the days before until, and what of it does not count any more; at most so many days.
func (l *ledger) fold(until time.Time, days int) fold {
	f := fold{version: l.next(l.total.number), last: l.total.number}
	for i := range l.days {
		d := &l.days[i]
		if !d.holds || !d.day.Before(until) || d.folded == d.sum.number || len(f.add) == days {
			continue
		}
		f.add, f.added = append(f.add, d.day), append(f.added, d.sum.number)
		if d.folded != 0 {
			f.remove, f.removed = append(f.remove, d.day), append(f.removed, d.folded)
		}
	}
	return f
}

// seals says whether a day before until is to be sealed, of which no hour was entered after a time. Somebody who enters the hours
// of a day one by one would otherwise find it sealed after the first: the worker takes those that lack for empty.
func (l *ledger) seals(until, entered time.Time) bool {
	fresh := func(h ledgerHour) bool { return h.version.since.After(entered) }
	return slices.ContainsFunc(l.days, func(d ledgerDay) bool {
		return d.holds && !d.sealed && d.day.Before(until) && !slices.ContainsFunc(d.hours, fresh)
	})
}
