package charts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/list"
	"topk/internal/zone"
)

// DB runs a function with a connection to PostgreSQL: the leader's, or one of one's own.
type DB func(context.Context, func(context.Context, *pgx.Conn) error) error

// postgresTimeout bounds one transaction: at most a hundred charts of some 60 kB.
const postgresTimeout = 10 * time.Second

// errOvertaken says that somebody else has counted the day meanwhile. What was counted here may be older, so it is not stored.
var errOvertaken = errors.New("somebody else has counted it meanwhile")

// Result is what counting a day came to.
type Result struct {
	From, Until, AsOf time.Time
	Provisional       bool
	Types             int           // item types of the day that have a chart; 0 when nothing was viewed
	Charts            []*list.Chart // that were stored; none when nothing has changed
	revised           bool
}

// kind is for metrics and logs.
func (r *Result) kind() string {
	switch {
	case r.Provisional:
		return "provisional"
	case !r.revised:
		return "final"
	case len(r.Charts) > 0:
		return "revised"
	}
	return "unchanged"
}

// store notes what a day was counted from, and stores the charts that differ from those before: all or nothing.
func store(ctx context.Context, db DB, j job, limit uint64, counts map[string]counted) (Result, error) {
	result := Result{From: j.from, Until: j.until, AsOf: j.asOf, Provisional: j.provisional, revised: j.stored.final()}
	err := db(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
		defer cancel()
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
			types := typesOf(j, counts)
			result.Types = len(types)
			versions := make([]int64, len(j.span.versions))
			for i, v := range j.span.versions {
				versions[i] = int64(v)
			}
			tag, err := tx.Exec(ctx, questions.Text("enter_day"), j.zone, j.day.String(), j.stored.round, j.provisional, j.asOf,
				int64(limit), types, j.span.hours, versions)
			switch {
			case err != nil:
				return fmt.Errorf("note the count: %w", err)
			case tag.RowsAffected() == 0:
				return errOvertaken
			}
			before, err := readCharts(ctx, tx, j.key)
			if err != nil {
				return err
			}
			result.Charts = revisions(j, limit, types, counts, before)
			return enter(ctx, tx, result.Charts)
		})
	})
	return result, err
}

// typesOf are the item types of a day that have a chart, or are to have one. One whose last view is gone keeps an empty chart.
func typesOf(j job, counts map[string]counted) []string {
	types := append(slices.Collect(maps.Keys(counts)), j.stored.types...)
	slices.Sort(types)
	return append([]string{}, slices.Compact(types)...)
}

// readCharts returns the newest chart of each item type of a day.
func readCharts(ctx context.Context, tx pgx.Tx, k key) (map[string]*list.Chart, error) {
	rows, err := tx.Query(ctx, questions.Text("stored_charts"), k.zone, k.day.String())
	if err != nil {
		return nil, fmt.Errorf("read charts: %w", err)
	}
	charts := map[string]*list.Chart{}
	var c *list.Chart
	_, err = pgx.ForEachRow(rows, []any{&c}, func() error {
		charts[c.ItemType] = c
		c = nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read charts: %w", err)
	}
	return charts, nil
}

// revisions are the charts to store: all while they are provisional or become final, and those that differ afterwards.
func revisions(j job, limit uint64, types []string, counts map[string]counted, before map[string]*list.Chart) []*list.Chart {
	var charts []*list.Chart
	for _, itemType := range types {
		c := &list.Chart{
			ItemType: itemType, Zone: j.zone, Day: j.day.String(), From: j.from, Until: j.until, AsOf: j.asOf,
			Provisional: j.provisional, Revision: 1, Cap: limit, Total: counts[itemType].total, Items: []list.ChartItem{},
		}
		for i, id := range counts[itemType].ids {
			c.Add(id, counts[itemType].views[i])
		}
		if last := before[itemType]; last != nil {
			if j.stored.final() && last.Total == c.Total && slices.Equal(last.Items, c.Items) {
				continue
			}
			c.Revision = last.Revision + 1
		}
		if j.stored.final() {
			c.Revised, c.Reason = true, j.reason()
		}
		charts = append(charts, c)
	}
	return charts
}

// enter stores charts and tells who listens.
func enter(ctx context.Context, tx pgx.Tx, charts []*list.Chart) error {
	var batch pgx.Batch
	for _, c := range charts {
		var body bytes.Buffer
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(c); err != nil {
			return fmt.Errorf("encode the chart of %s: %w", c.ItemType, err)
		}
		batch.Queue(questions.Text("enter_chart"), c.Zone, c.Day, c.ItemType, c.Revision, c.Provisional, body.String())
	}
	batch.Queue(questions.Text("notify"))
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("store charts: %w", err)
	}
	return nil
}

// readDays returns what was noted of days from since on.
func readDays(ctx context.Context, db DB, since zone.Day) (map[key]stored, error) {
	days := map[key]stored{}
	err := db(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
		defer cancel()
		return scanDays(ctx, conn, days, "stored_days", since.String())
	})
	return days, err
}

func scanDays(ctx context.Context, conn *pgx.Conn, days map[key]stored, question string, arguments ...any) error {
	rows, err := conn.Query(ctx, questions.Text(question), arguments...)
	if err != nil {
		return fmt.Errorf("read charted days: %w", err)
	}
	var name, day string
	var s stored
	var limit int64
	var hours []time.Time
	var versions []int64
	targets := []any{&name, &day, &s.round, &s.provisional, &s.asOf, &limit, &s.types, &hours, &versions, &s.countedAt}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		at, err := zone.ParseDay(day)
		if err != nil {
			return err
		}
		s.cap, s.versions = uint64(limit), make(map[time.Time]uint64, len(hours))
		for i, hour := range hours {
			s.versions[hour.UTC()] = uint64(versions[i])
		}
		days[key{name, at}] = s
		s.types, hours, versions = nil, nil, nil
		return nil
	})
	if err != nil {
		return fmt.Errorf("read charted days: %w", err)
	}
	return nil
}
