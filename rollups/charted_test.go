package rollups

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Raw events stay until the final charts of their days are made, however old they are by then.
func TestDroppingEventsWaitsForCharts(t *testing.T) {
	const life = 30 * 24 * time.Hour
	asOf := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	var c charted
	require.True(t, c.eventsNotBefore(asOf, life).IsZero(), "nothing is known")
	open := asOf.Add(-10 * time.Hour)
	c.needed.Store(&open)
	require.Equal(t, asOf, c.eventsNotBefore(asOf, life))
	late := asOf.Add(-50 * 24 * time.Hour)
	c.needed.Store(&late)
	require.Equal(t, late, c.eventsNotBefore(asOf, life).Add(-life), "no event of that day is old enough")
}
