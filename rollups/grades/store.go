package grades

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/grade"
	"topk/internal/list"
)

const (
	postgresTimeout = 10 * time.Second // of one question or transaction
	// shownSeconds is how far a type's newest grade may be behind the newest of all to be told as a metric: a day.
	shownSeconds = 24 * 60 * 60
	pruneBatch   = 1000 // grades removed in one round, a few hundred bytes each
)

// Do runs a function with a connection to PostgreSQL that nobody else uses meanwhile: the leading worker's.
type Do func(ctx context.Context, f func(context.Context, *pgx.Conn) error) error

// store is table grades, and the lists that are graded.
type store struct{ do Do }

// ask runs a question and reads its rows.
func ask[T any](ctx context.Context, s store, read pgx.RowToFunc[T], name string, arguments ...any) (found []T, err error) {
	ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
	defer cancel()
	err = s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, questions.Text(name), arguments...)
		if err == nil {
			found, err = pgx.CollectRows(rows, read)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return found, nil
}

// ungraded are those of due that have no grade against their version of the exact counts.
func (s store) ungraded(ctx context.Context, window string, due []stretch) ([]stretch, error) {
	if len(due) == 0 {
		return nil, nil
	}
	ends, versions := make([]time.Time, len(due)), make([]int64, len(due))
	for i, d := range due {
		ends[i], versions[i] = d.until, d.version
	}
	places, err := ask(ctx, s, pgx.RowTo[int64], "ungraded", window, ends, versions)
	found := make([]stretch, len(places))
	for i, place := range places {
		found[i] = due[place-1]
	}
	return found, err
}

// published is a list as it was stored.
type published struct {
	version int64
	list    *list.List // nil when it cannot be read
}

// lists are those of a window with that as_of, by item type.
func (s store) lists(ctx context.Context, window string, asOf time.Time) (map[string]*published, error) {
	type row struct {
		ItemType string
		Version  int64
		Body     []byte
	}
	rows, err := ask(ctx, s, pgx.RowToStructByPos[row], "lists", window, list.GlobalSlice, asOf)
	found := make(map[string]*published, len(rows))
	for _, r := range rows {
		p := &published{version: r.Version}
		var l list.List
		if json.Unmarshal(r.Body, &l) == nil {
			p.list = &l
		}
		found[r.ItemType] = p
	}
	return found, err
}

// newest are the newest measured grades of a window, one an item type.
func (s store) newest(ctx context.Context, window string) ([]grade.Grade, error) {
	return ask(ctx, s, grade.FromRow, "newest", window, shownSeconds)
}

// enter stores grades, all or none.
func (s store) enter(ctx context.Context, graded []grade.Grade) error {
	ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
	defer cancel()
	err := s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			var batch pgx.Batch
			for i := range graded {
				batch.Queue(questions.Text("enter"), row(&graded[i])...)
			}
			return tx.SendBatch(ctx, &batch).Close()
		})
	})
	if err != nil {
		return fmt.Errorf("enter grades: %w", err)
	}
	return nil
}

// row are the parameters of enter.
func row(g *grade.Grade) []any {
	key := []any{g.ItemType, g.Window, g.From, g.Until, g.ExactVersion, g.ListVersion}
	if m := g.Measures; m != nil {
		return append(key, nil, m.Method, m.Certified, m.Items, m.ExactItems, m.Recall100, m.Recall1000, m.Shared100,
			m.Overcount, m.MaxOvercount, m.Displacement)
	}
	return append(key, g.Reason, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
}

// prune removes a batch of grades of a window's lists that end before.
func (s store) prune(ctx context.Context, window string, before time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
	defer cancel()
	err := s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, questions.Text("prune"), window, before, pruneBatch)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove old grades: %w", err)
	}
	return nil
}

// union are the item types that have views or a list, in order.
func union(totals map[string]uint64, lists map[string]*published) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(totals)), maps.Keys(lists))
	slices.Sort(all)
	return slices.Compact(all)
}
