package zone

import (
	"fmt"
	"time"
)

// Day is a date of the calendar, wherever.
type Day struct {
	midnight time.Time // of that date in UTC
}

// firstYear is the first whose instants all stores can hold, lastYear the last.
const (
	firstYear = 1970
	lastYear  = 2100
)

// ParseDay reads a date such as 2026-11-29.
func ParseDay(text string) (Day, error) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Day{}, fmt.Errorf("%q is not a date such as 2026-11-29", shorten(text))
	}
	if at.Year() < firstYear || at.Year() > lastYear {
		return Day{}, fmt.Errorf("%q is not a date from %d to %d", text, firstYear, lastYear)
	}
	return Day{at}, nil
}

// DayOf is the date that an instant has in a zone.
func DayOf(at time.Time, location *time.Location) Day {
	year, month, day := at.In(location).Date()
	return Day{time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}
}

// String is the date as ParseDay reads it.
func (d Day) String() string { return d.midnight.Format(time.DateOnly) }

// Next is the following date.
func (d Day) Next() Day { return Day{d.midnight.AddDate(0, 0, 1)} }

// Before says whether d is the earlier date.
func (d Day) Before(other Day) bool { return d.midnight.Before(other.midnight) }

// Bounds are the first instant of the day in a zone, and that of the following day: from <= t < until, in UTC. They are 23 to 25
// hours apart as a rule. Days neither overlap nor leave anything out: where clocks are set back across midnight, the hour that
// is lived twice belongs to the day that had begun. from equals until where a zone leaves a date out, as it
// did in going to the other side of the date line.
func (d Day) Bounds(location *time.Location) (from, until time.Time) {
	return d.begin(location), d.Next().begin(location)
}

// maxOffset is more than any zone's distance from UTC, and than any step of its clocks.
const maxOffset = 48 * time.Hour

// begin is the first instant at which a zone's date is d or later. Clocks may skip midnight, or show it twice, so
// it is looked for from one change of clocks to the next. time.Date would choose either side.
func (d Day) begin(location *time.Location) time.Time {
	at := d.midnight.Add(-maxOffset).In(location)
	for {
		_, seconds := at.Zone()
		midnight := d.midnight.Add(-time.Duration(seconds) * time.Second)
		if !midnight.After(at) { // a change of clocks went past it
			return at.UTC()
		}
		_, change := at.ZoneBounds()
		if change.IsZero() || midnight.Before(change) {
			return midnight
		}
		at = change
	}
}
