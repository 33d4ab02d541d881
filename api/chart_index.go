package api

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/list"
)

// chartsChannel is notified when any day has been counted.
const chartsChannel = "topk_charts"

var (
	//go:embed sql/chart_rounds.sql
	chartRoundsSQL string
	//go:embed sql/chart_days.sql
	chartDaysSQL string
)

// chartIndex is which days have charts, at one moment. It never changes.
type chartIndex struct {
	rows, rounds int64 // together they tell whether anything has changed: rows are never removed, and rounds only grow
	days         map[chartDay]*chartedDay
	zones        map[string]chartRange
	zoneNames    []string // in order
	types        []string // that have a chart of any day, in order
}

// chartedDay is a day that was counted.
type chartedDay struct {
	round       int64 // grows with each count
	provisional bool
	asOf        time.Time
	cap         uint64
	types       []string // that have a chart of it
}

// chartRange is the first and the last day charted in a zone.
type chartRange struct{ first, last string }

// refresh makes the index equal to PostgreSQL, if anything has changed.
func (m *chartMemory) refresh(ctx context.Context, conn *pgx.Conn) error {
	index := &chartIndex{days: map[chartDay]*chartedDay{}, zones: map[string]chartRange{}}
	if err := conn.QueryRow(ctx, chartRoundsSQL).Scan(&index.rows, &index.rounds); err != nil {
		return fmt.Errorf("compare charts: %w", err)
	}
	if held := m.index.Load(); held != nil && held.rows == index.rows && held.rounds == index.rounds {
		return nil
	}
	rows, err := conn.Query(ctx, chartDaysSQL)
	if err != nil {
		return fmt.Errorf("load charted days: %w", err)
	}
	types := map[string]bool{}
	var key chartDay
	var d chartedDay
	var limit int64
	_, err = pgx.ForEachRow(rows, []any{&key.zone, &key.day, &d.round, &d.provisional, &d.asOf, &limit, &d.types}, func() error {
		day := d
		day.asOf, day.cap, day.types = d.asOf.UTC(), uint64(limit), slices.Clone(d.types)
		index.days[key] = &day
		for _, t := range day.types {
			types[t] = true
		}
		within, ok := index.zones[key.zone]
		if !ok {
			within.first = key.day // they come in order
		}
		within.last = key.day
		index.zones[key.zone] = within
		return nil
	})
	if err != nil {
		return fmt.Errorf("load charted days: %w", err)
	}
	index.zoneNames, index.types = slices.Sorted(maps.Keys(index.zones)), slices.Sorted(maps.Keys(types))
	m.index.Store(index)
	return nil
}

// decodeChart reads a stored chart. Times come as they were written, in UTC.
func decodeChart(body []byte, c *list.Chart) error {
	if err := json.Unmarshal(body, c); err != nil {
		return fmt.Errorf("decode chart: %w", err)
	}
	if len(c.Items) > list.StoredItems {
		return fmt.Errorf("decode chart: %d items are more than %d", len(c.Items), list.StoredItems)
	}
	c.From, c.Until, c.AsOf = c.From.UTC(), c.Until.UTC(), c.AsOf.UTC()
	if c.Items == nil {
		c.Items = []list.ChartItem{}
	}
	return nil
}
