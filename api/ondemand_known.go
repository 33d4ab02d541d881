package api

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"sync"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
	"topk/rollups/slices"
)

const (
	// horizonEvery is how often the newest filled minute is asked for, and horizonLimit how long an answer may take: a ClickHouse that
	// is away is found out there, for all requests together.
	horizonEvery = time.Second
	horizonLimit = time.Second
	// knownLimit bounds the question which slices there are.
	knownLimit = 2 * time.Second
	// maxKnownSlices are held, in some 15 MB: a worker keeps a thousand a minute, hour and day, of each kind of dimensions
	// and item type. Where there are more, every slice that is asked for is built.
	maxKnownSlices = 100_000
)

// errNothingFilled says that no list of a slice can be made yet.
var errNothingFilled = errors.New("no minute of slices has been filled: the rollup worker has not begun, or keeps nothing of slices")

//go:embed sql/known_slices.sql
var demandFiles embed.FS

var demandQuestions = clickhouse.NewQuestions(demandFiles, ch.Settings{"max_threads": 1})

// horizon is up to when lists of slices can be made. It is asked for once a second at most, failures included.
type horizon struct {
	read func(context.Context) (time.Time, error)
	now  func() time.Time

	mu    sync.Mutex // held while it is read: who comes meanwhile gets that answer
	at    time.Time  // when it was read
	until time.Time
	err   error
}

func (h *horizon) get(ctx context.Context) (time.Time, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.at.IsZero() && h.now().Sub(h.at) < horizonEvery {
		return h.until, h.err
	}
	ctx, cancel := context.WithTimeout(ctx, horizonLimit)
	defer cancel()
	h.until, h.err = h.read(ctx)
	if h.err == nil && h.until.Unix() <= 0 {
		h.err = errNothingFilled
	}
	h.at = h.now()
	return h.until, h.err
}

// sliceName is a slice of an item type.
type sliceName struct{ itemType, slice string }

// knownSlices are the base slices that had views up to a horizon. They do not change.
type knownSlices struct {
	until      time.Time
	generation int64
	all        bool // there are too many to hold: any may have views
	last       map[sliceName]time.Time
}

// any says whether one of some slices may have views since a time.
func (k *knownSlices) any(itemType string, names []string, since time.Time) bool {
	if k.all {
		return true
	}
	for _, name := range names {
		if last, ok := k.last[sliceName{itemType, name}]; ok && !last.Before(since) {
			return true
		}
	}
	return false
}

// known tells slices that have views from made-up ones, so that those cost no build.
type known struct {
	conn driver.Conn

	mu         sync.Mutex // held while they are read
	generation int64      // of the newest question that was begun
	held       *knownSlices
	failed     time.Time // when the last question failed, and why: who waited for it does not wait for another
	err        error
}

// begun is the generation of the newest question.
func (k *known) begun() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.generation
}

// get returns those known up to a horizon at least, by a question that was begun after the one of a generation.
func (k *known) get(ctx context.Context, until time.Time, after int64) (*knownSlices, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held != nil && !k.held.until.Before(until) && k.held.generation > after {
		return k.held, nil
	}
	if k.err != nil && time.Since(k.failed) < horizonEvery {
		return nil, k.err
	}
	k.generation++
	found := &knownSlices{until: until, generation: k.generation, last: map[sliceName]time.Time{}}
	p := clickhouse.Parameters{"since": until.Add(-slices.Reach), "most": maxKnownSlices + 1}
	ctx, cancel := context.WithTimeout(ctx, knownLimit)
	defer cancel()
	err := demandQuestions.Read(ctx, k.conn, "known_slices", p, knownLimit, func(rows driver.Rows) error {
		var name sliceName
		var last time.Time
		if err := rows.Scan(&name.itemType, &name.slice, &last); err != nil {
			return err
		}
		found.last[name] = last.UTC()
		return nil
	})
	k.err = nil
	if err != nil {
		k.failed, k.err = time.Now(), fmt.Errorf("ask which slices there are: %w", err)
		return nil, k.err
	}
	if len(found.last) > maxKnownSlices {
		found.all, found.last = true, nil
	}
	k.held = found
	return found, nil
}
