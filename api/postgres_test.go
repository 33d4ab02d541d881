package api

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"topk/embedded/engines"
	"topk/embedded/postgres"
	"topk/internal/enginetest"
	"topk/internal/list"
)

// database is a real PostgreSQL with the schema of migrations/postgres.
type database struct {
	t      testing.TB
	config postgres.Config
	cancel context.CancelFunc
	ended  chan error
}

// shared is the one PostgreSQL of this package's tests: making one takes longer than most of them.
var shared *database

// startDatabase returns a running PostgreSQL with an empty schema.
func startDatabase(t testing.TB) *database {
	if shared != nil {
		shared.t = t
		shared.exec("TRUNCATE lists, current_lists, grades, charts, chart_days, asked_slices RESTART IDENTITY")
		return shared
	}
	native, err := engines.Postgres()
	require.NoError(t, err)
	// Not t.TempDir, whose parent only the caller may enter, and PostgreSQL runs as somebody else when that is root.
	dir, err := os.MkdirTemp("", "topk-api-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	d := &database{t: t, config: postgres.Config{Native: native, Listen: enginetest.FreeAddress(t), DataDir: dir}}
	d.start()
	d.migrate()
	shared = d
	return d
}

// stopDatabase ends what startDatabase began, after the last test.
func stopDatabase() error {
	if shared == nil {
		return nil
	}
	shared.cancel()
	return errors.Join(<-shared.ended, os.RemoveAll(shared.config.DataDir))
}

// start starts the server, and returns when it takes connections.
func (d *database) start() {
	var ctx context.Context
	ctx, d.cancel = context.WithCancel(context.Background())
	d.ended = make(chan error, 1)
	go func() { d.ended <- postgres.Run(ctx, d.config, slog.New(slog.DiscardHandler)) }()
	require.Eventually(d.t, func() bool {
		conn, err := pgx.Connect(context.Background(), d.dsn())
		if err != nil {
			return false
		}
		return conn.Close(context.Background()) == nil
	}, time.Minute, 50*time.Millisecond)
}

// stop stops the server and keeps its data.
func (d *database) stop() {
	d.cancel()
	require.NoError(d.t, <-d.ended)
}

func (d *database) dsn() string {
	return "postgres://" + postgres.Role + "@" + d.config.Listen + "/" + postgres.Database + "?sslmode=disable"
}

func (d *database) connect() *pgx.Conn {
	conn, err := pgx.Connect(context.Background(), d.dsn())
	require.NoError(d.t, err)
	return conn
}

// migrate runs the schema's own files in order.
func (d *database) migrate() {
	files, err := filepath.Glob("../migrations/postgres/*.up.sql")
	require.NoError(d.t, err)
	if len(files) == 0 {
		require.NoError(d.t, &fs.PathError{Op: "read", Path: "../migrations/postgres", Err: errors.New("no migrations")})
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(d.t, err)
		d.exec(string(text))
	}
}

func (d *database) exec(sql string, args ...any) {
	conn := d.connect()
	_, err := conn.Exec(context.Background(), sql, args...)
	require.NoError(d.t, err)
	require.NoError(d.t, conn.Close(context.Background()))
}

// publish does what the rollup worker does: the version, the pointer and the notification in one transaction.
func (d *database) publish(l *list.List) int64 {
	conn := d.connect()
	defer func() { require.NoError(d.t, conn.Close(context.Background())) }()
	return publishOver(d.t, conn, l)
}

func publishOver(t testing.TB, conn *pgx.Conn, l *list.List) int64 {
	version, err := tryPublish(conn, l)
	require.NoError(t, err)
	return version
}

func tryPublish(conn *pgx.Conn, l *list.List) (version int64, err error) {
	ctx := context.Background()
	body, err := json.Marshal(l)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		row := tx.QueryRow(ctx, `INSERT INTO lists (item_type, window_name, slice, as_of, published_at, body)
			VALUES ($1, $2, $3, $4, clock_timestamp(), $5) RETURNING version`, l.ItemType, l.Window, l.Slice, l.AsOf, body)
		if err := row.Scan(&version); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO current_lists VALUES ($1, $2, $3, $4)
			ON CONFLICT (item_type, window_name, slice) DO UPDATE SET version = excluded.version`,
			l.ItemType, l.Window, l.Slice, version); err != nil {
			return err
		}
		payload, err := json.Marshal(map[string]any{
			"item_type": l.ItemType, "window": l.Window, "slice": l.Slice, "version": version,
		})
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `SELECT pg_notify('topk_lists', $1)`, string(payload))
		return err
	})
	return version, err
}
