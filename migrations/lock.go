package migrations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	lockKey          = int64(0x746f706b_6d696772) // "topkmigr": one lock for functions and both histories
	lockNotAvailable = "55P03"                    // PostgreSQL: lock_timeout passed
	unlockTimeout    = 5 * time.Second            // the session's end frees the lock anyway
)

// lock is a PostgreSQL session lock on a connection of its own: golang-migrate's lock for ClickHouse lives in one process
// only. It ends with the connection, so a killed process leaves none behind.
type lock struct {
	conn *pgx.Conn
}

// acquire waits for the lock for at most wait.
func acquire(ctx context.Context, dsn string, wait time.Duration, log *slog.Logger) (*lock, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse PostgreSQL DSN: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	config.RuntimeParams["application_name"] = fmt.Sprintf("topk migrate lock, process %d on %.20s", os.Getpid(), host)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL for the lock: %w", err)
	}
	l := &lock{conn: conn}
	if err := l.take(ctx, wait, log); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

func (l *lock) take(ctx context.Context, wait time.Duration, log *slog.Logger) error {
	var taken bool
	if err := l.conn.QueryRow(ctx, query("postgres_lock_now"), lockKey).Scan(&taken); err != nil {
		return fmt.Errorf("take the lock: %w", err)
	}
	if taken {
		return nil
	}
	log.Info("waiting for another migration", "holder", l.holder(ctx), "at_most", wait)
	milliseconds := strconv.FormatInt(max(wait.Milliseconds(), 1), 10) // 0 would wait for ever
	if _, err := l.conn.Exec(ctx, query("postgres_lock_timeout"), milliseconds); err != nil {
		return fmt.Errorf("bound the wait for the lock: %w", err)
	}
	_, err := l.conn.Exec(ctx, query("postgres_lock_wait"), lockKey)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == lockNotAvailable {
		return fmt.Errorf("another migration holds the lock after %s: %s", wait, l.holder(ctx))
	}
	if err != nil {
		return fmt.Errorf("wait for the lock: %w", err)
	}
	return nil
}

// holder says whose session has the lock, for people.
func (l *lock) holder(ctx context.Context) string {
	var pid int
	var name, address string
	var since time.Time
	err := l.conn.QueryRow(ctx, query("postgres_lock_holder"), lockKey).Scan(&pid, &name, &address, &since)
	if errors.Is(err, pgx.ErrNoRows) {
		return "nobody by now"
	}
	if err != nil {
		return "unknown: " + err.Error()
	}
	return fmt.Sprintf("%q from %s, PostgreSQL session %d since %s", name, address, pid, since.UTC().Format(time.RFC3339))
}

// held fails when the session was lost, and with it the lock: nothing more may be changed then.
func (l *lock) held(ctx context.Context) error {
	var locks int
	if err := l.conn.QueryRow(ctx, query("postgres_lock_held"), lockKey).Scan(&locks); err != nil {
		return fmt.Errorf("the lock is lost: %w", err)
	}
	if locks != 1 {
		return errors.New("the lock is lost")
	}
	return nil
}

func (l *lock) release() {
	ctx, cancel := context.WithTimeout(context.Background(), unlockTimeout)
	defer cancel()
	// An error leaves nothing to do: the server ends a session whose client is gone, and frees its locks.
	_, _ = l.conn.Exec(ctx, query("postgres_unlock"), lockKey)
	_ = l.conn.Close(ctx)
}
