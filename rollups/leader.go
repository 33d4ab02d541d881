package rollups

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/rollups/store"
)

const (
	standbyPoll = time.Second // how often a standby asks for the lock, and a leader whether it still has its connection
	connectWait = 5 * time.Second
)

// errStandby says that another worker leads.
var errStandby = errors.New("another rollup worker holds the lock")

// leader is the connection that holds the lock. Everything that only the active worker may write goes through it, so a
// worker that has lost the lock with its connection can write nothing.
type leader struct {
	mu   sync.Mutex
	conn *pgx.Conn
}

// lead connects and takes the lock, or returns errStandby.
func lead(ctx context.Context, dsn string) (*leader, error) {
	ctx, cancel := context.WithTimeout(ctx, connectWait)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	var taken bool
	if err := conn.QueryRow(ctx, query("lead")).Scan(&taken); err != nil {
		return nil, errors.Join(fmt.Errorf("ask for the lock: %w", err), conn.Close(ctx))
	}
	if !taken {
		return nil, errors.Join(errStandby, conn.Close(ctx))
	}
	return &leader{conn: conn}, nil
}

// do runs one transaction or statement on the connection. An error on a connection that is closed by it ends leadership.
func (l *leader) do(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return f(ctx, l.conn)
}

// hold returns when the connection is lost or ctx ends. It calls answered each time PostgreSQL has answered.
func (l *leader) hold(ctx context.Context, answered func()) error {
	for {
		answered()
		pause(ctx, standbyPoll)
		err := l.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			ctx, cancel := context.WithTimeout(ctx, store.Timeout)
			defer cancel()
			return conn.Ping(ctx)
		})
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lost the lock with its connection: %w", err)
		}
	}
}

// release gives the lock back by closing the connection.
func (l *leader) release() {
	ctx, cancel := context.WithTimeout(context.Background(), connectWait)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.conn.Close(ctx) // a connection that does not close in time is closed all the same
}

// prune removes a batch of old versions of a window.
func (l *leader) prune(ctx context.Context, window string, age store.Age) (removed int64, err error) {
	err = l.do(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		removed, err = store.Prune(ctx, conn, window, age)
		return err
	})
	return removed, err
}
