package slices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/list"
	"topk/internal/slice"
	"topk/rollups/store"
)

const (
	// wantedFor is how long, in event time, a slice keeps its lists once it is no longer among the busiest. So those near the border have them
	// throughout, and the last list of one that nobody views is an empty one.
	wantedFor = 10 * time.Minute
	// askedFor is how long a list is made after somebody has asked for it last, by the wall clock, and maxAskedLists how many of them.
	askedFor      = 10 * time.Minute
	maxAskedLists = 500
)

// wishes are the unions of which lists are to be made, by window and item type.
type wishes map[string]map[string][]Union

func (w wishes) add(window, itemType string, u Union) {
	if w[window] == nil {
		w[window] = map[string][]Union{}
	}
	if !slices.ContainsFunc(w[window][itemType], func(other Union) bool { return other.Name == u.Name }) {
		w[window][itemType] = append(w[window][itemType], u)
	}
}

// choose finds out which lists to make at asOf.
func (m *Maker) choose(ctx context.Context, db store.DB, asOf time.Time) (wishes, error) {
	if err := m.chooseBusiest(ctx, asOf); err != nil {
		return nil, err
	}
	wanted := wishes{}
	for key := range m.wanted {
		for _, window := range list.Live {
			wanted.add(window.Name, key.ItemType, Union{Name: key.Union, Members: []string{key.Union}})
		}
	}
	asked, err := readAsked(ctx, db)
	m.metrics.asked.Set(float64(len(asked)))
	for _, key := range asked {
		s, err := slice.Parse(key.Slice)
		if err != nil || !m.config.Kept.Has(s) || key.Slice == list.GlobalSlice {
			continue // of another configuration, or written by hand
		}
		wanted.add(key.Window, key.ItemType, Union{Name: key.Slice, Members: s.Parts()})
	}
	return wanted, err
}

// chooseBusiest brings m.wanted up to date.
func (m *Maker) chooseBusiest(ctx context.Context, asOf time.Time) error {
	var found []busy
	for i := len(list.Live) - 1; i >= 0; i-- { // of the longest window that has been filled
		var err error
		if found, err = m.builder.busiest(ctx, list.Live[i], asOf, m.config.Lists); err == nil {
			break
		} else if !errors.Is(err, ErrNotFilled) {
			return fmt.Errorf("ask for the busiest slices: %w", err)
		}
	}
	pair := func(b busy) int {
		if b.pair {
			return 1
		}
		return 0
	}
	slices.SortFunc(found, func(a, b busy) int {
		return cmp.Or(cmp.Compare(pair(a), pair(b)), cmp.Compare(b.views, a.views), cmp.Compare(a.ItemType, b.ItemType), cmp.Compare(a.Union, b.Union))
	})
	for _, b := range found[:min(len(found), m.config.Lists)] {
		m.wanted[b.Key] = asOf
	}
	for key, last := range m.wanted {
		if last.Before(asOf.Add(-wantedFor)) || last.After(asOf) {
			delete(m.wanted, key)
		}
	}
	return nil
}

// readAsked returns the lists that somebody has asked for lately, the newest first, and lets go of the others.
func readAsked(ctx context.Context, db store.DB) (asked []list.Key, err error) {
	err = db(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		asked, err = store.Asked(ctx, conn, askedFor, maxAskedLists)
		return err
	})
	return asked, err
}
