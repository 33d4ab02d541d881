package rollups

import (
	"errors"
	"time"
)

const (
	// reviseEvery is how often a list is built anew for an as_of that stands still: events that come late change it.
	reviseEvery = 5 * time.Second
	// Watermarks of the wall clock move every second, those of recorded data as fast as it is read. One that has stood still
	// for longer has come to its end, and is published at once by every window. On the wall clock it may also stand still because
	// the machine has too much to do, which more building would make worse.
	stillWall  = 5 * time.Second
	stillEvent = 300 * time.Millisecond
	// endPause is the least time between a build and one for an end that has passed since: recorded data passes an hour in no time.
	endPause = time.Second
	// endAttempts that fail, and the live lists wait no longer for one that is to be graded. It is about a minute (lastBackoff).
	endAttempts = 10
)

// schedule decides when a window is built, and for which as_of: the newest, but first for an end that it has passed, such as that of
// an hour, because the list of exactly that time is graded later.
type schedule struct {
	every  time.Duration // least time between two builds
	still  time.Duration
	period time.Duration // ends are its multiples; 0 for a window that is not graded
	revise time.Duration // least time between two builds for the same as_of
	rests  int           // a slow build is followed by a pause of its time divided by this

	seen    time.Time // newest as_of
	changed time.Time // when it was first seen
	built   time.Time // as_of of the last list
	at      time.Time // when that was begun
	pace    time.Duration
	waits   time.Time // not before

	passed time.Time // ends up to it are behind: lists were made since, or none can be made
	ended  bool      // the last list was that of an end
	failed int       // builds for the end that is next
}

func newSchedule(every, period time.Duration, clock string) *schedule {
	if clock == ClockEvent {
		// as_of moves by hours a second while recorded data is read: lists of moments in between are not worth the machine.
		return &schedule{every: max(every, time.Second), period: period, still: stillEvent, revise: reviseEvery, rests: 1}
	}
	return &schedule{every: every, period: period, still: stillWall, revise: reviseEvery, rests: 3}
}

// resume says that lists up to asOf have been made before: an end after it is made up for. Without, the first list is the newest.
func (s *schedule) resume(asOf time.Time) { s.passed = asOf }

// next says for which as_of to build now, the newest being asOf, and whether to. It never asks for an as_of before the last one.
func (s *schedule) next(now, asOf time.Time) (time.Time, bool) {
	due := s.due(now, asOf)
	end, ok := s.end(asOf)
	if !ok || now.Before(s.waits) {
		return asOf, due
	}
	return end, due && !s.ended || now.Sub(s.at) >= max(endPause, s.pace)
}

// end is the newest end up to asOf, if it has passed since the last list. Earlier ones that passed with it have no list.
func (s *schedule) end(asOf time.Time) (time.Time, bool) {
	if s.period == 0 || s.passed.IsZero() || asOf.IsZero() {
		return time.Time{}, false
	}
	end := asOf.Truncate(s.period)
	return end, end.After(s.passed)
}

// due says whether to build for asOf now.
func (s *schedule) due(now, asOf time.Time) bool {
	if asOf.After(s.seen) {
		s.seen, s.changed = asOf, now
	}
	switch {
	case asOf.IsZero() || asOf.Before(s.built) || now.Before(s.waits):
		return false
	case asOf.Equal(s.built):
		return now.Sub(s.at) >= max(s.every, s.revise)
	case s.ended && asOf.Sub(s.built) >= s.every:
		return now.Sub(s.at) >= s.pace // the end was long ago: the newest list follows at once
	default:
		return s.built.IsZero() || now.Sub(s.at) >= max(s.every, s.pace) || now.Sub(s.changed) >= s.still
	}
}

// nothing records a build for asOf while no item type is known. The first list does not wait for as long as later ones.
func (s *schedule) nothing(began, asOf time.Time) {
	s.waits = began.Add(min(typesAgain, s.every))
	if !s.passed.IsZero() {
		s.pass(asOf)
	}
}

// done records a list that was published, or found unchanged. Slow builds leave time to others, as long as that makes them no rarer
// than four times the pace.
func (s *schedule) done(began, asOf time.Time, took time.Duration) {
	end, ok := s.end(asOf)
	s.ended = ok && end.Equal(asOf)
	s.at, s.built = began, asOf
	s.pace = min(took+took/time.Duration(s.rests), 4*s.every)
	s.pass(asOf)
}

// fail records a build for asOf that failed. ErrNotKept will fail again; anything else, a few times.
func (s *schedule) fail(asOf time.Time, err error) {
	if end, ok := s.end(asOf); !ok || !end.Equal(asOf) {
		return
	}
	if s.failed++; s.failed >= endAttempts || errors.Is(err, ErrNotKept) {
		s.pass(asOf)
	}
}

func (s *schedule) pass(asOf time.Time) {
	if asOf.After(s.passed) {
		s.passed, s.failed = asOf, 0
	}
}
