package rollups

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

const (
	// summaryItems are kept of a minute.
	summaryItems = 10_000
	// manyLoose summaries that arrived after a minute was combined make it worth another round; each is small.
	manyLoose = 32
	// maxCompactions bounds a round: after a long absence an hour is caught up over several.
	maxCompactions = 8
)

// compact combines the summaries of closed minutes, so that an hour is nominated from about sixty rows and not from
// thousands. Lists are right without it, only slower. It returns how many minutes it combined.
func compact(ctx context.Context, conn driver.Conn, asOf time.Time) (done int, err error) {
	until := asOf.Truncate(time.Minute)
	p := parameters{"slice": list.GlobalSlice, "from": until.Add(-longestWindow() - time.Minute), "until": until}
	var minutes []time.Time
	err = read(ctx, conn, "loose", p, questionBudget, func(r driver.Rows) error {
		var minute time.Time
		var loose uint64
		var combined uint8
		if err := r.Scan(&minute, &loose, &combined); err != nil {
			return err
		}
		if loose >= manyLoose || combined == 0 && loose > 1 {
			minutes = append(minutes, minute)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, minute := range minutes[:min(len(minutes), maxCompactions)] {
		p := parameters{"slice": list.GlobalSlice, "minute": minute, "keep": summaryItems}
		if err := execute(ctx, conn, "compact", p, questionBudget); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}
