package recount

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/truth"
)

const (
	retail = "../../test/testdata/online_retail/events.csv.gz"
	// moments at which lists are compared.
	moments = 20
	// everyHours: of the events of the year those of every third hour are replayed. Each hour takes a part of two tables, and
	// those take most of the time.
	everyHours = 3
)

// A recorded year as the watermark follows it: at twenty random moments the exact counts of 24 hours, 7 days, 30 days and all time
// are those of a brute-force count, and exact until the last closed hour. Of equal rows the later ones are retries of the first.
func testRecordedYear(t *testing.T, e *engine) {
	year := readRecorded(t)
	first := year.all[0].at.Truncate(day)
	r := e.recounter(func(c *Config) { c.KeepHours = 400 * day })
	arrived := first
	for _, until := range someMoments(first, year.all[len(year.all)-1].at) {
		events := year.sent(arrived, until.Add(10*time.Minute)) // some are of an hour that is not over
		e.insert(t, "topk.events", events...)
		arrived = later(arrived, until.Add(10*time.Minute))
		rounds(t, r, until.Add(10*time.Minute))

		cover, err := ReadTotalCover(t.Context(), e.conn)
		require.NoError(t, err)
		require.Equal(t, until, cover.ExactUntil)
		require.LessOrEqual(t, cover.Partitions(), 1+2+24, "all time is the total, the last days, and the hours of the last one")
		requireSame(t, year.count(first, until), e.top(t, cover, "product"), "all time until %s", until)
		for name, length := range map[string]time.Duration{"24h": day, "7d": 7 * day, "30d": 30 * day} {
			if from := until.Add(-length); !from.Before(first) {
				requireSame(t, year.count(from, until), e.exact(t, "product", from, until), "%s until %s", name, until)
			}
		}
	}
	check := e.sound(t)
	t.Logf("%d hours, %d days of which %d in the total", check.Hours, check.Days, check.Folded)
	require.Greater(t, check.Folded, uint64(365))
}

// someMoments are hours in their order, the last one the end of all.
func someMoments(first, last time.Time) []time.Time {
	random := rand.New(rand.NewPCG(3, 3))
	found := []time.Time{last.Truncate(time.Hour).Add(time.Hour)}
	for len(found) < moments {
		found = append(found, first.Add(time.Duration(1+random.IntN(int(last.Sub(first)/time.Hour)))*time.Hour))
	}
	slices.SortFunc(found, time.Time.Compare)
	return found
}

// recorded are events of the file, in order of time, with the retries among them.
type recorded struct {
	all   []event
	item  []int // of each event, -1 of a retry
	items []string
}

func readRecorded(t *testing.T) *recorded {
	t.Helper()
	rows, err := truth.ReadEvents(retail)
	require.NoError(t, err)
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Time.Before(rows[j].Time) })
	y := &recorded{}
	seen, known := map[truth.Event]bool{}, map[string]int{}
	for _, v := range rows {
		if v.Time.Hour()%everyHours != 0 {
			continue
		}
		v.Seq = 0
		id := fmt.Sprint(v.User, "-", v.Weight, "-", v.Kind, "-", v.Time.UnixMilli(), "-", v.Country)
		y.all = append(y.all, event{itemType: "product", id: v.Item, eventID: id[:min(len(id), 64)], country: v.Country, at: v.Time})
		if seen[v] {
			y.item = append(y.item, -1)
			continue
		}
		seen[v] = true
		if _, of := known[v.Item]; !of {
			known[v.Item] = len(y.items)
			y.items = append(y.items, v.Item)
		}
		y.item = append(y.item, known[v.Item])
	}
	return y
}

// between are the positions of [from, until).
func (y *recorded) between(from, until time.Time) (first, end int) {
	at := func(moment time.Time) int {
		n, _ := slices.BinarySearchFunc(y.all, moment, func(v event, at time.Time) int { return v.at.Compare(at) })
		return n
	}
	return at(from), at(until)
}

func (y *recorded) sent(from, until time.Time) []event {
	first, end := y.between(from, until)
	return y.all[first:max(first, end)]
}

func (y *recorded) count(from, until time.Time) []Count {
	first, end := y.between(from, until)
	counted := make([]uint64, len(y.items))
	for _, item := range y.item[first:end] {
		if item >= 0 {
			counted[item]++
		}
	}
	views := map[string]uint64{}
	for item, n := range counted {
		if n > 0 {
			views[y.items[item]] = n
		}
	}
	return ranked(views)
}
