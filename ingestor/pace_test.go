package ingestor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFlushesFollowNewSeconds(t *testing.T) {
	const interval = 500 * time.Millisecond
	at := func(millis int) time.Time { return time.UnixMilli(1_764_547_200_000 + int64(millis)) }
	for name, test := range map[string]struct {
		began, turned, due int
	}{
		"no second is expected":                {began: 0, turned: -5000, due: 500},
		"a second is expected much later":      {began: 0, turned: 0, due: 500},
		"it waits for a second":                {began: 0, turned: -480, due: 520 + 125},
		"also for one that may be a bit late":  {began: 0, turned: -600, due: 400 + 125},
		"not for one that is later than a bit": {began: 0, turned: -300, due: 500},
	} {
		p := pacer{interval: interval, began: at(test.began), turned: at(test.turned)}
		require.Equal(t, at(test.due), p.due(), name)
	}
	p := pacer{interval: interval, began: at(0)}
	require.Equal(t, at(400), p.turn(at(400)), "a new second goes out at once")
	require.Equal(t, at(250), p.turn(at(100)), "unless a flush has just been")
	require.Equal(t, at(500), (&pacer{interval: interval, began: at(0)}).due(), "before any event")
}
