package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"topk/udf"
)

// Status is how far a deployment has come. Reading it changes nothing and takes no lock.
type Status struct {
	FunctionsMissing []string
	Functions        int
	ClickHouse       HistoryStatus
	Postgres         HistoryStatus
}

// HistoryStatus is how far one history has come.
type HistoryStatus struct {
	Version int // -1 before the first step
	Newest  int
	Pending int
	Dirty   bool
	Unknown bool // the version is none of this binary's
}

// String is one line for people.
func (s HistoryStatus) String() string {
	version := fmt.Sprintf("version %d of %d", s.Version, s.Newest)
	if s.Version == database.NilVersion {
		version = fmt.Sprintf("no version of %d", s.Newest)
	}
	switch {
	case s.Unknown:
		return version + ", applied by a newer topk: use that one"
	case s.Dirty:
		return version + ", dirty: a step was cut off; `topk migrate up` looks at what it left and goes on"
	case s.Pending == 0:
		return version + ", nothing pending"
	default:
		return fmt.Sprintf("%s, %d pending", version, s.Pending)
	}
}

// String is three lines for people.
func (s Status) String() string {
	functions := "all present"
	if len(s.FunctionsMissing) > 0 {
		functions = "missing " + strings.Join(s.FunctionsMissing, ", ")
	}
	return fmt.Sprintf("functions   %d, %s\nclickhouse  %s\npostgres    %s", s.Functions, functions, s.ClickHouse, s.Postgres)
}

// Status reads both versions.
func (m *Migrator) Status(ctx context.Context) (status Status, err error) {
	server, err := m.server()
	if err != nil {
		return status, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if status.Functions, status.FunctionsMissing, err = missing(ctx, server); err != nil {
		return status, err
	}
	if status.ClickHouse, err = historyStatus(ctx, server, ClickHouse, ClickHouseFolder); err != nil {
		return status, fmt.Errorf("version of ClickHouse: %w", err)
	}
	config, err := pgx.ParseConfig(m.config.Postgres)
	if err != nil {
		return status, fmt.Errorf("parse PostgreSQL DSN: %w", err)
	}
	postgres := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, postgres.Close()) }()
	if status.Postgres, err = historyStatus(ctx, postgres, Postgres, PostgresFolder); err != nil {
		return status, fmt.Errorf("version of PostgreSQL: %w", err)
	}
	return status, nil
}

func missing(ctx context.Context, db *sql.DB) (total int, names []string, err error) {
	functions, err := udf.Functions()
	if err != nil {
		return 0, nil, err
	}
	present, err := existingFunctions(ctx, db)
	if err != nil {
		return 0, nil, err
	}
	for _, f := range functions {
		if _, ok := present[f.Name]; !ok {
			names = append(names, f.Name)
		}
	}
	return len(functions), names, nil
}

// historyStatus reads the version table, if there is one: golang-migrate's driver would create it.
func historyStatus(ctx context.Context, db *sql.DB, folder fs.FS, prefix string) (HistoryStatus, error) {
	files, err := listFiles(folder, prefix)
	if err != nil {
		return HistoryStatus{}, err
	}
	status := HistoryStatus{Version: database.NilVersion, Newest: files[len(files)-1].version}
	var tables uint64
	if err := db.QueryRowContext(ctx, query(prefix+"_exists"), "schema_migrations").Scan(&tables); err != nil {
		return status, err
	}
	if tables > 0 {
		var version int64
		err := db.QueryRowContext(ctx, query(prefix+"_version")).Scan(&version, &status.Dirty)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return status, err
		}
		if err == nil {
			status.Version = int(version)
		}
	}
	done, err := applied(prefix, files, status.Version)
	status.Unknown = err != nil
	status.Pending = len(files) - done
	return status, nil
}

// run opens a history, runs do on it, and closes it.
func run(name, prefix string, db *sql.DB, driver database.Driver, log *slog.Logger, do func(*history) (int, error)) (int, error) {
	folder := fs.FS(ClickHouse)
	if prefix == PostgresFolder {
		folder = Postgres
	}
	h, err := newHistory(name, prefix, folder, db, driver, log)
	if err != nil {
		return 0, errors.Join(err, driver.Close())
	}
	steps, err := do(h)
	return steps, errors.Join(err, h.close())
}
