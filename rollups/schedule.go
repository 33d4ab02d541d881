package rollups

import "time"

const (
	// revise is how often a list is built anew for an as_of that stands still: events that come late change it.
	revise = 5 * time.Second
	// Watermarks of the wall clock move every second, those of recorded data as fast as it is read. One that has stood still
	// for longer has come to its end, and is published at once by every window. On the wall clock it may also stand still because
	// the machine has too much to do, which more building would make worse.
	stillWall  = 5 * time.Second
	stillEvent = 300 * time.Millisecond
)

// schedule decides when a window is built.
type schedule struct {
	every time.Duration // least time between two builds
	still time.Duration
	rests int // a slow build is followed by a pause of its time divided by this

	seen    time.Time // newest as_of
	changed time.Time // when it was first seen
	built   time.Time // as_of of the last list
	at      time.Time // when that was begun
	pace    time.Duration
	waits   time.Time // not before
}

func newSchedule(every time.Duration, clock string) *schedule {
	if clock == ClockEvent {
		// as_of moves by hours a second while recorded data is read: lists of moments in between are not worth the machine.
		return &schedule{every: max(every, time.Second), still: stillEvent, rests: 1}
	}
	return &schedule{every: every, still: stillWall, rests: 3}
}

// due says whether to build for asOf now. It never asks for an as_of before the last one.
func (s *schedule) due(now, asOf time.Time) bool {
	if asOf.After(s.seen) {
		s.seen, s.changed = asOf, now
	}
	switch {
	case asOf.IsZero() || asOf.Before(s.built) || now.Before(s.waits):
		return false
	case asOf.Equal(s.built):
		return now.Sub(s.at) >= max(s.every, revise)
	default:
		return s.built.IsZero() || now.Sub(s.at) >= max(s.every, s.pace) || now.Sub(s.changed) >= s.still
	}
}

// nothing records a build while no item type is known. The first list does not wait for as long as later ones.
func (s *schedule) nothing(began time.Time) { s.waits = began.Add(min(typesAgain, s.every)) }

// done records a list that was published, or found unchanged. Slow builds leave time to others, as long as that makes them no rarer
// than four times the pace.
func (s *schedule) done(began, asOf time.Time, took time.Duration) {
	s.at, s.built = began, asOf
	s.pace = min(took+took/time.Duration(s.rests), 4*s.every)
}
