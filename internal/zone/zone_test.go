package zone

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func load(t testing.TB, name string) *time.Location {
	t.Helper()
	location, err := Load(name)
	require.NoError(t, err)
	return location
}

func parse(t testing.TB, text string) Day {
	t.Helper()
	day, err := ParseDay(text)
	require.NoError(t, err)
	return day
}

func TestBounds(t *testing.T) {
	for _, c := range []struct{ zone, day, from, until string }{
		{"UTC", "2026-11-29", "2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z"},
		{"Asia/Kolkata", "2026-11-29", "2026-11-28T18:30:00Z", "2026-11-29T18:30:00Z"},
		{"Asia/Kathmandu", "2026-11-29", "2026-11-28T18:15:00Z", "2026-11-29T18:15:00Z"},
		{"America/New_York", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"},    // 23 hours
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},    // 25 hours
		{"Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00Z", "2026-04-05T13:30:00Z"}, // 24 and a half
		{"Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30:00Z", "2026-10-04T13:00:00Z"}, // 23 and a half
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},   // midnight is skipped
		{"America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"},   // 23 to 24 o'clock comes twice
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},      // midnight comes twice
		{"America/St_Johns", "2010-11-07", "2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"},    // back to the evening before, at 00:01
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"}, // left out
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"},
		{"Pacific/Kiritimati", "2026-01-01", "2025-12-31T10:00:00Z", "2026-01-01T10:00:00Z"},
		{"Etc/GMT+12", "2026-01-01", "2026-01-01T12:00:00Z", "2026-01-02T12:00:00Z"},
		{"Asia/Kolkata", "1970-01-01", "1969-12-31T18:30:00Z", "1970-01-01T18:30:00Z"},
		{"America/New_York", "2090-07-01", "2090-07-01T04:00:00Z", "2090-07-02T04:00:00Z"},
	} {
		from, until := parse(t, c.day).Bounds(load(t, c.zone))
		require.Equal(t, c.from, from.Format(time.RFC3339), "%s in %s", c.day, c.zone)
		require.Equal(t, c.until, until.Format(time.RFC3339), "%s in %s", c.day, c.zone)
	}
}

// Days of a zone neither overlap nor leave an instant out, and clocks show the date at both of its ends.
func TestDaysPartitionTime(t *testing.T) {
	for _, name := range []string{"UTC", "Asia/Kathmandu", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Asuncion",
		"Asia/Beirut", "Pacific/Apia", "Pacific/Kwajalein", "Antarctica/Troll", "America/Sao_Paulo", "Asia/Tehran", "Europe/Dublin"} {
		location := load(t, name)
		day := parse(t, "1990-01-01")
		_, last := parse(t, "1989-12-31").Bounds(location)
		for range 30 * 365 {
			from, until := day.Bounds(location)
			whole := last.Equal(from) && until.Sub(from) <= 26*time.Hour
			if !from.Equal(until) {
				whole = whole && DayOf(from, location) == day && DayOf(until.Add(-time.Nanosecond), location) == day
			}
			if !whole {
				require.Fail(t, "not a day", "%s in %s: %s to %s, after %s", day, name, from, until, last)
			}
			day, last = day.Next(), until
		}
	}
}

func TestLoadTakesNamesOfTheDatabaseOnly(t *testing.T) {
	for _, name := range []string{"UTC", "Asia/Kolkata", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "EST5EDT"} {
		load(t, name)
	}
	for _, name := range []string{"", "Local", "localtime", "Asia/Kolkatta", "asia/", "/UTC", "../UTC", "Asia/../UTC", "right/UTC", "posix/UTC",
		"+05:30", "UTC+5", "UTC\x00", "Asia\\Kolkata", "a/b/c/d", "tzdata.zi", strings.Repeat("A", 65)} {
		_, err := Load(name)
		require.ErrorContains(t, err, "is not a time zone of the tz database", name)
	}
}

func TestParseDay(t *testing.T) {
	require.Equal(t, "2024-02-29", parse(t, "2024-02-28").Next().String())
	require.True(t, parse(t, "2024-02-29").Before(parse(t, "2024-03-01")))
	for _, text := range []string{"", "2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-01-01T00:00:00Z", "2026-01-01 ", "today", "1969-12-31",
		"2101-01-01", "0000-01-01", "20260101", "2026-01-0１", strings.Repeat("1", 100)} {
		_, err := ParseDay(text)
		require.ErrorContains(t, err, "is not a date", text)
	}
}
