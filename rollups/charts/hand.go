package charts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/zone"
)

// ErrNotBegun says that nothing can be counted of a day yet.
var ErrNotBegun = errors.New("it has not begun, as far as events have come")

// Make counts one day in any zone, whether it is due or not, and stores what has changed. A worker keeps its charts up to date from
// then on. asOf is taken from the lists that are served.
func (m *Maker) Make(ctx context.Context, db DB, name string, day zone.Day) (Result, error) {
	location, err := zone.Load(name)
	if err != nil {
		return Result{}, err
	}
	k := key{name, day}
	from, until := day.Bounds(location)
	if from.Equal(until) {
		return Result{}, fmt.Errorf("%s was left out in %s", day, name)
	}
	l, err := readLedger(ctx, m.conn, from)
	if err != nil {
		return Result{}, err
	}
	asOf, days := until, map[key]stored{}
	err = db(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if !l.span(from, until).recounted {
			if asOf, err = listsAsOf(ctx, conn); err != nil {
				return err
			}
		}
		return scanDays(ctx, conn, days, "stored_day", name, day.String())
	})
	if err != nil {
		return Result{}, err
	}
	j, begun := newJob(k, location, l, days[k], asOf)
	switch {
	case !begun:
		return Result{}, fmt.Errorf("%s in %s: %w", day, name, ErrNotBegun)
	case j.stored.final() && j.provisional:
		return Result{}, fmt.Errorf("%s in %s: it is final, and not all of its hours are in the ledger", day, name)
	case j.span.gone:
		return Result{}, fmt.Errorf("%s in %s: %w", day, name, ErrNoEvents)
	}
	return m.make(ctx, db, j)
}

// listsAsOf is up to when the served lists count; 1970 when there are none.
func listsAsOf(ctx context.Context, conn *pgx.Conn) (time.Time, error) {
	var asOf *time.Time
	if err := conn.QueryRow(ctx, questions.Text("as_of")).Scan(&asOf); err != nil {
		return time.Time{}, fmt.Errorf("ask how far lists are: %w", err)
	}
	if asOf == nil {
		return time.Unix(0, 0), nil
	}
	return asOf.UTC(), nil
}
