package recount

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An hour is recounted again and again, with counts that are all of one size in each version, while readers go on: none ever
// sees two sizes at once, or an item missing.
func testReadersNeverSeeAMixture(t *testing.T, e *engine) {
	const items, versions = 200, 10
	asOf := monday.Add(26 * time.Hour)
	e.send(t, stream(1, "other", 50, 24, 12)...)
	rounds(t, e.recounter(), asOf)
	hour := monday.Add(3 * time.Hour)
	write := func(version int) {
		e.Query(t, fmt.Sprintf("INSERT INTO topk.counts_hourly SELECT 'video', toString(number), '%s', %d, 'IN', '', '', %d FROM numbers(%d)",
			hour.Format(time.DateTime), 2_000_000_000_000_000+version, version, items))
		e.Query(t, fmt.Sprintf("INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) VALUES ('%s', %d, %d, %d, %d, 'test')",
			hour.Format(time.DateTime), 2_000_000_000_000_000+version, items*version, items*version, items))
	}
	write(1)
	uniform := func(counts []Count) error {
		if len(counts) != items {
			return fmt.Errorf("%d items", len(counts))
		}
		for _, c := range counts {
			if c.Views != counts[0].Views {
				return fmt.Errorf("%d and %d", c.Views, counts[0].Views)
			}
		}
		return nil
	}
	readers := map[string]func() error{
		"hours": func() error {
			cover, err := ReadCover(context.Background(), e.conn, hour, hour.Add(2*time.Hour))
			if err != nil {
				return err
			}
			counts, err := cover.Top(context.Background(), e.conn, "video", items+1, budget)
			if err != nil {
				return err
			}
			return uniform(counts)
		},
		"all time": func() error {
			cover, err := ReadTotalCover(context.Background(), e.conn)
			if err != nil {
				return err
			}
			counts, err := cover.Top(context.Background(), e.conn, "video", items+1, budget)
			if err != nil {
				return err
			}
			return uniform(counts)
		},
		"the view": func() error {
			answer, err := e.Try("SELECT count(), min(n), max(n) FROM topk.exact_hourly WHERE item_type = 'video'")
			if err != nil {
				return err
			}
			if f := strings.Fields(answer); f[0] != strconv.Itoa(items) || f[1] != f[2] {
				return fmt.Errorf("%s", answer)
			}
			return nil
		},
	}
	require.Eventually(t, func() bool { return readers["the view"]() == nil }, 10*time.Second, 50*time.Millisecond)
	done := make(chan struct{})
	var running sync.WaitGroup
	failed := make(chan error, len(readers))
	for name, look := range readers {
		running.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					if n < 5 {
						failed <- fmt.Errorf("%s was read %d times only", name, n)
					}
					return
				default:
				}
				if err := look(); err != nil {
					failed <- fmt.Errorf("%s: %w", name, err)
					return
				}
			}
		})
	}
	keeping := e.recounter(func(c *Config) { c.KeepVersions = time.Minute })
	for version := 2; version <= versions; version++ {
		write(version)
		rounds(t, keeping, asOf)
	}
	close(done)
	running.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
	e.sound(t)
}

var readRows = regexp.MustCompile(`"read_rows":"(\d+)"`)

// A recount of one hour reads that hour's rows and hardly any more, however many other hours there are.
func testRecountReadsItsHour(t *testing.T, e *engine) {
	for _, part := range []struct{ hour, first int }{{2, 0}, {3, 0}, {4, 0}, {4, 45_000}, {4, 90_000}, {5, 0}, {6, 0}} {
		e.Query(t, fmt.Sprintf(`INSERT INTO topk.events (event_id, item_type, item_id, event_time)
			SELECT toString(number), 'video', toString(number %% 5000), toDateTime64('2026-03-02 00:00:00', 3, 'UTC') + %d + number / 50 FROM numbers(%d, 50000)`,
			part.hour*3600, part.first))
	}
	kept, err := strconv.Atoi(e.Query(t, "SELECT sum(rows) FROM system.parts WHERE table = 'events' AND active AND partition = '2026-03-02 04:00:00'"))
	require.NoError(t, err)
	p := url.Values{"param_hours": {"['2026-03-02 04:00:00']"}, "param_version": {"7"}, "wait_end_of_query": {"1"}}
	for name, value := range settings {
		p.Set(name, fmt.Sprint(value))
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL+"/?"+p.Encode(), strings.NewReader(questions.Text("count_hours")))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode, string(body))
	found := readRows.FindStringSubmatch(response.Header.Get("X-ClickHouse-Summary"))
	require.NotNil(t, found)
	read, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	require.GreaterOrEqual(t, read, kept/2)
	require.LessOrEqual(t, read, kept*12/10)
	require.Equal(t, "140000", e.Query(t, "SELECT sum(n) FROM topk.counts_hourly FINAL"))
}

// The statement of migrations/README.md rebuilds the live states of an hour from raw events. Sketches are filled from them.
func testLiveStatesAreRebuilt(t *testing.T, e *engine) {
	hour := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	events := stream(1, "video", 500, 1, 1)
	for i := range events {
		events[i].at = events[i].at.Add(hour.Sub(monday))
	}
	e.send(t, events...)
	e.send(t, events[:100]...)
	blocks := statements(t, "../../migrations/README.md")
	require.Len(t, blocks, 1)
	e.Query(t, blocks[0])
	var want, got uint64
	for _, c := range e.truth("video", hour, hour.Add(time.Hour)) {
		want += c.Views
	}
	for _, question := range []string{"SELECT sum(n) FROM topk.counts_second FINAL", "SELECT sum(n) FROM topk.counts_minute",
		"SELECT sum(applied) FROM topk.topk_10s"} {
		_, err := fmt.Sscan(e.Query(t, question), &got)
		require.NoError(t, err)
		require.Equal(t, want, got, question)
	}
}

// total_parts and the ledger's reader name the same partitions, whatever state days are in.
func testViewsAgree(t *testing.T, e *engine) {
	r := e.recounter()
	asOf := monday.Add(5*day + time.Hour)
	e.send(t, stream(1, "video", 200, 5*24, 10)...)
	agree := func(when string) {
		t.Helper()
		cover, err := ReadTotalCover(t.Context(), e.conn)
		require.NoError(t, err)
		var named []string
		name := func(part, sign string, buckets []time.Time, versions []uint64) {
			for i, at := range buckets {
				named = append(named, fmt.Sprintf("%s\t%s\t%d\t%s", part, at.Format(time.DateTime), versions[i], sign))
			}
		}
		name("day", "1", cover.days, cover.day)
		name("day", "-1", cover.less, cover.lessDay)
		name("hour", "1", cover.hours, cover.hour)
		if cover.total != 0 {
			name("total", "1", []time.Time{time.Unix(0, 0).UTC()}, []uint64{cover.total})
		}
		slices.Sort(named)
		require.Equal(t, strings.Join(named, "\n"), e.Query(t, "SELECT * FROM topk.total_parts ORDER BY concat(part, '\\t', toString(bucket), '\\t', toString(version), '\\t', toString(sign))"), when)
	}
	agree("nothing is known")
	for _, step := range []string{"count_days", "enter_total"} {
		r.stage = func(name string) error {
			if name == step {
				return errDied
			}
			return nil
		}
		require.ErrorIs(t, work(t, r, asOf), errDied)
		agree("before " + step)
	}
	rounds(t, e.recounter(), asOf)
	agree("all is added up")
	for hour, version := range map[string]int{"2026-03-02 10:00:00": 2_000_000_000_000_000, "2026-03-05 00:00:00": 2_000_000_000_000_001} {
		e.Query(t, fmt.Sprintf("INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) VALUES ('%s', %d, 0, 0, 0, 'by hand')", hour, version))
	}
	agree("hours of a folded day and of another have changed")
	e.Query(t, "INSERT INTO topk.recounts_total (version, days, versions, events) SELECT max(version) + 1, [], [], 0 FROM topk.recounts_total")
	agree("the total holds nothing")
	require.Equal(t, e.Query(t, "SELECT item_id, sum(n) AS views FROM topk.exact_total WHERE item_type = 'video' GROUP BY item_id ORDER BY views DESC, item_id"), text(e.total(t, "video")))
}

func text(counts []Count) string {
	lines := make([]string, len(counts))
	for i, c := range counts {
		lines[i] = fmt.Sprintf("%s\t%d", c.ItemID, c.Views)
	}
	return strings.Join(lines, "\n")
}

// A day that is taken away without having been in the total leaves less than nothing of an item: that is no item of so many views that
// it comes first.
func testNegativeSums(t *testing.T, e *engine) {
	e.Query(t, "INSERT INTO topk.counts_daily VALUES ('video', 'less', '2026-03-02 00:00:00', 1, '', '', '', 5), ('lost', 'less', '2026-03-02 00:00:00', 1, '', '', '', 5), "+
		"('video', 'more', '2026-03-03 00:00:00', 1, '', '', '', 9)")
	c := &Cover{less: []time.Time{monday}, lessDay: []uint64{1}, days: []time.Time{monday.Add(day)}, day: []uint64{1}}
	more := []Count{{"more", 9}}
	require.Equal(t, more, e.top(t, c, "video"))
	counts, err := c.Counts(t.Context(), e.conn, "video", []string{"less", "more"}, budget)
	require.NoError(t, err)
	require.Equal(t, more, counts)
	levels, err := c.Levels(t.Context(), e.conn, "video", budget)
	require.NoError(t, err)
	require.Equal(t, []Level{{Views: 9, Items: 1}}, levels)
	totals, err := c.Totals(t.Context(), e.conn, 10, budget)
	require.NoError(t, err)
	require.Equal(t, map[string]uint64{"video": 4}, totals)
}
