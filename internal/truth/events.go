// Package truth counts recorded events by brute force, and reads the answers that stand beside them. End-to-end tests
// compare served lists with it. It shares no code with what it checks: it reads CSV with the standard library.
package truth

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Event is a recorded row.
type Event struct {
	Seq      int
	Time     time.Time // UTC
	Item     string
	Country  string
	Category string
	Language string
	User     string
	Weight   int
	Kind     string
}

// Item is an item with its number of events.
type Item struct {
	ID    string
	Count int
}

var eventColumns = []string{"seq", "ts_ms", "item", "country", "category", "language", "user", "weight", "kind"}

// ReadEvents reads the whole of a recorded file, gzipped when its name ends in .gz.
func ReadEvents(path string) ([]Event, error) {
	rows, err := readCSV(path, eventColumns)
	if err != nil {
		return nil, err
	}
	events := make([]Event, len(rows))
	for i, row := range rows {
		seq, seqErr := strconv.Atoi(row[0])
		millis, timeErr := strconv.ParseInt(row[1], 10, 64)
		weight, weightErr := strconv.Atoi(row[7])
		if err := errors.Join(seqErr, timeErr, weightErr); err != nil {
			return nil, fmt.Errorf("read row %d of %s: %w", i+1, path, err)
		}
		events[i] = Event{Seq: seq, Time: time.UnixMilli(millis).UTC(), Item: row[2], Country: row[3], Category: row[4],
			Language: row[5], User: row[6], Weight: weight, Kind: row[8]}
	}
	return events, nil
}

// readCSV reads a file whose header must be the given columns, and returns the rows after it.
func readCSV(path string, columns []string) ([][]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var input io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("gunzip %s: %w", path, err)
		}
		input = unzipped
	}
	rows, err := csv.NewReader(input).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], columns) {
		return nil, fmt.Errorf("read %s: the header is not %s", path, strings.Join(columns, ","))
	}
	return rows[1:], nil
}

// In returns the events of [from, to), in their order.
func In(events []Event, from, to time.Time) []Event {
	return Where(events, func(e Event) bool { return !e.Time.Before(from) && e.Time.Before(to) })
}

// Where returns the events that keep lets through, in their order.
func Where(events []Event, keep func(Event) bool) []Event {
	var out []Event
	for _, e := range events {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// Top counts events by item and returns all items: count descending, then item by its bytes. Each row counts once.
func Top(events []Event) []Item {
	counts := map[string]int{}
	for _, e := range events {
		counts[e.Item]++
	}
	items := make([]Item, 0, len(counts))
	for id, n := range counts {
		items = append(items, Item{id, n})
	}
	slices.SortFunc(items, func(a, b Item) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.ID, b.ID)) })
	return items
}

// Difference says where two lists differ, "" when nowhere.
func Difference(want, got []Item) string {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Sprintf("position %d is %q with %d, and should be %q with %d", i+1, got[i].ID, got[i].Count, want[i].ID, want[i].Count)
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%d items, and should be %d", len(got), len(want))
	}
	return ""
}
