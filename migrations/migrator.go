package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	chmigrate "github.com/golang-migrate/migrate/v4/database/clickhouse"
	pgmigrate "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"topk/internal/clickhouse"
)

// Database is the one ClickHouse database that the files name.
const Database = "topk"

// Config says where the databases are.
type Config struct {
	ClickHouse string        // DSN, http://host:port/topk
	Postgres   string        // DSN, postgres://user@host:port/database
	LockWait   time.Duration // how long to wait for another migration
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var mistakes []error
	if options, err := clickhouse.Options(c.ClickHouse); err != nil {
		mistakes = append(mistakes, fmt.Errorf("clickhouse: %w", err))
	} else if options.Auth.Database != Database {
		mistakes = append(mistakes, fmt.Errorf("clickhouse: the database is %q, but the schema lives in %q", options.Auth.Database, Database))
	}
	if c.Postgres == "" {
		mistakes = append(mistakes, errors.New("postgres: DSN is empty: give one such as postgres://topk@127.0.0.1:15432/topk"))
	} else if _, err := pgx.ParseConfig(c.Postgres); err != nil {
		mistakes = append(mistakes, fmt.Errorf("postgres: %w", err))
	}
	if c.LockWait <= 0 || c.LockWait > time.Hour {
		mistakes = append(mistakes, fmt.Errorf("lock-wait: %s is not between 1ms and 1h", c.LockWait))
	}
	return errors.Join(mistakes...)
}

// Migrator applies functions and both histories, alone.
type Migrator struct {
	config Config
	log    *slog.Logger
}

// New checks the configuration. It does no I/O.
func New(config Config, log *slog.Logger) (*Migrator, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Migrator{config: config, log: log}, nil
}

// Report says what one run changed.
type Report struct {
	Functions  int // functions that were created, replaced by another text, or dropped
	ClickHouse int // steps
	Postgres   int // steps
}

// Up creates the database, applies every function, and brings both histories to their newest version.
func (m *Migrator) Up(ctx context.Context) (Report, error) {
	return m.locked(ctx, func(l *lock) (report Report, err error) {
		if report.Functions, err = m.prepare(ctx); err != nil {
			return report, err
		}
		if report.ClickHouse, err = m.clickHouse(func(h *history) (int, error) { return h.up(ctx, l.held) }); err != nil {
			return report, err
		}
		report.Postgres, err = m.postgres(func(h *history) (int, error) { return h.up(ctx, l.held) })
		return report, err
	})
}

// Down reverses everything that Up did, data included. The database stays when something else is in it.
func (m *Migrator) Down(ctx context.Context) (Report, error) {
	return m.locked(ctx, func(l *lock) (report Report, err error) {
		// A step that was cut off is repaired by what exists, which needs the database and its history.
		if _, err = m.prepare(ctx); err != nil {
			return report, err
		}
		if report.Postgres, err = m.postgres(func(h *history) (int, error) { return h.down(ctx, l.held) }); err != nil {
			return report, err
		}
		if report.ClickHouse, err = m.clickHouse(func(h *history) (int, error) { return h.down(ctx, l.held) }); err != nil {
			return report, err
		}
		report.Functions, err = m.clear(ctx)
		return report, err
	})
}

func (m *Migrator) locked(ctx context.Context, do func(*lock) (Report, error)) (Report, error) {
	l, err := acquire(ctx, m.config.Postgres, m.config.LockWait, m.log)
	if err != nil {
		return Report{}, err
	}
	defer l.release()
	return do(l)
}

// server connects to the ClickHouse server itself: the database may not exist yet, or any more.
func (m *Migrator) server() (*sql.DB, error) {
	return clickhouse.OpenDB(m.config.ClickHouse, func(o *ch.Options) {
		o.Auth.Database = "default"
		mark(o)
	})
}

// mark makes the statements of a migration known in system.processes.
func mark(o *ch.Options) { o.Settings["log_comment"] = "topk migrate" }

// clickHouse runs do on ClickHouse's history.
func (m *Migrator) clickHouse(do func(*history) (int, error)) (int, error) {
	db, err := clickhouse.OpenDB(m.config.ClickHouse, mark)
	if err != nil {
		return 0, err
	}
	// TinyLog, the default of the version table, loses rows when the server dies and cannot be replicated. One file is
	// one statement, so multi-statement mode, which splits on every semicolon, stays off.
	driver, err := chmigrate.WithInstance(db, &chmigrate.Config{DatabaseName: Database, MigrationsTableEngine: "MergeTree"})
	if err != nil {
		return 0, errors.Join(fmt.Errorf("open the history of ClickHouse: %w", err), db.Close())
	}
	return run("ClickHouse", ClickHouseFolder, db, driver, m.log, do)
}

// postgres runs do on PostgreSQL's history.
func (m *Migrator) postgres(do func(*history) (int, error)) (int, error) {
	config, err := pgx.ParseConfig(m.config.Postgres)
	if err != nil {
		return 0, fmt.Errorf("parse PostgreSQL DSN: %w", err)
	}
	config.RuntimeParams["application_name"] = "topk migrate steps"
	db := stdlib.OpenDB(*config)
	driver, err := pgmigrate.WithInstance(db, &pgmigrate.Config{})
	if err != nil {
		return 0, errors.Join(fmt.Errorf("open the history of PostgreSQL: %w", err), db.Close())
	}
	return run("PostgreSQL", PostgresFolder, db, driver, m.log, do)
}
