package api

import (
	"context"
	"fmt"
	"time"

	"topk/internal/list"
	"topk/rollups/slices"
)

// absence is the list that every unknown slice of an item type has in a window.
type absence struct {
	list  *list.List
	begun int64 // questions after this one were begun when it had been made
}

// makeAbsent makes the list of a slice that is not known, from one that stands for all of them, so that ten thousand made-up slices cost one
// build in five seconds. It returns nil where the slice has come up since.
//
// The slices are asked for once more after that list was made: one that is not among them even then had no row when its minutes were read,
// as the list says.
func (d *onDemand) makeAbsent(ctx context.Context, key demandKey, window list.Window, union slices.Union, until time.Time) (*demanded, error) {
	stands, err := d.absence(ctx, key.ItemType, window, until)
	if err != nil {
		return nil, err
	}
	known, err := d.known.get(ctx, until, stands.begun)
	if err != nil {
		return nil, d.failed(err)
	}
	if known.any(key.ItemType, union.Members, stands.list.From) {
		return nil, nil
	}
	l := *stands.list
	l.Slice = key.Slice
	l.Floor *= uint64(len(union.Members)) // each may have as much
	l.Reason = fmt.Sprintf("no %s was counted in slice %s in the window", l.ItemType, l.Slice)
	if l.Floor > 0 {
		l.Reason = fmt.Sprintf("no %s is known to stand out in slice %s: each has %d views at most", l.ItemType, l.Slice, l.Floor)
	}
	made, err := newDemanded(&l, d.fresh)
	if err != nil {
		return nil, err
	}
	made.absent = true
	return made, nil
}

// absence returns the list that stands for all unknown slices, of at most five seconds ago.
func (d *onDemand) absence(ctx context.Context, itemType string, window list.Window, until time.Time) (*absence, error) {
	key := demandKey{ItemType: itemType, Window: window.Name, Slice: absentName}
	held := func() *absence {
		if held := d.absent.get(key); held != nil && d.now().Sub(held.list.PublishedAt) < demandFresh {
			return held
		}
		return nil
	}
	if found := held(); found != nil {
		return found, nil
	}
	answer, err, _ := d.building.Do(keyText(key), func() (any, error) {
		if found := held(); found != nil {
			return found, nil
		}
		l, err := d.build(ctx, itemType, window, slices.Union{Name: absentName, Members: []string{absentName}}, until)
		if err != nil {
			return nil, err
		}
		made := &absence{list: l, begun: d.known.begun()}
		d.absent.put(key, made, emptyBytes)
		return made, nil
	})
	if err != nil {
		return nil, err
	}
	made, ok := answer.(*absence)
	if !ok {
		return nil, fmt.Errorf("make the list of unknown slices: it is none")
	}
	return made, nil
}
