package truth

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Window is a published answer: the most viewed items of [From, To).
type Window struct {
	From     time.Time
	To       time.Time
	Events   int // of all items
	Distinct int // items; 0 where the file does not say
	Top      []Item
}

// Slice is a published answer for one value of a dimension, over the whole recording.
type Slice struct {
	Dimension string // country or category
	Value     string
	Events    int
	Top       []Item
}

// ReadSliding reads truth_sliding_*.csv.
func ReadSliding(path string) ([]Window, error) {
	rows, err := readCSV(path, []string{"from_utc", "to_utc_excl", "window_events", "window_distinct", "rank", "item", "count"})
	if err != nil {
		return nil, err
	}
	var windows []Window
	for i, row := range rows {
		var w Window
		var rank int
		item := Item{ID: row[5]}
		if err := parse(row, field{0, &w.From}, field{1, &w.To}, field{2, &w.Events}, field{3, &w.Distinct}, field{4, &rank},
			field{6, &item.Count}); err != nil {
			return nil, fmt.Errorf("read row %d of %s: %w", i+1, path, err)
		}
		if rank == 1 {
			windows = append(windows, w)
		}
		last := &windows[len(windows)-1]
		if !last.From.Equal(w.From) || rank != len(last.Top)+1 {
			return nil, fmt.Errorf("read row %d of %s: ranks must run from 1", i+1, path)
		}
		last.Top = append(last.Top, item)
	}
	return windows, nil
}

// ReadHourly reads truth_hourly_*.csv.
func ReadHourly(path string) ([]Window, error) {
	rows, err := readCSV(path, []string{"hour_start_utc", "hour_events", "rank", "item", "count"})
	if err != nil {
		return nil, err
	}
	var windows []Window
	for i, row := range rows {
		var w Window
		item := Item{ID: row[3]}
		if err := parse(row, field{0, &w.From}, field{1, &w.Events}, field{4, &item.Count}); err != nil {
			return nil, fmt.Errorf("read row %d of %s: %w", i+1, path, err)
		}
		if len(windows) == 0 || !windows[len(windows)-1].From.Equal(w.From) {
			w.To = w.From.Add(time.Hour)
			windows = append(windows, w)
		}
		last := &windows[len(windows)-1]
		last.Top = append(last.Top, item)
	}
	return windows, nil
}

// ReadTop reads truth_top*_overall*.csv.
func ReadTop(path string) ([]Item, error) {
	rows, err := readCSV(path, []string{"rank", "item", "count"})
	if err != nil {
		return nil, err
	}
	var items []Item
	for i, row := range rows {
		item := Item{ID: row[1]}
		if err := parse(row, field{2, &item.Count}); err != nil {
			return nil, fmt.Errorf("read row %d of %s: %w", i+1, path, err)
		}
		items = append(items, item)
	}
	return items, nil
}

// ReadSlices reads truth_slices_*.csv.
func ReadSlices(path string) ([]Slice, error) {
	rows, err := readCSV(path, []string{"dim", "value", "slice_events", "rank", "item", "count"})
	if err != nil {
		return nil, err
	}
	var slices []Slice
	for i, row := range rows {
		s := Slice{Dimension: row[0], Value: row[1]}
		item := Item{ID: row[4]}
		if err := parse(row, field{2, &s.Events}, field{5, &item.Count}); err != nil {
			return nil, fmt.Errorf("read row %d of %s: %w", i+1, path, err)
		}
		if n := len(slices); n == 0 || slices[n-1].Dimension != s.Dimension || slices[n-1].Value != s.Value {
			slices = append(slices, s)
		}
		last := &slices[len(slices)-1]
		last.Top = append(last.Top, item)
	}
	return slices, nil
}

// field is a column and where its value goes: *int or *time.Time.
type field struct {
	column int
	into   any
}

func parse(row []string, fields ...field) error {
	var errs []error
	for _, f := range fields {
		var err error
		switch into := f.into.(type) {
		case *int:
			*into, err = strconv.Atoi(row[f.column])
		case *time.Time:
			*into, err = time.Parse(time.RFC3339Nano, row[f.column])
		default:
			err = fmt.Errorf("column %d: a %T cannot be read", f.column, f.into)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
