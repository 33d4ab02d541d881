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
	// askedFor is how long a list is made after somebody has asked for it last, by the wall clock, maxAskedLists how many of them, and
	// maxAskedParts of how many slices in all: 185 windows of the EU.
	askedFor      = 10 * time.Minute
	maxAskedLists = 500
	maxAskedParts = 5000
)

// wishes are the unions of which lists are to be made, by window and item type.
type wishes map[string]map[string][]Union

func (w wishes) add(window, itemType string, u Union) {
	if w[window] == nil {
		w[window] = map[string][]Union{}
	}
	if !w.has(window, itemType, u.Name) {
		w[window][itemType] = append(w[window][itemType], u)
	}
}

func (w wishes) has(window, itemType, name string) bool {
	return slices.ContainsFunc(w[window][itemType], func(u Union) bool { return u.Name == name })
}

// choose finds out which lists to make at asOf: of the busiest slices, and others that were asked for.
func (m *Maker) choose(ctx context.Context, db store.DB, asOf time.Time) (busiest, others wishes, err error) {
	if err := m.chooseBusiest(ctx, asOf); err != nil {
		return nil, nil, err
	}
	busiest, others = wishes{}, wishes{}
	for key := range m.wanted {
		for _, window := range list.Live {
			busiest.add(window.Name, key.ItemType, Union{Name: key.Union, Members: []string{key.Union}})
		}
	}
	asked, err := readAsked(ctx, db)
	m.metrics.asked.Set(float64(len(asked)))
	parts := 0
	for _, key := range asked {
		s, err := slice.Parse(key.Slice)
		if err != nil || !m.config.Kept.Has(s) || key.Slice == list.GlobalSlice || len(key.Slice) > list.MaxStoredSlice {
			continue // of another configuration, or written by hand
		}
		if busiest.has(key.Window, key.ItemType, key.Slice) {
			continue
		}
		if parts += s.PartCount(); parts > maxAskedParts {
			break // the others are made on demand
		}
		others.add(key.Window, key.ItemType, Union{Name: key.Slice, Members: s.Parts()})
	}
	return busiest, others, err
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
