package recount

import (
	"errors"
	"fmt"
	"time"
)

// Config is how hours are recounted. Settle, FoldAfter and KeepHours are event time, the others wall clock.
type Config struct {
	Settle        time.Duration // how long after its end an hour is closed
	Debounce      time.Duration // how long an hour that changed after its recount must be quiet
	MaxDebounce   time.Duration // how long one that is never quiet waits: events may come late without end
	LookEvery     time.Duration // how often the ledgers are looked at while no hour is due: for what was entered by hand
	FoldAfter     time.Duration // age at which a day is folded into the total: late events change it before
	KeepHours     time.Duration // life of exact hours; a day stands for older ones
	SealAfter     time.Duration // how long no hour of such a day must have been entered: history is imported an hour at a time
	KeepVersions  time.Duration // life of a version after a newer one counts: for queries that are about to read it
	KeepUnentered time.Duration // life of counts that nobody enters in the ledger
	BatchEvents   uint64        // what one statement counts or adds up, of many small hours or days; a larger one is alone
	Budget        time.Duration // what one statement may take
}

// DefaultConfig follows the wall clock; hours close ten minutes after their end.
func DefaultConfig() Config {
	return Config{
		Settle:        10 * time.Minute,
		Debounce:      30 * time.Second,
		MaxDebounce:   time.Hour,
		LookEvery:     30 * time.Second,
		FoldAfter:     2 * day,
		KeepHours:     35 * day,
		SealAfter:     7 * day,
		KeepVersions:  10 * time.Minute,
		KeepUnentered: 7 * day,
		BatchEvents:   1_000_000,
		Budget:        10 * time.Minute,
	}
}

// leastKeepEvents is the ingestor's default of max-event-age, and an hour, since events are dropped by the hour: a late event is counted
// together with all the others of its hour.
const leastKeepEvents = 48*time.Hour + time.Hour

// Validate reports every mistake at once. keepEvents is the life of raw events.
func (c Config) Validate(keepEvents time.Duration) error {
	var mistakes []error
	wrong := func(format string, a ...any) { mistakes = append(mistakes, fmt.Errorf(format, a...)) }
	if c.Settle < 0 || c.Settle > day {
		wrong("recount-settle: %s is not between 0 and 24h", c.Settle)
	}
	if c.Debounce < 0 {
		wrong("recount-debounce: %s is negative", c.Debounce)
	}
	if c.MaxDebounce < c.Debounce {
		wrong("recount-max-debounce: %s is shorter than recount-debounce, %s", c.MaxDebounce, c.Debounce)
	}
	if keepEvents < leastKeepEvents {
		wrong("keep-events: %s is shorter than %s: the ingestor takes events that are up to 48h old, and a late one must find the others of its hour",
			keepEvents, leastKeepEvents)
	}
	if least := keepEvents + 2*day; c.KeepHours < least {
		wrong("keep-hours: %s is shorter than %s: a recount of the oldest events must find the other hours of its day", c.KeepHours, least)
	}
	if c.SealAfter < 0 {
		wrong("seal-after: %s is negative", c.SealAfter)
	}
	if c.KeepVersions < time.Minute {
		wrong("keep-recounts: %s is shorter than 1m, in which a query may still read a version that it asked the ledger for", c.KeepVersions)
	}
	if c.Budget < time.Minute {
		wrong("recount-budget: %s is shorter than 1m", c.Budget)
	}
	return errors.Join(mistakes...)
}
