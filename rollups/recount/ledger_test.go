package recount

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// days makes ledger days from monday on. A count is how many hours are entered; of 24, the sum of the day holds and is folded.
func days(counts ...int) *ledger {
	l := &ledger{total: version{number: 900}, now: monday.AddDate(1, 0, 0)}
	for i, count := range counts {
		d := ledgerDay{day: monday.AddDate(0, 0, i)}
		for hour := range count {
			d.hours = append(d.hours, ledgerHour{d.day.Add(time.Duration(hour) * time.Hour), version{number: uint64(100*i + hour + 1)}, 10, false})
		}
		if count == hoursOfDay {
			d.sum, d.holds, d.folded = version{number: uint64(500 + i)}, true, uint64(500+i)
		}
		l.days = append(l.days, d)
	}
	return l
}

func TestExactUntilEndsAtTheFirstGap(t *testing.T) {
	at := func(day, hour int) time.Time { return monday.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour) }
	require.Equal(t, int64(0), days().exactUntil().Unix())
	require.Equal(t, at(0, 7), days(7).exactUntil())
	require.Equal(t, at(2, 3), days(24, 24, 3).exactUntil())
	require.Equal(t, at(1, 5), days(24, 5, 24).exactUntil(), "the third day lies behind a gap")
	require.Equal(t, at(1, 0), days(24, 0, 24).exactUntil())
	l := days(24, 24, 3)
	l.days[0].sealed, l.days[0].hours = true, nil
	require.Equal(t, at(2, 3), l.exactUntil(), "sealed days have no hours")
	l = days(24)
	l.days[0].hours = l.days[0].hours[10:]
	require.Equal(t, at(1, 0), l.exactUntil(), "nothing is known before the first hour")

	require.True(t, days().gaps(at(1, 0), nil))
	require.False(t, days(24, 3).gaps(at(1, 3), nil))
	require.True(t, days(24, 3).gaps(at(1, 4), nil))
	require.False(t, days(24, 3).gaps(at(1, 4), []time.Time{at(1, 3)}), "it has events")
	require.True(t, days(24, 3).gaps(at(1, 3), []time.Time{at(-1, 3)}), "there are quiet hours between")
}

func TestCoverTakesDaysWhereTheyHold(t *testing.T) {
	l := days(24, 24, 24, 5)
	l.days[1].holds = false // one of its hours was recounted
	c, err := l.cover(monday.Add(22*time.Hour), monday.AddDate(0, 0, 9))
	require.NoError(t, err)
	require.Equal(t, monday.AddDate(0, 0, 3).Add(5*time.Hour), c.Until)
	require.Equal(t, []uint64{502}, c.day)
	require.Len(t, c.hours, 2+24+5)
	require.Equal(t, uint64(23), c.hour[0])

	l.days[0].sealed = true
	_, err = l.cover(monday.Add(time.Hour), monday.AddDate(0, 0, 2))
	require.ErrorIs(t, err, ErrSealed)
	c, err = l.cover(monday, monday.Add(day))
	require.NoError(t, err)
	require.Equal(t, []uint64{500}, c.day)
	c, err = l.cover(monday.AddDate(0, 0, 5), monday.AddDate(0, 0, 6))
	require.NoError(t, err)
	require.Zero(t, c.Partitions(), "nothing is exact there")
	require.Equal(t, c.From, c.Until)
}

func TestAllTimeIsTheTotalAndWhatDiffers(t *testing.T) {
	l := days(24, 24, 24, 24, 5)
	l.days[1].holds = false                         // one of its hours was recounted
	l.days[2].sum.number, l.days[3].folded = 602, 0 // another sum than is folded; one that is not folded
	c, err := l.coverTotal(l.exactUntil())
	require.NoError(t, err)
	require.Equal(t, uint64(900), c.total)
	require.Equal(t, []uint64{501, 502}, c.lessDay)
	require.Equal(t, []uint64{602, 503}, c.day)
	require.Len(t, c.hours, 24+5)

	l = days(24, 3, 24)
	c, err = l.coverTotal(l.exactUntil())
	require.NoError(t, err)
	require.Equal(t, []uint64{502}, c.lessDay, "it lies behind a gap")
	require.Empty(t, c.day)
	require.Len(t, c.hours, 3)

	// What closed after the end that is asked for is taken out.
	l = days(24, 24, 24)
	c, err = l.coverTotal(monday.Add(30 * time.Hour))
	require.NoError(t, err)
	require.Equal(t, monday.Add(30*time.Hour), c.Until)
	require.Equal(t, []uint64{501, 502}, c.lessDay)
	require.Empty(t, c.day)
	require.Len(t, c.hours, 6)
	l.days[1].sealed = true
	_, err = l.coverTotal(monday.Add(30 * time.Hour))
	require.ErrorIs(t, err, ErrSealed)
}

func TestPartitionsThatNobodyReads(t *testing.T) {
	l := days(24, 24)
	old, fresh := l.now.Add(-time.Hour), l.now.Add(-time.Minute)
	l.total.since = old
	hour := l.days[1].hours[3]
	l.days[1].hours[3].version.since, l.days[1].hours[4].version.since = old, fresh
	l.days[0].sealed, l.days[0].hours, l.days[0].sum.since, l.days[1].sum.since = true, nil, old, old
	id := func(p partition, quiet time.Duration) partition { p.quiet = quiet; return p }
	at := func(table string, bucket time.Time, version uint64) partition {
		return partition{table: table, bucket: bucket, version: version, rows: largeRows}
	}
	gone := []partition{
		at(hourly, hour.at, hour.version.number-1), // replaced
		at(hourly, monday.Add(time.Hour), 2),       // its day is sealed
		id(at(hourly, hour.at, 1000), 2*time.Hour), // nobody entered it
		at(daily, l.days[1].day, 400),
		at(totals, time.Time{}, 800),
	}
	kept := []partition{
		at(hourly, hour.at, hour.version.number),
		at(hourly, l.days[1].hours[4].at, 1), // replaced a moment ago
		id(at(hourly, hour.at, 1000), time.Minute),
		at(daily, l.days[1].day, 501),
		at(totals, time.Time{}, 900),
	}
	require.Equal(t, gone, l.unused(append(gone[:len(gone):len(gone)], kept...), 10*time.Minute, time.Hour))
	require.ElementsMatch(t, []partition{kept[0], kept[3], kept[4]}, l.unmerged(append(gone[:len(gone):len(gone)], kept...)))

	l.days[1].folded = 400
	require.NotContains(t, l.unused(gone, 10*time.Minute, time.Hour), gone[3], "the total holds it")
	l.days[1].folded, l.total.since = 501, fresh
	require.NotContains(t, l.unused(gone, 10*time.Minute, time.Hour), gone[3], "the total before may still be read")
}

func TestBatchesAreBounded(t *testing.T) {
	size := func(n int) uint64 { return uint64(n) }
	require.Empty(t, batches(nil, 10, 3, size))
	require.Equal(t, [][]int{{4, 6}, {11}, {1, 1, 1}, {1, 8}, {9}}, batches([]int{4, 6, 11, 1, 1, 1, 1, 8, 9}, 10, 3, size))
}

func TestDaysAreSealedOnceNobodyEntersTheirHours(t *testing.T) {
	l := days(24, 24)
	entered, until := l.now.Add(-7*day), monday.Add(day)
	require.True(t, l.seals(until, entered))
	require.False(t, l.seals(monday, entered), "it is young")
	l.days[0].hours[7].version.since = entered.Add(time.Second)
	require.False(t, l.seals(until, entered), "an hour was entered")
	require.True(t, l.seals(until.Add(day), entered), "not of the other")
	require.True(t, l.seals(until, entered.Add(time.Second)))
	l.days[0].holds = false
	require.False(t, l.seals(until, l.now))
}

func TestEventsAreKeptForLateOnes(t *testing.T) {
	require.NoError(t, DefaultConfig().Validate(leastKeepEvents))
	require.ErrorContains(t, DefaultConfig().Validate(leastKeepEvents-time.Second), "keep-events: 48h59m59s is shorter than 49h0m0s")
	c := DefaultConfig()
	c.SealAfter = -1
	require.ErrorContains(t, c.Validate(leastKeepEvents), "seal-after: ")
}
