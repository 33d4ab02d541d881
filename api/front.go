package api

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of the front.
const (
	// maxPlainHeadBytes is the longest head of a plain request; browsers with a few cookies stay below. What is longer, or
	// does not come in one piece, is net/http's.
	maxPlainHeadBytes = 4 << 10
	// deadlineSlack is how much shorter than promised a time-out may be: moving a deadline costs as much as finding a list,
	// so it is moved only after that long.
	deadlineSlack  = time.Second
	minAcceptPause = 5 * time.Millisecond // when the process has no file descriptor left
	maxAcceptPause = time.Second
)

// answerer finds the answer to a plain request, as bytes: the head without its last lines, and the body. ok is false when
// net/http must answer.
type answerer func(p *plainRequest, now time.Time) (head, body []byte, status int, ok bool)

// front takes all connections. Plain requests for lists are answered here, from bytes to bytes: net/http spends several
// times more on a request than the list does. With the first request that is not plain, a connection is handed over to
// net/http for good. So the front never has to know HTTP, only to recognise what it knows.
type front struct {
	slicing  slicing
	answer   answerer
	metrics  *routeMetrics
	now      func() time.Time
	handover *handover
	log      *slog.Logger

	draining atomic.Bool
	date     dateLine

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	live  sync.WaitGroup
}

// serve accepts connections until ctx ends. Then it lets answers under way finish, and closes the listener.
func (f *front) serve(ctx context.Context, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() {
		f.drain()
		_ = listener.Close() // what matters is that Accept returns
	})
	defer stop()
	defer f.live.Wait()
	pause := minAcceptPause
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			pause = minAcceptPause
			f.start(conn)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			f.drain()
			return err
		default:
			f.log.Warn("cannot accept a connection", "error", err, "retry_in", pause)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, maxAcceptPause)
		}
	}
}

// start serves a connection in a goroutine of its own.
func (f *front) start(conn net.Conn) {
	f.mu.Lock()
	f.conns[conn] = struct{}{}
	f.mu.Unlock()
	f.live.Go(func() {
		c := &frontConn{front: f, conn: conn}
		defer func() {
			f.mu.Lock()
			delete(f.conns, conn)
			f.mu.Unlock()
			if p := recover(); p != nil {
				f.log.Error("a plain request failed", "panic", p)
				_ = conn.Close() // it is given up
			}
		}()
		c.serve()
	})
}

// drain wakes the connections that wait for a request. It is set before they are woken, so none falls asleep again.
func (f *front) drain() {
	f.draining.Store(true)
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.conns {
		_ = conn.SetReadDeadline(time.Unix(1, 0)) // a broken connection is awake already
		_ = conn.SetWriteDeadline(time.Now().Add(shutdownTimeout))
	}
}
