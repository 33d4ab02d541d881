package rollups

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/grade"
	"topk/internal/list"
)

// postgresTimeout bounds one transaction: a connection that answers no more is a lost leadership.
const postgresTimeout = 10 * time.Second

// pruneBatch is how many old versions one statement removes: each is about 100 kB.
const pruneBatch = 200

// body is a list as it is stored: the version and its time are columns.
type body struct {
	*list.List
	Version     *int64     `json:"version,omitempty"`
	PublishedAt *time.Time `json:"published_at,omitempty"`
}

// encode is the stored form of a list.
func encode(l *list.List) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body{List: l}); err != nil {
		return nil, fmt.Errorf("encode list of %s: %w", l.ItemType, err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// publish stores the lists of one build and points to them, all or none. A list that is older than the one pointed to is
// left out. It returns how many were published.
func publish(ctx context.Context, conn *pgx.Conn, lists []*list.List, bodies [][]byte) (published int, err error) {
	ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
	defer cancel()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return 0, fmt.Errorf("begin to publish: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreClosed(tx.Rollback(context.WithoutCancel(ctx))))
		}
	}()
	var batch pgx.Batch
	statement := query("publish")
	for i, l := range lists {
		batch.Queue(statement, l.ItemType, l.Window, l.Slice, l.AsOf, string(bodies[i]))
	}
	results := tx.SendBatch(ctx, &batch)
	for range lists {
		tag, err := results.Exec()
		if err != nil {
			return 0, errors.Join(fmt.Errorf("publish: %w", err), results.Close())
		}
		published += int(tag.RowsAffected())
	}
	if err := results.Close(); err != nil {
		return 0, fmt.Errorf("publish: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return 0, fmt.Errorf("commit a publish: %w", err)
	}
	return published, nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, pgx.ErrTxClosed) {
		return nil
	}
	return err
}

// prune removes a batch of old versions of a window. Those that are graded stay if they count up to ungraded or later.
func prune(ctx context.Context, conn *pgx.Conn, window string, before, ungraded time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
	defer cancel()
	tag, err := conn.Exec(ctx, query("prune"), window, before, pruneBatch, int64(grade.Period(window)/time.Second), ungraded)
	if err != nil {
		return 0, fmt.Errorf("prune versions of %s: %w", window, err)
	}
	return tag.RowsAffected(), nil
}

// reached returns up to which as_of the lists of a window were made, or zero.
func reached(ctx context.Context, conn *pgx.Conn, window string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
	defer cancel()
	var asOf sql.Null[time.Time]
	if err := conn.QueryRow(ctx, query("reached"), window).Scan(&asOf); err != nil {
		return time.Time{}, fmt.Errorf("ask up to when lists of %s were made: %w", window, err)
	}
	return asOf.V, nil
}
