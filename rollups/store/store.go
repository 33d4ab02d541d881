// Package store keeps published lists in PostgreSQL: it stores versions, points to them, and removes what is no longer served.
package store

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/grade"
	"topk/internal/list"
)

//go:embed sql/*.sql
var files embed.FS

// DB runs a function with a connection to PostgreSQL: the leader's, or one of one's own.
type DB func(context.Context, func(context.Context, *pgx.Conn) error) error

// Timeout bounds one transaction: a connection that answers no more is a lost leadership.
const Timeout = 10 * time.Second

// ForgetBatch bounds the pointers removed of a window at once, each with a notification; the rest waits for the next time.
const ForgetBatch = 500

// pruneBatch is how many old versions one statement removes: each is about 100 kB.
const pruneBatch = 200

// statement is the text of sql/<name>.sql.
func statement(name string) string {
	text, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // a file that is not embedded is a mistake of this package
	}
	return string(text)
}

// body is a list as it is stored: the version and its time are columns.
type body struct {
	*list.List
	Version     *int64     `json:"version,omitempty"`
	PublishedAt *time.Time `json:"published_at,omitempty"`
}

// Encode is the stored form of a list.
func Encode(l *list.List) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body{List: l}); err != nil {
		return nil, fmt.Errorf("encode list of %s: %w", l.ItemType, err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// Publish stores the lists of one build and points to them, all or none. A list that is older than the one pointed to is
// left out. It returns how many were published.
func Publish(ctx context.Context, conn *pgx.Conn, lists []*list.List, bodies [][]byte) (published int, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
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
	text := statement("publish")
	for i, l := range lists {
		batch.Queue(text, l.ItemType, l.Window, l.Slice, l.AsOf, string(bodies[i]))
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

// Age says which versions of a window's lists are old.
type Age struct {
	Before   time.Time // of lists of all views, those published before
	Slices   time.Time // the same of slices
	Ungraded time.Time // lists that are graded stay if they count up to then or later
}

// Prune removes a batch of old versions of a window, none that is pointed to.
func Prune(ctx context.Context, conn *pgx.Conn, window string, age Age) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	tag, err := conn.Exec(ctx, statement("prune"), window, age.Before, pruneBatch, int64(grade.Period(window)/time.Second),
		age.Ungraded, age.Slices)
	if err != nil {
		return 0, fmt.Errorf("prune versions of %s: %w", window, err)
	}
	return tag.RowsAffected(), nil
}

// KeepSlices stops serving the lists of slices, of some windows, that are not among those kept, at most ForgetBatch of them; the lists of the
// slice spared are others' business. The versions stay until they are pruned. It returns how many it removed.
func KeepSlices(ctx context.Context, conn *pgx.Conn, spared string, windows []string, kept []list.Key) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	types, names, of := make([]string, len(kept)), make([]string, len(kept)), make([]string, len(kept))
	for i, key := range kept {
		types[i], names[i], of[i] = key.ItemType, key.Window, key.Slice
	}
	tag, err := conn.Exec(ctx, statement("keep_slices"), windows, spared, types, names, of, ForgetBatch)
	if err != nil {
		return 0, fmt.Errorf("forget slices: %w", err)
	}
	return tag.RowsAffected(), nil
}

// Reached returns up to which as_of the lists of a window were made, or zero.
func Reached(ctx context.Context, conn *pgx.Conn, window string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	var asOf sql.Null[time.Time]
	if err := conn.QueryRow(ctx, statement("reached"), window).Scan(&asOf); err != nil {
		return time.Time{}, fmt.Errorf("ask up to when lists of %s were made: %w", window, err)
	}
	return asOf.V, nil
}

// Forget removes the pointers to lists of a window that are made no more, made being the item types that still are: those whose
// last list counts up to a time before before, and of more than so many others the oldest. A worker that was away for long therefore
// removes nothing that it is about to make anew. It returns how many it removed.
func Forget(ctx context.Context, conn *pgx.Conn, window string, made []string, before time.Time, others int) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	tag, err := conn.Exec(ctx, statement("forget"), window, list.GlobalSlice, made, before, others, ForgetBatch)
	if err != nil {
		return 0, fmt.Errorf("forget item types of %s: %w", window, err)
	}
	return tag.RowsAffected(), nil
}

// Asked returns the lists that somebody has asked for within a time, by the wall clock, the newest first and most of them, and removes
// those that nobody has.
func Asked(ctx context.Context, conn *pgx.Conn, within time.Duration, most int) ([]list.Key, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	rows, err := conn.Query(ctx, statement("asked"), within, most)
	if err != nil {
		return nil, fmt.Errorf("ask which slices are asked for: %w", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[list.Key])
	if err != nil {
		return nil, fmt.Errorf("read which slices are asked for: %w", err)
	}
	return keys, nil
}
