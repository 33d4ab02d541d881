package viewers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const (
	// maxWatched bounds the items whose viewers are counted: seven lists of 1,100 items and 250 slices of 120 in three windows share most of
	// theirs. A state takes some hundred bytes a minute, and the set is read with every block of events.
	maxWatched = 20_000
	// keptWatched stay when there are more.
	keptWatched = maxWatched * 3 / 4
	// renewEvery is how often the set is written anew, by the wall clock, well within the hour that rows live. Items that no list has wanted
	// for wantedFor are left out then.
	renewEvery = 15 * time.Minute
	wantedFor  = 30 * time.Minute
	// checkEvery is how often it is checked that nobody else writes versions.
	checkEvery = 10 * time.Second
)

// never is later than anything: what is since never is not known.
var never = time.Unix(1<<32-1, 0).UTC()

// known is what is known of an item.
type known struct {
	watched bool                 // by the version
	since   [grains]time.Time    // states hold all viewers from then on
	asOf    time.Time            // of the build that had it watched
	at      time.Time            // the same by the wall clock
	settled bool                 // the block that was on its way then is in the states
	enough  time.Time            // it has enough viewers in windows that begin then or earlier
	few     map[string]time.Time // by window: when it was last found to have too few, by the wall clock
	wanted  time.Time            // by a list, by the wall clock
	before  map[string]before    // by window, for windows that begin before raw events do
}

// watch is the set of items whose viewers are counted, as topk.watched_items holds it.
type watch struct {
	conn   driver.Conn
	budget time.Duration
	reads  bool // what another has watched, and writes nothing

	writing sync.Mutex // held while rows are written; protects the next four
	version uint64     // 0: what the table holds is not known
	begun   time.Time  // when the version was, by the wall clock
	checked time.Time
	fresh   bool // nothing was written yet: what the table holds is of the worker before

	mu    sync.Mutex
	items map[Item]*known
}

func newWatch(conn driver.Conn, budget time.Duration) *watch {
	return &watch{conn: conn, budget: budget, fresh: true, items: map[Item]*known{}}
}

// forget drops what is known. The newest version may be taken over then.
func (w *watch) forget() {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.version, w.fresh = 0, true
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.items)
}

// doubt takes no item for watched any more. What was found out before stays true.
func (w *watch) doubt() {
	w.version, w.fresh = 0, false
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.items {
		k.watched, k.settled, k.since = false, false, [grains]time.Time{never, never}
	}
}

// ready takes over what the worker before has watched, sees to it that the newest version is this worker's, and renews it. Another's newer
// version may lack items that this worker takes for watched, so then nothing is known any more.
func (w *watch) ready(ctx context.Context) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	now := time.Now()
	if (w.version > 0 || w.reads) && now.Sub(w.checked) < checkEvery {
		return nil
	}
	newest, err := w.newest(ctx)
	switch {
	case err != nil:
		return err
	case w.reads:
		if err := w.load(ctx, newest, now); err != nil {
			return err
		}
		w.version = newest
	case w.version == 0 && w.fresh && newest > 0:
		if err := w.load(ctx, newest, now); err != nil {
			return err
		}
		w.fresh = false
		err = w.renew(ctx, newest, now)
	case w.version == 0 || w.version != newest:
		w.doubt()
		err = w.renew(ctx, newest, now)
	case now.Sub(w.begun) >= renewEvery:
		err = w.renew(ctx, newest, now)
	}
	w.checked = now
	return err
}

// unchanged is an error when the version that was read is not the newest any more: items of it may not be watched any more.
func (w *watch) unchanged(ctx context.Context) error {
	newest, err := w.newest(ctx)
	if err != nil {
		return err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	if newest != w.version {
		w.checked = time.Time{}
		return errors.New("what is watched has changed meanwhile")
	}
	return nil
}

func (w *watch) newest(ctx context.Context) (version uint64, err error) {
	err = questions.Read(ctx, w.conn, "newest", nil, w.budget, func(rows driver.Rows) error { return rows.Scan(&version) })
	return version, err
}

// load reads what a version holds. Its items have been watched ever since. Verdicts stay.
func (w *watch) load(ctx context.Context, version uint64, now time.Time) error {
	found := map[Item]*known{}
	err := questions.Read(ctx, w.conn, "watched", parameters{"version": version}, w.budget, func(rows driver.Rows) error {
		var item Item
		k := &known{watched: true, settled: true, at: now, wanted: now}
		if err := rows.Scan(&item.Type, &item.ID, &k.since[minutes], &k.since[hours]); err != nil {
			return err
		}
		found[item] = k
		return nil
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for item, k := range found {
		if last := w.items[item]; last != nil {
			k.enough, k.few, k.before = last.enough, last.few, last.before
		}
	}
	w.items = found
	return nil
}

// renew writes the items that are wanted as a new version, later than the newest. Those left out are forgotten.
func (w *watch) renew(ctx context.Context, newest uint64, now time.Time) error {
	w.mu.Lock()
	kept := make([]Item, 0, len(w.items))
	for item, k := range w.items {
		if k.watched && now.Sub(k.wanted) < wantedFor {
			kept = append(kept, item)
		}
	}
	slices.SortFunc(kept, func(a, b Item) int {
		return cmp.Or(w.items[b].wanted.Compare(w.items[a].wanted), cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
	})
	if len(kept) > keptWatched {
		kept = kept[:keptWatched]
	}
	items := make(map[Item]*known, len(kept))
	for _, item := range kept {
		items[item] = w.items[item]
	}
	for item, k := range w.items { // verdicts of before
		if !k.watched && now.Sub(k.wanted) < wantedFor && len(items) < keptWatched {
			items[item] = k
		}
	}
	w.items = items
	w.mu.Unlock()
	w.version, w.begun = max(uint64(now.UnixMicro()), newest+1), now
	return w.write(ctx, kept)
}

// add has items watched, as many as there is room for, the first first.
func (w *watch) add(ctx context.Context, items []Item, asOf time.Time) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	now := time.Now()
	if w.version == 0 || w.reads {
		return nil // nothing can be written before ready has succeeded
	}
	if len(items)+w.size() > maxWatched {
		if err := w.renew(ctx, w.version, now); err != nil {
			return err
		}
	}
	w.mu.Lock()
	items = slices.DeleteFunc(slices.Clone(items), func(item Item) bool { return w.items[item] != nil && w.items[item].watched })
	items = items[:max(0, min(len(items), maxWatched-len(w.items)))]
	w.mu.Unlock()
	if len(items) == 0 {
		return nil
	}
	if err := w.write(ctx, items); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, item := range items {
		k := w.items[item]
		if k == nil {
			k = &known{}
			w.items[item] = k
		}
		k.watched, k.settled, k.since, k.asOf, k.at, k.wanted = true, false, [grains]time.Time{never, never}, asOf, now, now
	}
	return nil
}

// record writes how far back the states of items reach.
func (w *watch) record(ctx context.Context, items []Item) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.version == 0 {
		return nil
	}
	return w.write(ctx, items)
}

// write adds rows to the version, without how far the states of an item reach while a block may be on its way that has not met it. When it
// fails nobody knows what is watched.
func (w *watch) write(ctx context.Context, items []Item) (err error) {
	defer func() {
		if err != nil {
			w.doubt()
			err = fmt.Errorf("watch items: %w", err)
		}
	}()
	if len(items) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.budget)
	defer cancel()
	batch, err := w.conn.PrepareBatch(ctx, "INSERT INTO topk.watched_items (version, item_type, item_id, minutes_since, hours_since)")
	if err != nil {
		return err
	}
	for _, item := range items {
		since := [grains]time.Time{never, never}
		w.mu.Lock()
		if k := w.items[item]; k != nil && k.settled {
			since = k.since
		}
		w.mu.Unlock()
		if err := batch.Append(w.version, item.Type, item.ID, since[minutes], since[hours]); err != nil {
			return err
		}
	}
	return batch.Send()
}

func (w *watch) size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.items)
}
