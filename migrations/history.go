package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/source/iofs"
)

const (
	// A statement of a killed process may still run when its lock is gone. DDL takes seconds at most.
	quietTimeout  = 30 * time.Second
	quietInterval = 100 * time.Millisecond
)

// history is one database's steps and how far they have been applied.
type history struct {
	name    string // the database, for people
	files   []file
	driver  database.Driver
	migrate *migrate.Migrate
	db      *sql.DB
	exists  string // query: how many objects have that name
	running string // query: statements of other migrations that still run
	log     *slog.Logger
}

func newHistory(name, prefix string, folder fs.FS, db *sql.DB, driver database.Driver, log *slog.Logger) (*history, error) {
	files, err := listFiles(folder, prefix)
	if err != nil {
		return nil, err
	}
	source, err := iofs.New(folder, prefix)
	if err != nil {
		return nil, fmt.Errorf("read the migrations of %s: %w", name, err)
	}
	runner, err := migrate.NewWithInstance("iofs", source, name, driver)
	if err != nil {
		return nil, fmt.Errorf("prepare the migrations of %s: %w", name, err)
	}
	return &history{
		name: name, files: files, driver: driver, migrate: runner, db: db, log: log,
		exists: query(prefix + "_exists"), running: query(prefix + "_running"),
	}, nil
}

// up applies what is pending and returns how many steps that were. before is asked in front of each.
func (h *history) up(ctx context.Context, before func(context.Context) error) (int, error) {
	done, err := h.settled(ctx)
	if err != nil {
		return 0, err
	}
	return h.steps(ctx, h.files[done:], 1, before)
}

// down reverses every step that was applied.
func (h *history) down(ctx context.Context, before func(context.Context) error) (int, error) {
	done, err := h.settled(ctx)
	if err != nil {
		return 0, err
	}
	return h.steps(ctx, h.files[:done], -1, before)
}

// settled returns how many steps have been applied, after it has repaired what a killed process has left.
func (h *history) settled(ctx context.Context) (int, error) {
	version, dirty, err := h.driver.Version()
	if err != nil {
		return 0, fmt.Errorf("version of %s: %w", h.name, err)
	}
	if dirty {
		if version, err = h.repair(ctx, version); err != nil {
			return 0, fmt.Errorf("repair %s at dirty version: %w", h.name, err)
		}
	}
	return applied(h.name, h.files, version)
}

// applied returns how many of the files a version stands for.
func applied(name string, files []file, version int) (int, error) {
	if version == database.NilVersion {
		return 0, nil
	}
	for i, f := range files {
		if f.version == version {
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("%s is at version %d, which this topk does not know: use the newer one that applied it", name, version)
}

func (h *history) steps(ctx context.Context, files []file, direction int, before func(context.Context) error) (int, error) {
	for i := range files {
		f := files[i]
		if direction < 0 {
			f = files[len(files)-1-i]
		}
		if err := before(ctx); err != nil {
			return i, err
		}
		start := time.Now()
		if err := h.migrate.Steps(direction); err != nil {
			if failed := (database.Error{}); errors.As(err, &failed) {
				err = failed.OrigErr // golang-migrate's text begins with the whole statement
			}
			return i, fmt.Errorf("%s, step %06d_%s: %w", h.name, f.version, f.name, err)
		}
		h.log.Info("applied", "database", h.name, "version", f.version, "name", f.name, "direction", direction,
			"seconds", time.Since(start).Seconds())
	}
	return len(files), nil
}

// repair decides what a step that was cut off has left, and records it. golang-migrate marks a version dirty before it
// runs the statement: version N is dirty while N goes up, and while N+1 goes down. Each file makes one object in one
// atomic step, so the objects tell:
//
//	N+1 exists              N+1 was going down and is still there      -> N+1
//	N exists                N went up, or N+1 went down, completely    -> N
//	N does not exist        N was going up and is not there            -> the one before N
//
// A file that changes an object leaves none to look for; it can be run again (IF EXISTS), so it counts as not applied.
func (h *history) repair(ctx context.Context, version int) (int, error) {
	if err := h.quiet(ctx); err != nil {
		return 0, err
	}
	done, err := applied(h.name, h.files, version)
	if err != nil {
		return 0, err
	}
	to, err := h.left(ctx, done)
	if err != nil {
		return 0, err
	}
	h.log.Warn("an earlier migration was cut off", "database", h.name, "dirty_version", version, "continues_from", to)
	if err := h.migrate.Force(to); err != nil {
		return 0, fmt.Errorf("record version %d: %w", to, err)
	}
	return to, nil
}

func (h *history) left(ctx context.Context, done int) (int, error) {
	if done < len(h.files) {
		next, err := h.has(ctx, h.files[done])
		if err != nil {
			return 0, err
		}
		if next {
			return h.files[done].version, nil
		}
	}
	if done == 0 {
		return database.NilVersion, nil
	}
	current, err := h.has(ctx, h.files[done-1])
	if err != nil {
		return 0, err
	}
	if current {
		return h.files[done-1].version, nil
	}
	if done == 1 {
		return database.NilVersion, nil
	}
	return h.files[done-2].version, nil
}

func (h *history) has(ctx context.Context, f file) (bool, error) {
	if f.object == "" {
		return false, nil
	}
	var objects uint64
	if err := h.db.QueryRowContext(ctx, h.exists, f.object).Scan(&objects); err != nil {
		return false, fmt.Errorf("look for %s: %w", f.object, err)
	}
	return objects > 0, nil
}

// quiet waits until no statement of another migration runs.
func (h *history) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, quietTimeout)
	defer cancel()
	tick := time.NewTicker(quietInterval)
	defer tick.Stop()
	for {
		var statements uint64
		if err := h.db.QueryRowContext(ctx, h.running).Scan(&statements); err != nil {
			return fmt.Errorf("look for statements that still run: %w", err)
		}
		if statements == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d statements of an earlier migration still run: %w", statements, ctx.Err())
		case <-tick.C:
		}
	}
}

func (h *history) close() error {
	source, db := h.migrate.Close()
	return errors.Join(source, db)
}
