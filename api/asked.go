package api

import (
	"context"
	_ "embed"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"topk/internal/list"
)

// Bounds of telling the rollup worker what is asked for.
const (
	// askedWithin is how soon a list must be asked for again to be published from then on.
	askedWithin = 10 * time.Minute
	// maxAskedRows are entered by one API in that time: as many as a worker makes.
	maxAskedRows = 500
	// maxAskedOnce lists are remembered that were asked for once, in some 500 kB; those asked for last, as anybody can ask for any union.
	maxAskedOnce, maxAskedOnceBytes = 2000, 1 << 20
	// askedFlush is how often rows are written, all together; askedAgain how soon a row is written again.
	askedFlush = time.Second
	askedAgain = time.Minute
	// askedLook is how often the served lists are looked through for those that are asked for.
	askedLook = 5 * time.Second
	// askedTimeout bounds one statement.
	askedTimeout = 3 * time.Second
)

var (
	//go:embed sql/upsert_asked.sql
	upsertAskedSQL string
	//go:embed sql/touch_asked.sql
	touchAskedSQL string
)

// asks says when a served list was asked for. Versions of a list share it.
type asks struct {
	second atomic.Int64 // Unix, of the newest request
	told   time.Time    // when PostgreSQL was last told; the asker's own
}

// note costs a request a load, and the first of a second a store.
func (a *asks) note(now time.Time) {
	if second := now.Unix(); a.second.Load() != second {
		a.second.Store(second)
	}
}

// asker enters the lists that are asked for again and again into asked_slices.
type asker struct {
	memory  *memory
	metrics *demandMetrics
	log     *slog.Logger
	now     func() time.Time
	once    *lru[list.Key, time.Time] // lists made on demand, and when they were asked for last

	mu      sync.Mutex
	due     map[list.Key]bool      // rows to write, at most maxAskedRows
	written map[list.Key]time.Time // rows that were, in askedWithin; at most maxAskedRows
}

func newAsker(m *memory, metrics *demandMetrics, log *slog.Logger, now func() time.Time) *asker {
	return &asker{memory: m, metrics: metrics, log: log, now: now, once: newLRU[list.Key, time.Time](maxAskedOnce, maxAskedOnceBytes),
		due: map[list.Key]bool{}, written: map[list.Key]time.Time{}}
}

// ask notes that a list which is not published, of a slice that has views, was asked for.
func (a *asker) ask(key list.Key) {
	if len(key.Slice) > list.MaxStoredSlice {
		return // anybody can make up unions of a hundred long categories, and they are no keys
	}
	now := a.now()
	last := a.once.get(key)
	a.once.put(key, now, len(key.ItemType)+len(key.Slice)+entryBytes)
	if last.IsZero() || now.Sub(last) > askedWithin {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.due[key] || now.Sub(a.written[key]) < askedAgain {
		return
	}
	if _, again := a.written[key]; !again && len(a.written)+len(a.due) >= maxAskedRows {
		a.metrics.asked.WithLabelValues(askedOverMost).Inc()
		return
	}
	a.due[key] = true
}

// entryBytes is about what remembering a key takes beside its texts.
const entryBytes = 200

// run writes until ctx ends. PostgreSQL being away is no error: what is due stays so.
func (a *asker) run(ctx context.Context, pool *pgxpool.Pool) {
	ticker := time.NewTicker(askedFlush)
	defer ticker.Stop()
	var looked time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		a.flush(ctx, pool)
		if time.Since(looked) >= askedLook {
			looked = time.Now()
			a.look(ctx, pool)
		}
	}
}

// flush writes what is due.
func (a *asker) flush(ctx context.Context, pool *pgxpool.Pool) {
	now := a.now()
	a.mu.Lock()
	for key, at := range a.written {
		if now.Sub(at) > askedWithin {
			delete(a.written, key)
		}
	}
	keys := make([]list.Key, 0, len(a.due))
	for key := range a.due {
		keys = append(keys, key)
	}
	a.mu.Unlock()
	if len(keys) == 0 || !a.execute(ctx, pool, upsertAskedSQL, keys) {
		return
	}
	a.metrics.asked.WithLabelValues(askedWritten).Add(float64(len(keys)))
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range keys {
		delete(a.due, key)
		a.written[key] = now
	}
}

// look tells of the served lists that are asked for, each once a minute.
func (a *asker) look(ctx context.Context, pool *pgxpool.Pool) {
	held := a.memory.load()
	if held == nil {
		return
	}
	now := a.now()
	var keys []list.Key
	var told []*asks
	for key, s := range held.lists {
		if s.asks == nil || len(keys) >= maxAskedLook || now.Sub(s.asks.told) < askedAgain {
			continue
		}
		if asked := time.Unix(s.asks.second.Load(), 0); asked.Before(now.Add(-askedAgain)) {
			continue
		}
		keys, told = append(keys, key), append(told, s.asks)
	}
	if len(keys) == 0 || !a.execute(ctx, pool, touchAskedSQL, keys) {
		return
	}
	for _, asks := range told {
		asks.told = now
	}
}

// maxAskedLook bounds the lists of one statement. The others are looked at the next time.
const maxAskedLook = 5000

// execute runs a statement about lists, and says whether it was done.
func (a *asker) execute(ctx context.Context, pool *pgxpool.Pool, statement string, keys []list.Key) bool {
	types, windows, slices := make([]string, len(keys)), make([]string, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		types[i], windows[i], slices[i] = key.ItemType, key.Window, key.Slice
	}
	ctx, cancel := context.WithTimeout(ctx, askedTimeout)
	defer cancel()
	if _, err := pool.Exec(ctx, statement, types, windows, slices); err != nil {
		a.metrics.asked.WithLabelValues(askedFailed).Add(float64(len(keys)))
		a.log.Debug("asked_slices cannot be written", "error", err) // each second, while PostgreSQL is away
		return false
	}
	return true
}
