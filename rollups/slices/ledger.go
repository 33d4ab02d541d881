package slices

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

// entry is what landed in a minute of one item type, and what the slices hold of it.
type entry struct {
	landed  uint64 // views, those written by hand included
	taken   uint64 // the same, replays included
	version uint64 // of the newest filling, 0 when there is none
	views   uint64 // that the slices hold
	held    uint64 // that counts_minute held then
	repeats uint64 // views beyond distinct events, of each second by itself
	untimed uint64 // events without a time of their own
	ahead   uint64 // events whose own time was too far ahead
	left    uint64 // no slice without a row has more views
	busy    bool   // slices are kept of its type
}

// late is what landed since the minute was filled.
func (e entry) late() uint64 { return e.landed - min(e.landed, e.views) }

// ledger holds entries by minute and item type. A minute without views has none.
type ledger map[time.Time]map[string]entry

// readLedger reads the entries of the item types of most views, list.MaxMadeTypes, and of those asked for. Slices are kept of the former; of others
// nothing is known but what landed, so their lists are empty, and say how many views an item may have.
func readLedger(ctx context.Context, conn driver.Conn, c Config, from, until time.Time, types ...string) (ledger, error) {
	found := ledger{}
	if !from.Before(until) {
		return found, nil
	}
	p := parameters{"from": from, "until": until, "types": append([]string{}, types...), "most": list.MaxMadeTypes, "reach": uint32(Reach / time.Second)}
	err := c.read(ctx, conn, "ledger", p, func(rows driver.Rows) error {
		var minute time.Time
		var itemType string
		var byHand uint64
		var e entry
		if err := rows.Scan(&minute, &itemType, &e.landed, &byHand, &e.taken, &e.version, &e.views, &e.held, &e.repeats,
			&e.untimed, &e.ahead, &e.left, &e.busy); err != nil {
			return err
		}
		e.landed += byHand
		minute = minute.UTC()
		if found[minute] == nil {
			found[minute] = map[string]entry{}
		}
		found[minute][itemType] = e
		return nil
	})
	return found, err
}

// types are those of which there are entries.
func (l ledger) types() []string {
	found := map[string]bool{}
	for _, entries := range l {
		for itemType := range entries {
			found[itemType] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// ReadHorizon returns the end of the newest minute that has been filled, or has no views; 1970 where nothing has been filled. After a
// start minutes before it may still be missing: ErrNotFilled of the lists that reach back to them.
func ReadHorizon(ctx context.Context, conn driver.Conn, c Config) (horizon time.Time, err error) {
	err = c.read(ctx, conn, "horizon", nil, func(rows driver.Rows) error { return rows.Scan(&horizon) })
	return horizon.UTC(), err
}
