package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"topk/embedded/clickhouse/internal/chdb"
)

// setting is one name and value of a request's URL.
type setting struct{ name, value string }

// state is what a connection must be set to before a statement runs on it. Connections are kept by it: one that was
// used with other settings or another database is never taken, so nothing leaks from query to query.
type state struct {
	database string
	settings []setting // sorted by name
	readonly bool
}

func (s state) key() string {
	return fmt.Sprintf("%q %q %t", s.database, s.settings, s.readonly)
}

// pool hands out connections, one per running statement, and bounds how many run and how many wait.
type pool struct {
	engine  *engine
	slots   chan struct{}
	waiting atomic.Int64
	mu      sync.Mutex
	idle    []idleConnection // oldest first, at most as many as may run
}

type idleConnection struct {
	key  string
	conn *chdb.Connection
}

func newPool(engine *engine, size int) *pool {
	return &pool{engine: engine, slots: make(chan struct{}, size)}
}

// enter waits for a turn. leave gives it back.
func (p *pool) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-p.slots }
	select {
	case p.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if p.waiting.Add(1) > maxQueued {
		p.waiting.Add(-1)
		return nil, tooManyQueries(cap(p.slots))
	}
	defer p.waiting.Add(-1)
	timer := time.NewTimer(maxQueueWait)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, exception(codeQueryWasCancelled, "Query was cancelled while it waited")
	case <-timer.C:
		return nil, tooManyQueries(cap(p.slots))
	}
}

// take returns a connection in the state asked for.
func (p *pool) take(state state) (*chdb.Connection, error) {
	key := state.key()
	p.mu.Lock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if p.idle[i].key == key {
			conn := p.idle[i].conn
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.mu.Unlock()
			return conn, nil
		}
	}
	p.mu.Unlock()
	conn, err := p.engine.connect()
	if err != nil {
		return nil, err
	}
	if err := prepare(conn, state); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// put keeps a connection for the next statement that wants the same state; the oldest one makes room.
func (p *pool) put(conn *chdb.Connection, state state) {
	p.mu.Lock()
	p.idle = append(p.idle, idleConnection{state.key(), conn})
	var oldest *chdb.Connection
	if len(p.idle) > cap(p.slots) {
		oldest = p.idle[0].conn
		p.idle = append([]idleConnection(nil), p.idle[1:]...)
	}
	p.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
}

// close closes the idle connections.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, idle := range p.idle {
		idle.conn.Close()
	}
	p.idle = nil
}

// prepare brings a fresh connection into a state. readonly comes last: it forbids what comes after.
func prepare(conn *chdb.Connection, state state) error {
	if state.database != "" && state.database != "default" {
		if _, _, err := conn.Query("USE "+quoteName(state.database), "Null", nil); err != nil {
			return err
		}
	}
	if err := set(conn, state.settings); err != nil {
		return err
	}
	if state.readonly {
		_, _, err := conn.Query("SET readonly = 2", "Null", nil)
		return err
	}
	return nil
}

// set brings settings into force for what the connection runs next.
func set(conn *chdb.Connection, settings []setting) error {
	var assignments []string
	for _, setting := range settings {
		assignments = append(assignments, quoteName(setting.name)+" = "+quoteText(setting.value))
	}
	return assign(conn, assignments)
}

func assign(conn *chdb.Connection, assignments []string) error {
	if len(assignments) == 0 {
		return nil
	}
	_, _, err := conn.Query("SET "+strings.Join(assignments, ", "), "Null", nil)
	return err
}

var escapeText = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "`", "\\`", "\x00", `\0`)

func quoteText(text string) string { return "'" + escapeText.Replace(text) + "'" }
func quoteName(name string) string { return "`" + escapeText.Replace(name) + "`" }
