package rollups

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hours is as_of of recorded or live data, from the start of an hour.
func hours(d time.Duration) time.Time { return at(0).Truncate(time.Hour).Add(d) }

// The list of exactly the end of an hour is made as soon as the watermark has passed it, then everything goes on as usual.
func TestScheduleMakesTheListOfEachHoursEnd(t *testing.T) {
	s := newSchedule(45*time.Second, time.Hour, ClockWall)
	start := hours(59 * time.Minute)
	var built []time.Time
	for tick := range 5 * 150 { // two and a half minutes, live
		now := start.Add(time.Duration(tick) * 200 * time.Millisecond)
		asOf, due := s.next(now, now.Add(-2*time.Second).Truncate(time.Second))
		if due {
			built = append(built, asOf)
			s.done(now, asOf, 300*time.Millisecond)
		}
	}
	require.Equal(t, []time.Time{
		hours(58*time.Minute + 58*time.Second), hours(59*time.Minute + 43*time.Second), hours(time.Hour), hours(time.Hour + 45*time.Second),
	}, built)
}

// A stream that jumps gets the list of the newest end that it has passed; those in between have none.
func TestScheduleOfAStreamThatJumps(t *testing.T) {
	s := newSchedule(45*time.Second, time.Hour, ClockEvent)
	now := at(0)
	asOf, due := s.next(now, hours(30*time.Minute))
	require.True(t, due)
	require.Equal(t, hours(30*time.Minute), asOf, "the first list is the newest: nobody knows what was before")
	s.done(now, asOf, 0)
	_, due = s.next(now.Add(endPause-time.Millisecond), hours(5*time.Hour+30*time.Minute))
	require.False(t, due, "recorded data passes an hour in no time")
	now = now.Add(endPause)
	asOf, due = s.next(now, hours(5*time.Hour+30*time.Minute))
	require.True(t, due)
	require.Equal(t, hours(5*time.Hour), asOf)
	s.done(now, asOf, 0)
	asOf, due = s.next(now, hours(6*time.Hour+30*time.Minute))
	require.Equal(t, hours(6*time.Hour), asOf)
	require.False(t, due, "the list of another end waits")
	now = now.Add(endPause)
	asOf, due = s.next(now, hours(6*time.Hour+30*time.Minute))
	require.True(t, due)
	require.Equal(t, hours(6*time.Hour), asOf)
	s.done(now, asOf, 0)
	asOf, due = s.next(now, hours(6*time.Hour+30*time.Minute))
	require.True(t, due, "the newest list follows at once")
	require.Equal(t, hours(6*time.Hour+30*time.Minute), asOf)
	s.done(now, asOf, 0)
	_, due = s.next(now.Add(reviseEvery-time.Millisecond), hours(6*time.Hour+30*time.Minute))
	require.False(t, due)
}

// A worker that takes over makes up for the end that passed meanwhile, and only for that.
func TestScheduleResumes(t *testing.T) {
	s := newSchedule(45*time.Second, time.Hour, ClockWall)
	s.resume(hours(50 * time.Minute))
	asOf, due := s.next(at(0), hours(time.Hour+10*time.Second))
	require.True(t, due)
	require.Equal(t, hours(time.Hour), asOf)
	s.nothing(at(0), asOf)
	_, due = s.next(at(1000), hours(time.Hour+11*time.Second))
	require.False(t, due)
	asOf, due = s.next(at(typesAgain.Milliseconds()), hours(time.Hour+13*time.Second))
	require.True(t, due)
	require.Equal(t, hours(time.Hour+13*time.Second), asOf, "no item type had views before the end")

	s = newSchedule(45*time.Second, time.Hour, ClockWall)
	s.resume(hours(time.Hour))
	asOf, _ = s.next(at(0), hours(time.Hour+10*time.Second))
	require.Equal(t, hours(time.Hour+10*time.Second), asOf, "there is a list of that end")
}

// Live lists do not wait for ever for an end that cannot be made.
func TestScheduleGivesUpAnEnd(t *testing.T) {
	newest := hours(time.Hour + 10*time.Second)
	s := newSchedule(45*time.Second, time.Hour, ClockWall)
	s.resume(hours(50 * time.Minute))
	for range endAttempts {
		asOf, due := s.next(at(0), newest)
		require.True(t, due)
		require.Equal(t, hours(time.Hour), asOf)
		s.fail(newest, errors.New("of another list"))
		s.fail(asOf, errors.New("away"))
	}
	asOf, _ := s.next(at(0), newest)
	require.Equal(t, newest, asOf)
	s.done(at(0), asOf, 0)

	next := newest.Add(time.Hour)
	asOf, _ = s.next(at(5000), next)
	require.Equal(t, hours(2*time.Hour), asOf)
	s.fail(asOf, ErrNotKept)
	asOf, _ = s.next(at(5000), next)
	require.Equal(t, next, asOf, "it would fail again")
}

// Windows that are not graded know no ends.
func TestScheduleWithoutEnds(t *testing.T) {
	s := newSchedule(time.Second, 0, ClockWall)
	s.resume(hours(50 * time.Minute))
	asOf, due := s.next(at(0), hours(time.Hour+10*time.Second))
	require.True(t, due)
	require.Equal(t, hours(time.Hour+10*time.Second), asOf)
}
