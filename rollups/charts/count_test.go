package charts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stream is n random events in [from, until): some sent twice, some flagged, some viewers who cannot stop, some without a name.
func stream(random *rand.Rand, itemType string, n int, from, until time.Time) []event {
	var events []event
	for i := range n {
		v := event{itemType: itemType, id: fmt.Sprint("i", random.IntN(1+random.IntN(60))), eventID: fmt.Sprint(from.Unix(), "-", i),
			viewer:  []string{"", "fan", "fan of i0", fmt.Sprint("u", random.IntN(400))}[random.IntN(4)],
			flagged: random.IntN(20) == 0, at: from.Add(time.Duration(random.Int64N(int64(until.Sub(from)/time.Millisecond))) * time.Millisecond)}
		if v.viewer == "fan" {
			v.id = fmt.Sprint("i", random.IntN(3))
		}
		events = append(events, v)
		if random.IntN(10) == 0 {
			events = append(events, v)
		}
	}
	return events
}

// Every kind of day: whole, 23 and 25 hours long, off by half an hour and three quarters, half an hour longer and shorter.
func testEqualBruteForce(t *testing.T, e *engines) {
	days := []struct {
		zone, day string
		hours     float64
	}{
		{utc, "2026-11-29", 24}, {kolkata, "2026-11-29", 24}, {"Asia/Kathmandu", "2026-11-27", 24},
		{"America/New_York", "2026-03-08", 23}, {"America/New_York", "2026-11-01", 25},
		{"Australia/Lord_Howe", "2026-04-05", 24.5}, {"Australia/Lord_Howe", "2026-10-04", 23.5},
	}
	random := rand.New(rand.NewPCG(1, 2))
	var first, second []event
	for n, d := range days {
		from, until := parse(t, d.day).Bounds(load(t, d.zone))
		require.InDelta(t, d.hours, until.Sub(from).Hours(), 0)
		events := stream(random, "video", 1500, from.Add(-2*time.Hour), until.Add(2*time.Hour))
		events = append(events, stream(random, "sound", 100, from, until)...)
		for i, at := range []time.Time{from.Add(-time.Millisecond), from, from.Add(time.Millisecond), until.Add(-time.Millisecond), until} {
			events = append(events, event{"video", fmt.Sprint("edge", i), "1", "", at, false})
		}
		// One viewer whose hour lies on both sides of the edge of a day, and items whose names are not plain.
		for i := range 12 {
			events = append(events, event{"video", "across", fmt.Sprint(n, i), "fan", from.Add(time.Duration(i-6) * time.Second), false})
		}
		for i, id := range []string{"", "a b", `"quoted'\`, "日本語", "edge", strings.Repeat("x", 256)} {
			events = append(events, event{"video", id, "1", strings.Repeat("v", 64*(i%2)), from.Add(time.Hour), false})
		}
		half := len(events) / 2
		first, second = append(first, events[:half]...), append(second, events[half:]...)
		second = append(second, events[:50]...) // again, in another block
		late := events[60]
		late.flagged = !late.flagged
		second = append(second, late)
	}
	e.send(t, first...)
	e.send(t, second...)
	for _, limit := range []int{3, 0} {
		e.exec(t, "TRUNCATE charts, chart_days")
		m := e.maker()
		m.config.Cap = uint64(limit)
		for _, d := range days {
			from, until := parse(t, d.day).Bounds(load(t, d.zone))
			e.enterHours(t, from, until)
			result, err := m.Make(t.Context(), e.db, d.zone, parse(t, d.day))
			require.NoError(t, err)
			require.False(t, result.Provisional)
			for _, itemType := range []string{"video", "sound"} {
				got := e.chart(t, itemType, d.zone, d.day)
				same(t, e.truth(itemType, load(t, d.zone), d.day, until, limit), got)
				require.Equal(t, []time.Time{from, until, until}, []time.Time{got.From, got.Until, got.AsOf})
				require.Equal(t, uint64(limit), got.Cap)
			}
		}
	}
	capped, all := e.truth("video", time.UTC, "2026-11-29", monday.AddDate(1, 0, 0), 3), e.truth("video", time.UTC, "2026-11-29", monday.AddDate(1, 0, 0), 0)
	require.Less(t, capped.Total+100, all.Total, "the cap has something to do")
}

// enterHours enters every hour that overlaps [from, until) in the ledger.
func (e *engines) enterHours(t *testing.T, from, until time.Time) {
	t.Helper()
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why)
		SELECT toStartOfHour(toDateTime('%s', 'UTC')) + 3600 * number AS hour, toUnixTimestamp64Micro(now64(6)),
		       (SELECT count() FROM topk.events), 1, 1, 'closed'
		FROM numbers(27) WHERE hour < toDateTime('%s', 'UTC')`, from.Format(time.DateTime), until.Format(time.DateTime)))
}

func testTypesAreBounded(t *testing.T, e *engines) {
	var events []event
	for i := range maxTypes + 5 {
		for n := range 2 + i%2 {
			events = append(events, event{fmt.Sprintf("t%03d", i), "a", fmt.Sprint(n), "", monday.Add(time.Minute), false})
		}
	}
	e.send(t, events...)
	e.round(t, e.maker(utc), monday.Add(time.Hour))
	stored := e.revisions(t, utc, "2026-03-02")
	require.Len(t, stored, maxTypes)
	for i := 1; i < maxTypes+5; i += 2 {
		require.Contains(t, stored, fmt.Sprintf("t%03d 1 provisional", i), "the busier half")
	}
}

// Only the hours that overlap the day are read, twice: once for its item types.
func testReadsItsHoursOnly(t *testing.T, e *engines) {
	e.send(t, stream(rand.New(rand.NewPCG(9, 9)), "video", 5000, monday.AddDate(0, 0, -2), monday.AddDate(0, 0, 3))...)
	from, until := parse(t, "2026-03-02").Bounds(load(t, kolkata))
	p := url.Values{"param_from": {from.Format(time.DateTime)}, "param_until": {until.Format(time.DateTime)}, "param_cap": {"3"}, "param_k": {"9"},
		"param_types": {"9"}, "wait_end_of_query": {"1"}}
	for name, value := range settings {
		p.Set(name, fmt.Sprint(value))
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL+"/?"+p.Encode(), strings.NewReader(questions.Text("count_day")))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	require.Equal(t, http.StatusOK, response.StatusCode, string(body))
	var summary struct {
		Rows int `json:"read_rows,string"`
	}
	require.NoError(t, json.Unmarshal([]byte(response.Header.Get("X-ClickHouse-Summary")), &summary))
	hours := e.Query(t, fmt.Sprintf("SELECT count() FROM topk.events WHERE toStartOfHour(event_time) >= '%s' AND toStartOfHour(event_time) < '%s'",
		from.Truncate(time.Hour).Format(time.DateTime), until.Format(time.DateTime)))
	require.Equal(t, hours, fmt.Sprint(summary.Rows/2))
}

// Another cap is for days to come: what an official chart counts changes with its events only.
func testCapStays(t *testing.T, e *engines) {
	asOf := monday.Add(25 * time.Hour)
	for i := range 5 {
		e.send(t, event{"video", "a", fmt.Sprint(i), "fan", monday, false})
	}
	e.round(t, e.maker(utc), monday.Add(time.Minute))
	require.Equal(t, uint64(3), e.chart(t, "video", utc, "2026-03-02").Total)
	e.recount(t, asOf)
	m := e.maker(utc)
	m.config.Cap = 4
	e.round(t, m, monday.Add(24*time.Hour))
	require.Equal(t, uint64(4), e.chart(t, "video", utc, "2026-03-02").Total, "it was provisional")
	m.config.Cap = 1
	e.send(t, event{"video", "a", "late", "", monday, false})
	e.recount(t, asOf)
	e.round(t, m, monday.Add(24*time.Hour))
	got := e.chart(t, "video", utc, "2026-03-02")
	require.Equal(t, []uint64{5, 4}, []uint64{got.Total, got.Cap})
}
