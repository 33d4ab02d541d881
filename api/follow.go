package api

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/grade"
	"topk/internal/list"
)

// Bounds of following PostgreSQL.
const (
	connectTimeout = 5 * time.Second  // a server that does not answer is away
	queryTimeout   = 15 * time.Second // all lists at once, on a slow disk
	// pollEvery is how often all pointers are compared. Notifications do the work; this finds the one that was lost, and a
	// connection that died without a word.
	pollEvery  = 10 * time.Second
	minBackoff = 100 * time.Millisecond // a restart of PostgreSQL takes about that
	maxBackoff = 5 * time.Second        // lists should be fresh soon after it is back
)

var (
	//go:embed sql/listen.sql
	listenSQL string
	//go:embed sql/listen_charts.sql
	listenChartsSQL string
	//go:embed sql/current_lists.sql
	currentListsSQL string
	//go:embed sql/current_list.sql
	currentListSQL string
)

// follower keeps memory equal to what PostgreSQL says is current. It is the only writer of memory.
type follower struct {
	dsn     string
	fresh   freshness
	memory  *memory
	graded  *gradeMemory
	charts  *chartMemory
	metrics *metrics
	log     *slog.Logger

	compared time.Time     // when memory was last made equal to PostgreSQL as a whole
	grades   []grade.Grade // those in graded, newest first
}

// run follows until ctx ends. PostgreSQL being away is no error: what is in memory stays, and the follower tries again.
func (f *follower) run(ctx context.Context) {
	backoff := minBackoff
	for ctx.Err() == nil {
		loaded, err := f.session(ctx)
		f.metrics.connected.Set(0)
		if ctx.Err() != nil {
			return
		}
		if loaded {
			backoff = minBackoff
		}
		wait := backoff/2 + rand.N(backoff) // many APIs must not come back at the same moment
		f.log.Warn("cannot follow the published lists", "error", err, "retry_in", wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// session follows over one connection until it breaks. It says whether it got as far as loading the lists.
func (f *follower) session(ctx context.Context) (loaded bool, err error) {
	connecting, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgx.Connect(connecting, f.dsn)
	if err != nil {
		return false, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing) // it is broken already, or the process ends
	}()
	// Listening comes before loading: a publish between the two is then heard.
	for _, listen := range []string{listenSQL, listenChartsSQL} {
		if _, err := conn.Exec(connecting, listen); err != nil {
			return false, fmt.Errorf("listen: %w", err)
		}
	}
	if err := f.reload(ctx, conn, nil); err != nil {
		return false, err
	}
	f.metrics.connected.Set(1)
	f.log.Info("following the published lists", "lists", len(f.memory.load().lists))
	for {
		if err := f.next(ctx, conn); err != nil {
			return true, err
		}
	}
}

// next waits for a notification and takes the list it names, or compares everything when that was long ago.
func (f *follower) next(ctx context.Context, conn *pgx.Conn) error {
	left := time.Until(f.compared.Add(pollEvery))
	if left <= 0 { // also while notifications never end
		return f.reload(ctx, conn, f.memory.load())
	}
	waiting, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	notification, err := conn.WaitForNotification(waiting)
	switch {
	case err == nil && notification.Channel == chartsChannel:
		querying, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		return f.charts.refresh(querying, conn)
	case err == nil:
		return f.take(ctx, conn, notification.Payload)
	case ctx.Err() == nil && errors.Is(waiting.Err(), context.DeadlineExceeded) && !conn.IsClosed():
		return nil
	}
	return fmt.Errorf("wait for a publish: %w", err)
}

// take loads the list that a notification names. What counts is the pointer as it is now, not the version in the payload:
// after a rollback or a burst they differ.
func (f *follower) take(ctx context.Context, conn *pgx.Conn, payload string) error {
	var named struct {
		ItemType string `json:"item_type"`
		Window   string `json:"window"`
		Slice    string `json:"slice"`
		Version  int64  `json:"version"`
	}
	if err := json.Unmarshal([]byte(payload), &named); err != nil {
		f.log.Warn("a notification of topk_lists is not understood; comparing all lists", "payload", shorten(payload))
		return f.reload(ctx, conn, f.memory.load())
	}
	key := list.Key{ItemType: named.ItemType, Window: named.Window, Slice: named.Slice}
	now := f.memory.load()
	if held := now.lists[key]; held != nil && held.list.Version == named.Version {
		return nil
	}
	if len(now.types) >= list.MaxItemTypes && !now.knows(key.ItemType) {
		f.metrics.loads.WithLabelValues(loadPutOff).Inc()
		return nil // the next comparison chooses the types that are served
	}
	querying, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	var row currentRow
	err := conn.QueryRow(querying, currentListSQL, key.ItemType, key.Window, key.Slice).Scan(row.targets()...)
	if errors.Is(err, pgx.ErrNoRows) {
		f.memory.remove(key) // its item type has been forgotten
		return nil
	}
	if err != nil {
		return fmt.Errorf("load a list: %w", err)
	}
	if s := f.prepare(&row); s != nil {
		f.memory.put(s)
	}
	return nil
}

// reload makes memory equal to current_lists, fetching the versions that held has not.
func (f *follower) reload(ctx context.Context, conn *pgx.Conn, held *snapshot) error {
	querying, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	versions := []int64{}
	if held != nil {
		for _, s := range held.lists {
			versions = append(versions, s.list.Version)
		}
	}
	rows, err := conn.Query(querying, currentListsSQL, versions, list.MaxItemTypes)
	if err != nil {
		return fmt.Errorf("load lists: %w", err)
	}
	defer rows.Close()
	lists := make(map[list.Key]*served)
	for rows.Next() {
		var row currentRow
		if err := rows.Scan(row.targets()...); err != nil {
			return fmt.Errorf("load lists: %w", err)
		}
		if s := f.choose(&row, held); s != nil {
			lists[row.key] = s
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("load lists: %w", err)
	}
	err = f.charts.refresh(querying, conn) // before lists: whoever is ready knows both
	f.memory.replace(lists)
	f.compared = time.Now()
	f.metrics.reloads.Inc()
	if err != nil {
		return err
	}
	return f.loadGrades(querying, conn, held == nil)
}

// choose returns what to serve for a pointer: the version held, the one just fetched, or, when that cannot be read, the
// last good one.
func (f *follower) choose(row *currentRow, held *snapshot) *served {
	if row.body != nil {
		if s := f.prepare(row); s != nil {
			return s
		}
	}
	if held == nil {
		held = f.memory.load()
	}
	if held == nil {
		return nil
	}
	return held.lists[row.key]
}

// prepare makes a row ready to serve, or returns nil when its body is no list: the API goes on with what it has.
func (f *follower) prepare(row *currentRow) *served {
	l, err := row.list()
	if err == nil {
		var s *served
		if s, err = newServed(l, f.fresh); err == nil {
			f.metrics.loads.WithLabelValues(loadOK).Inc()
			return s
		}
	}
	f.metrics.loads.WithLabelValues(loadFailed).Inc()
	f.log.Error("a published list cannot be read", "error", err, "version", row.version,
		"item_type", row.key.ItemType, "window", row.key.Window, "slice", row.key.Slice)
	return nil
}
