package rollups

import (
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

const day = 24 * time.Hour

// step says how the sketches of one grain are filled from what there is of the grain below, once a bucket is over.
type step struct {
	source, target string
	arrived        string        // question: what of the source there is to fill in
	measure        string        // question: what the source holds, where others than it say what there is
	fill           string        // statement that fills rows of a sketch
	length         time.Duration // of a bucket of the target
	settle         time.Duration // how long after its end, in event time, a bucket is filled
	// combine makes the summaries of a bucket, before its sketch; nil where others do.
	combine func(context.Context, driver.Conn, span) error
}

// Minutes are filled soon: their rows are still in small parts of counts_minute then, which holds an hour by item. Most late
// events come within settle, and what comes still later has a bucket filled again.
var (
	minuteStep = step{source: "counts_minute", target: "cms_minute", arrived: "arrived", measure: "countable", fill: "fill_minutes", length: time.Minute, settle: time.Minute}
	hourStep   = step{source: "cms_minute", target: "cms_hour", arrived: "filled", fill: "fill", length: time.Hour, settle: 10 * time.Minute, combine: combineHour}
	dayStep    = step{source: "cms_hour", target: "cms_day", arrived: "filled", fill: "fill", length: day, settle: 10 * time.Minute, combine: combineDay}

	steps = []step{minuteStep, hourStep, dayStep} // each after the one that it is filled from
)

// closed is the end of the last bucket that is due at asOf.
func (s step) closed(asOf time.Time) time.Time { return asOf.Add(-s.settle).Truncate(s.length) }

// holding is the views of a bucket, of all item types and replays included: what arrived, and what its sketch holds.
type holding struct{ arrived, filled uint64 }

// whole says that the sketch holds everything: nothing has arrived since it was filled.
func (v holding) whole() bool { return v.arrived > 0 && v.arrived == v.filled }

// held says of each bucket of s for which anything arrived how much of it the sketch holds.
func (s step) held(ctx context.Context, conn driver.Conn, within span) (map[time.Time]holding, error) {
	arrived, err := readViews(ctx, conn, s.arrived, s.source, within)
	if err != nil {
		return nil, err
	}
	filled, err := readViews(ctx, conn, "filled", s.target, within)
	if err != nil {
		return nil, err
	}
	held := map[time.Time]holding{}
	for at, n := range arrived {
		bucket := at.Truncate(s.length)
		v := held[bucket]
		held[bucket] = holding{v.arrived + n, filled[bucket]}
	}
	return held, nil
}

func readViews(ctx context.Context, conn driver.Conn, question, table string, s span) (map[time.Time]uint64, error) {
	if !s.from.Before(s.until) {
		return nil, nil
	}
	return askViews(ctx, conn, question, parameters{"table": table, "slice": list.GlobalSlice, "from": s.from, "until": s.until})
}

func askViews(ctx context.Context, conn driver.Conn, question string, p parameters) (map[time.Time]uint64, error) {
	found := map[time.Time]uint64{}
	err := read(ctx, conn, question, p, questionBudget, func(rows driver.Rows) error {
		var bucket time.Time
		var n uint64
		if err := rows.Scan(&bucket, &n); err != nil {
			return err
		}
		found[bucket.UTC()] = n
		return nil
	})
	return found, err
}

// combineHour combines the summaries of an hour.
func combineHour(ctx context.Context, conn driver.Conn, s span) error {
	minutes, err := combinations(ctx, conn, minuteGrain.table, s)
	if err != nil {
		return err
	}
	names := blocksOf(minutes)
	taken := absorbed(minutes)
	loose, err := readLoose(ctx, conn, time.Minute, s)
	if err != nil {
		return err
	}
	for _, a := range loose {
		names = append(names, slices.DeleteFunc(a.blocks, func(block uint64) bool { return taken[block] })...)
	}
	return combine(ctx, conn, "topk_hour", summaryItems, s, names)
}

// combineDay combines the summaries of a day from those of its hours.
func combineDay(ctx context.Context, conn driver.Conn, s span) error {
	hours, err := combinations(ctx, conn, "topk_hour", s)
	if err != nil {
		return err
	}
	return combine(ctx, conn, "topk_day", summaryItems, s, blocksOf(fullest(hours)))
}

// fullest keeps, of the rows of an hour or a day, the one of most views: each was combined from all there was. It expects
// them as combinations returns them, those of most views first.
func fullest(combined []combination) []combination {
	type key struct {
		itemType string
		bucket   int64
	}
	seen := map[key]bool{}
	var kept []combination
	for _, c := range combined {
		if k := (key{c.itemType, c.bucket.Unix()}); !seen[k] {
			seen[k] = true
			kept = append(kept, c)
		}
	}
	return kept
}

func blocksOf(combined []combination) []uint64 {
	names := make([]uint64, 0, len(combined))
	for _, c := range combined {
		names = append(names, c.block)
	}
	return names
}
