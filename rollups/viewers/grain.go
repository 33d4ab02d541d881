package viewers

import "time"

// Grains of states.
const (
	minutes = iota
	hours
	grains
)

// grain is one size of the buckets that states are of.
type grain struct {
	name   string
	length time.Duration
	count  string          // question: how many viewers
	past   string          // statement that counts raw events
	steps  []time.Duration // how far back from as_of the past is counted, one after another as long as that leaves an item with too few viewers
}

var allGrains = [grains]grain{
	minutes: {name: "minutes", length: time.Minute, count: "minutes", past: "past_minutes", steps: []time.Duration{2 * time.Minute, 2 * time.Hour}},
	hours:   {name: "hours", length: time.Hour, count: "hours", past: "past_hours", steps: []time.Duration{26 * time.Hour, 9 * day, 32 * day}},
}

const day = 24 * time.Hour

// finest is the longest window that is counted by minutes: a day of minutes would be 1,440 states an item.
const finest = time.Hour

// grainOf is the grain of a window that starts at from.
func grainOf(from, asOf time.Time) int {
	if asOf.Sub(from) <= finest {
		return minutes
	}
	return hours
}

// target is how far back the next step reaches of an item whose states reach back to since: not beyond from, where the window begins.
func (g grain) target(since, from, asOf time.Time) time.Time {
	from = from.Truncate(g.length)
	for _, step := range g.steps {
		if at := asOf.Add(-step).Truncate(g.length); at.Before(since) {
			if at.Before(from) {
				return from
			}
			return at
		}
	}
	return from
}

// ceil is the start of the first bucket that begins at t or later.
func (g grain) ceil(t time.Time) time.Time { return t.Add(g.length - 1).Truncate(g.length) }
