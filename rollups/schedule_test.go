package rollups

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

func TestScheduleFollowsAPaceAndEndsAtOnce(t *testing.T) {
	now := at(0)
	s := newSchedule(5*time.Second, 0, ClockWall)
	require.False(t, s.due(now, time.Time{}), "nothing is known")
	require.True(t, s.due(now, at(0)), "the first list is made at once")
	s.done(now, at(0), 0)
	builds := 0
	for second := range int64(20) { // as_of moves with the clock
		for tick := range int64(5) {
			now = at(second*1000 + tick*200)
			if s.due(now, at(second*1000)) {
				s.done(now, at(second*1000), 0)
				builds++
			}
		}
	}
	require.Equal(t, 3, builds, "every five seconds, not at every step")
	require.False(t, s.due(at(19_900), at(3_000)), "as_of never moves back")

	end := at(90_000_000) // recorded data comes to its end
	require.True(t, s.due(at(20_500), end), "five seconds have passed")
	s.done(at(20_500), end.Add(-time.Second), 0)
	require.False(t, s.due(at(21_000), end))
	require.True(t, s.due(at(25_500), end), "it stands still, and every window ends there")
	s.done(at(25_500), end, 0)
	require.False(t, s.due(at(30_400), end))
	require.True(t, s.due(at(30_500), end), "late events may have changed it")
}

func TestScheduleSpacesOutSlowBuilds(t *testing.T) {
	s := newSchedule(time.Second, 0, ClockWall)
	require.True(t, s.due(at(0), at(0)))
	s.done(at(0), at(0), 600*time.Millisecond)
	require.False(t, s.due(at(999), at(1_000)))
	require.True(t, s.due(at(1_000), at(1_000)), "one second apart")
	s.done(at(1_000), at(1_000), 1500*time.Millisecond)
	require.False(t, s.due(at(2_900), at(2_000)))
	require.True(t, s.due(at(3_000), at(2_000)), "a quarter of the time is left to others")
	s.done(at(3_000), at(2_000), 10*time.Second)
	require.False(t, s.due(at(6_900), at(2_500)))
	require.True(t, s.due(at(7_000), at(2_500)), "but for very slow ones")

	s = newSchedule(100*time.Millisecond, 0, ClockEvent)
	require.True(t, s.due(at(0), at(0)))
	s.done(at(0), at(0), 600*time.Millisecond)
	require.False(t, s.due(at(100), at(900_000)))
	s.seen, s.changed = at(1_800_000), at(1_150)
	require.False(t, s.due(at(1_150), at(1_800_000)), "half of the time while recorded data is read")
	require.True(t, s.due(at(1_200), at(1_800_000)))
}

func TestFirstListComesSoonAfterTheFirstEvent(t *testing.T) {
	s := newSchedule(time.Minute, 0, ClockWall)
	require.True(t, s.due(at(0), at(0)))
	s.nothing(at(0), at(0))
	require.False(t, s.due(at(1_000), at(1_000)), "no event is looked for all the time")
	require.True(t, s.due(at(typesAgain.Milliseconds()), at(2_000)))
}

func TestConfigNamesEveryMistake(t *testing.T) {
	require.NoError(t, DefaultConfig().Validate())
	err := Config{Clock: "sun"}.Validate()
	for _, name := range []string{"clickhouse:", "postgres:", "listen:", "clock:", "ingestor-timeout:", "verify-timeout:", "every 1m:", "keep-versions 1h:", "keep-counts:"} {
		require.ErrorContains(t, err, name)
	}
	for _, w := range list.Live {
		require.Less(t, DefaultConfig().Every[w.Name], w.Every, "%s is overdue after that", w.Name)
	}
}
