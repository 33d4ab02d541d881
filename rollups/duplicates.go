package rollups

import (
	"context"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

// duplicates bounds how many views of a window were sent more than once: what landed less the distinct events. More time can
// only hold more repeats, so a range that covers the window bounds it too.
//
// A window of up to limit events is counted whole at every build. A larger one is the sum of its pieces, each counted once
// and again when something arrives for it: a minute each for long windows, else and at the end ten seconds. A retry repeats
// the time of its event, so it meets the first one in the same piece; one whose time was replaced by the ingestor's clock
// and moved to another piece is left to the hourly recount.
type duplicates struct {
	conn   driver.Conn
	limit  uint64
	pieces map[span]piece
}

// piece is what was found of a range, by item type.
type piece struct{ landed, events map[string]uint64 }

// distincts are distinct events of one range, by item type.
type distincts struct {
	span
	events map[string]uint64
}

func newDuplicates(conn driver.Conn, limit uint64) *duplicates {
	return &duplicates{conn: conn, limit: limit, pieces: map[span]piece{}}
}

// longGrain is the window from which pieces are minutes: an hour has sixty.
const longGrain = 10 * time.Minute

// distinct counts the distinct events of ranges that together cover the window. landed is what had landed in them before.
func (d *duplicates) distinct(ctx context.Context, q question) (found []distincts, landed map[string]uint64, err error) {
	grain := bucketLength
	if q.window.Length >= longGrain {
		grain = time.Minute
	}
	cover := span{q.from.Truncate(grain), q.asOf}
	pieces, err := landedPieces(ctx, d.conn, q.types, cover, bucketLength)
	if err != nil {
		return nil, nil, err
	}
	landed = pieces.totals()
	if sum(landed) <= d.limit {
		s := span{q.from, q.asOf}
		events, err := d.count(ctx, q.types, s)
		return []distincts{{s, events}}, landed, err
	}
	found, err = d.byPiece(ctx, q, cover, grain, pieces)
	return found, landed, err
}

func sum(totals map[string]uint64) (views uint64) {
	for _, n := range totals {
		views += n
	}
	return views
}

// byPiece covers a range by pieces of one grain, and its last one by ten seconds each.
func (d *duplicates) byPiece(ctx context.Context, q question, cover span, grain time.Duration, landed pieceTotals) ([]distincts, error) {
	var found []distincts
	for from := cover.from; from.Before(cover.until); {
		if from.Add(grain).After(cover.until) {
			grain = bucketLength
		}
		s := span{from, from.Add(grain)}
		if s.until.After(cover.until) {
			s.until = cover.until
		}
		inside := landed.within(s, bucketLength)
		have, ok := d.pieces[s]
		if !ok || !maps.Equal(have.landed, inside) {
			events, err := d.count(ctx, q.types, s)
			if err != nil {
				return nil, err
			}
			have = piece{inside, events}
			d.pieces[s] = have
		}
		found = append(found, distincts{s, have.events})
		from = s.until
	}
	maps.DeleteFunc(d.pieces, func(s span, _ piece) bool {
		return s.from.Before(q.asOf.Add(-2 * list.Windows[len(list.Windows)-1].Length))
	})
	return found, nil
}

func (d *duplicates) count(ctx context.Context, types []string, s span) (map[string]uint64, error) {
	events := map[string]uint64{}
	p := parameters{"types": types, "from": s.from, "until": s.until}
	err := read(ctx, d.conn, "distinct", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var n uint64
		if err := r.Scan(&itemType, &n); err != nil {
			return err
		}
		events[itemType] = n
		return nil
	})
	return events, err
}

// repeats is what landed in the ranges beyond their distinct events. It is asked after the items were counted, so that
// whatever arrives meanwhile can only raise it. late is what landed in the window since before.
func (d *duplicates) repeats(ctx context.Context, q question, found []distincts, before map[string]uint64) (repeats, late map[string]uint64, err error) {
	cover := span{found[0].from, found[len(found)-1].until}
	landed, err := landedPieces(ctx, d.conn, q.types, cover, bucketLength)
	if err != nil {
		return nil, nil, err
	}
	repeats, late = map[string]uint64{}, map[string]uint64{}
	for _, f := range found {
		for itemType, views := range landed.within(f.span, bucketLength) {
			repeats[itemType] += views - min(views, f.events[itemType])
		}
	}
	for itemType, views := range landed.totals() {
		late[itemType] = views - min(views, before[itemType])
	}
	return repeats, late, nil
}
