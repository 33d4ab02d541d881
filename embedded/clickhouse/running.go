package clickhouse

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// killInterval is how often a statement that should stop is told so: it may not have reached the engine's list yet.
const killInterval = 50 * time.Millisecond

// running are the statements in the engine, by query id.
type running struct {
	engine *engine
	logger *slog.Logger
	mu     sync.Mutex
	ids    map[string]bool
}

func newRunning(engine *engine, logger *slog.Logger) *running {
	return &running{engine: engine, logger: logger, ids: map[string]bool{}}
}

// begin enters a query id, once at a time.
func (r *running) begin(id string) (end func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids[id] {
		return nil, exception(codeQueryWithSameID, "Query with id = %s is already running. (QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING)", id)
	}
	r.ids[id] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.ids, id)
	}, nil
}

// watch cancels the statement in the engine when ctx ends before stop is called. stop waits until no cancelling is
// under way, so that it cannot hit a later statement with the same id.
func (r *running) watch(ctx context.Context, id string) (stop func()) {
	done := make(chan struct{})
	var cancelling sync.WaitGroup
	cancelling.Add(1)
	go func() {
		defer cancelling.Done()
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		r.kill(id, done)
	}()
	return func() {
		close(done)
		cancelling.Wait()
	}
}

func (r *running) kill(id string, done <-chan struct{}) {
	ticker := time.NewTicker(killInterval)
	defer ticker.Stop()
	for {
		if err := r.engine.kill(id); err != nil {
			r.logger.Warn("cancel query", "query_id", id, "error", err)
		}
		select {
		case <-done:
			return
		case <-ticker.C:
		}
	}
}

// marker is a comment that carries the caller's query id in the statement's text: the library gives statements ids of
// its own, and this is how system.processes shows which is which.
func marker(id string) string { return " /* query_id: " + strings.ReplaceAll(id, "*/", "* /") + " */" }

// killStatement stops what carries the marker. It names the marker in two halves, or it would find itself.
func killStatement(id string) string {
	text := marker(id)
	return "KILL QUERY WHERE position(query, concat(" + quoteText(text[:6]) + ", " + quoteText(text[6:]) + ")) > 0 ASYNC"
}
