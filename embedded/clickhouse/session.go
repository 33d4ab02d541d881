package clickhouse

import (
	"sync"
	"time"

	"topk/embedded/clickhouse/internal/chdb"
	"topk/embedded/clickhouse/internal/statement"
)

// ClickHouse's own default and limit of session_timeout.
const (
	defaultSessionTimeout = 60 * time.Second
	maxSessionTimeout     = time.Hour
)

// sessions keep a connection for each session_id, so that USE, SET and temporary tables last from query to query.
type sessions struct {
	pool *pool
	mu   sync.Mutex
	open map[string]*session
}

type session struct {
	conn  *chdb.Connection // nil while a first query makes it
	busy  bool
	timer *time.Timer
}

func newSessions(pool *pool) *sessions { return &sessions{pool: pool, open: map[string]*session{}} }

// take returns the connection of a session, with what the URL asks for in force until it is given back. One query at a time
// may use it.
func (s *sessions) take(request sessionRequest, state state, kind statement.Kind) (conn *chdb.Connection, give func(ok bool), err error) {
	if err := allowedInSession(state, kind); err != nil {
		return nil, nil, err
	}
	current, err := s.claim(request)
	if err != nil {
		return nil, nil, err
	}
	if current.conn == nil {
		current.conn, err = s.pool.engine.connect()
	}
	if err != nil {
		s.give(request, current)
		return nil, nil, err
	}
	restore, err := overlay(current.conn, state, kind)
	give = func(ok bool) {
		if !ok {
			// The library keeps what a failed statement had written; this takes it out, so that the session can go on.
			_, _, _ = current.conn.Query("SELECT 1", "Null", nil)
		}
		if restore() != nil {
			// The statement has forbidden it. A session with another query's settings would be worse than none.
			current.conn.Close()
			current.conn = nil
		}
		s.give(request, current)
	}
	if err != nil {
		give(false)
		return nil, nil, err
	}
	return current.conn, give, nil
}

func (s *sessions) claim(request sessionRequest) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current, ok := s.open[request.id]
	switch {
	case ok && current.busy:
		return nil, exception(codeSessionIsLocked, "Session %s is locked by a concurrent client. (SESSION_IS_LOCKED)", request.id)
	case !ok && request.check:
		return nil, exception(codeSessionNotFound, "Session %s not found. (SESSION_NOT_FOUND)", request.id)
	case !ok && len(s.open) >= maxSessions:
		return nil, exception(codeTooManyQueries, "Too many sessions: %d are open. (TOO_MANY_SIMULTANEOUS_QUERIES)", maxSessions)
	case !ok:
		current = &session{}
		s.open[request.id] = current
	}
	current.busy = true
	if current.timer != nil {
		current.timer.Stop()
	}
	return current, nil
}

func (s *sessions) give(request sessionRequest, current *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current.busy = false
	if current.conn == nil {
		delete(s.open, request.id)
		return
	}
	current.timer = time.AfterFunc(request.timeout, func() { s.expire(request.id, current) })
}

func (s *sessions) expire(id string, current *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if current.busy || s.open[id] != current {
		return
	}
	delete(s.open, id)
	current.conn.Close()
}

// close ends every session; no query may be running.
func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, current := range s.open {
		current.timer.Stop()
		current.conn.Close()
		delete(s.open, id)
	}
}
