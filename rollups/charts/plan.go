package charts

import (
	"cmp"
	"slices"
	"time"

	"topk/internal/zone"
)

// key names the charts of a day, of all item types.
type key struct {
	zone string
	day  zone.Day
}

// stored is what was noted of a day when it was counted last.
type stored struct {
	round       int64 // 0 when it never was
	provisional bool
	asOf        time.Time
	cap         uint64
	types       []string
	versions    map[time.Time]uint64 // of its hours
	countedAt   time.Time
}

// final says whether the day's charts are official.
func (s *stored) final() bool { return s.round != 0 && !s.provisional }

// job is a day that is to be counted.
type job struct {
	key
	from, until time.Time
	asOf        time.Time // at most until
	provisional bool
	span        span
	stored      stored
}

// paced says whether the job is put off while counting takes up too much. The first final chart of a day is not: there is one.
func (j *job) paced() bool { return j.provisional || j.stored.final() }

// changed are the hours, by their place in the span, that have another version than the stored charts were counted from.
func (j *job) changed() []int {
	var changed []int
	for i, at := range j.span.hours {
		if j.stored.versions[at] != j.span.versions[i] {
			changed = append(changed, i)
		}
	}
	return changed
}

// plan is what there is to count at one moment.
type plan struct {
	jobs []job
	// needed is the earliest day that is to have a final chart and has none: raw events from then on must stay. It is asOf
	// when there is none.
	needed time.Time
	// unknown says which zones of stored charts this machine does not know.
	unknown error
}

// newPlan looks at every day of the configured zones that raw events are kept of, and at every other day that has charts.
func newPlan(l *ledger, days map[key]stored, zones map[string]*time.Location, asOf, now time.Time, every time.Duration) plan {
	p := plan{needed: asOf}
	add := func(k key, location *time.Location, configured bool) (begun bool) {
		j, begun := newJob(k, location, l, days[k], asOf)
		switch {
		case !begun || j.until.Equal(j.from) || j.span.gone:
			return begun
		case configured && !j.stored.final() && j.from.Before(p.needed):
			p.needed = j.from
		}
		if j.due(now, every) && (configured || j.stored.round != 0) {
			p.jobs = append(p.jobs, j)
		}
		return true
	}
	for name, location := range zones {
		if l.kept.IsZero() {
			break
		}
		for day := zone.DayOf(l.kept, location); add(key{name, day}, location, true); day = day.Next() {
		}
	}
	for k := range days {
		if zones[k.zone] != nil {
			continue
		}
		location, err := zone.Load(k.zone)
		if err != nil {
			p.unknown = err
			continue
		}
		add(k, location, false)
	}
	slices.SortFunc(p.jobs, inOrder)
	return p
}

// inOrder puts what is paced first, what was counted longest ago before others: it takes a twentieth of the time, and the day that is open
// does not wait for years that are made up for. Then come first final charts, in the order of their days.
func inOrder(a, b job) int {
	switch {
	case a.paced() && !b.paced():
		return -1
	case !a.paced() && b.paced():
		return 1
	case a.paced():
		return cmp.Or(a.stored.countedAt.Compare(b.stored.countedAt), a.from.Compare(b.from), cmp.Compare(a.zone, b.zone))
	}
	return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.zone, b.zone))
}

// newJob says what counting a day would be at asOf, and whether it has begun by then.
func newJob(k key, location *time.Location, l *ledger, s stored, asOf time.Time) (j job, begun bool) {
	from, until := k.day.Bounds(location)
	if !from.Before(asOf) {
		return job{}, false
	}
	j = job{key: k, from: from, until: until, asOf: until, span: l.span(from, until), stored: s}
	if asOf.Before(until) {
		j.asOf = asOf
	}
	j.provisional = asOf.Before(until) || !j.span.recounted
	return j, true
}

// due says whether the day is to be counted now.
func (j *job) due(now time.Time, every time.Duration) bool {
	rested := now.Sub(j.stored.countedAt) >= every
	switch {
	case j.stored.round == 0:
		return true
	case j.provisional:
		further := j.asOf.Sub(j.stored.asOf)
		return j.stored.provisional && further > 0 && (rested || further >= every)
	case j.stored.provisional:
		return true
	default:
		return rested && len(j.changed()) > 0
	}
}
