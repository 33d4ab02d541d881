package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"topk/internal/apiclient"
	"topk/internal/list"
)

const (
	verifyWithin    = 60 * time.Second // for a list to reach the end of the load
	verifyPollEvery = 200 * time.Millisecond
	maxFaults       = 10 // that are described; all are counted
)

// verifiedWindows are those whose truth is kept for each second.
var verifiedWindows = []string{"1m", "5m"}

// Verification compares one served list with the truth. It holds when Faults is 0, and says something only when nothing
// else views the same items.
type Verification struct {
	ItemType     string    `json:"item_type"`
	Window       string    `json:"window"`
	From         time.Time `json:"from"`
	AsOf         time.Time `json:"as_of"`
	Certified    bool      `json:"certified"`
	MaxOvercount uint64    `json:"max_overcount"`
	Checked      int       `json:"checked"`   // items whose truth is known
	Unchecked    int       `json:"unchecked"` // listed items beyond the tracked ones
	Faults       int       `json:"faults"`
	Examples     []string  `json:"examples,omitempty"`
}

// verify fetches the lists once they cover the whole load, and checks their claims.
func (l *load) verify(ctx context.Context) ([]Verification, error) {
	counts := l.tally.snapshot()
	if counts.Unknown > 0 {
		return nil, fmt.Errorf("verify: the truth is not known: %d events were given up and may have been accepted", counts.Unknown)
	}
	if counts.Accepted == 0 {
		return nil, errors.New("verify: nothing was accepted")
	}
	ctx, cancel := context.WithTimeout(ctx, verifyWithin)
	defer cancel()
	served := apiclient.New(l.cfg.API)
	defer served.Close()
	var out []Verification
	for typeIndex, itemType := range l.cfg.ItemTypes {
		for _, window := range verifiedWindows {
			got, err := l.covering(ctx, served, itemType, window)
			if err != nil {
				return out, fmt.Errorf("verify %s %s: %w", itemType, window, err)
			}
			v, err := l.check(got, typeIndex)
			if err != nil {
				return out, fmt.Errorf("verify %s %s: %w", itemType, window, err)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// covering waits for a list whose as_of is past the last event. One that begins after it would prove nothing.
func (l *load) covering(ctx context.Context, served *apiclient.Client, itemType, window string) (*list.List, error) {
	query := apiclient.Query{ItemType: itemType, Window: window, K: list.MaxK}
	ticker := time.NewTicker(verifyPollEvery)
	defer ticker.Stop()
	var state string
	for {
		got, err := served.List(ctx, query)
		switch {
		case err != nil:
			state = err.Error()
		case !got.From.Before(l.ended):
			return nil, fmt.Errorf("the list of %s is past the whole load already: none was published in between", got.AsOf.Format(time.RFC3339))
		case got.AsOf.After(l.ended):
			return got, nil
		default:
			state = "as_of is " + got.AsOf.Format(time.RFC3339)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no list past %s came within %s: %s", l.ended.UTC().Format(time.RFC3339), verifyWithin, state)
		case <-ticker.C:
		}
	}
}

// check compares a list of one item type with the truth of its time.
func (l *load) check(got *list.List, typeIndex int) (Verification, error) {
	v := Verification{ItemType: got.ItemType, Window: got.Window, From: got.From, AsOf: got.AsOf, Certified: got.Certified,
		MaxOvercount: got.MaxOvercount}
	ranks, _, ok := l.tally.between(got.From, got.AsOf)
	if !ok {
		return v, fmt.Errorf("the truth from %s is no longer kept", got.From.Format(time.RFC3339))
	}
	truth := map[string]uint64{}
	for rank, n := range ranks {
		if item := l.item(uint64(rank)); item.ItemType == l.cfg.ItemTypes[typeIndex] {
			truth[item.ItemID] = n
		}
	}
	for i, item := range got.Items {
		v.checkOrder(got.Items, i)
		n, tracked := truth[item.ItemID]
		if !tracked {
			v.Unchecked++
			continue
		}
		v.Checked++
		delete(truth, item.ItemID)
		v.checkItem(item, n)
	}
	v.checkMissing(got, truth)
	return v, nil
}

func (v *Verification) fault(format string, args ...any) {
	v.Faults++
	if len(v.Examples) < maxFaults {
		v.Examples = append(v.Examples, fmt.Sprintf(format, args...))
	}
}

func (v *Verification) checkOrder(items []list.Item, i int) {
	if i == 0 {
		return
	}
	before, item := items[i-1], items[i]
	if before.Count < item.Count || before.Count == item.Count && before.ItemID >= item.ItemID {
		v.fault("position %d is out of order", item.Position)
	}
}

func (v *Verification) checkItem(item list.Item, truth uint64) {
	if item.Count < truth || item.Count > truth+v.MaxOvercount {
		v.fault("%s: count %d, truth %d, max_overcount %d", item.ItemID, item.Count, truth, v.MaxOvercount)
	}
	if item.Lower > truth || item.Upper < truth {
		v.fault("%s: truth %d is not within %d and %d", item.ItemID, truth, item.Lower, item.Upper)
	}
}

// checkMissing looks for tracked items that a certified list leaves out.
func (v *Verification) checkMissing(got *list.List, absent map[string]uint64) {
	if !got.Certified {
		return
	}
	last := uint64(0)
	if len(got.Items) >= list.MaxK {
		last = got.Items[len(got.Items)-1].Count
	}
	for id, n := range absent {
		if n > last {
			v.fault("%s: left out with %d views of a certified list that ends at %d", id, n, last)
		}
	}
}

func (v Verification) write(b *strings.Builder) {
	verdict := "holds"
	if v.Faults > 0 {
		verdict = fmt.Sprintf("FAILS %d times", v.Faults)
	}
	fmt.Fprintf(b, "%s %s as of %s %s: %d items checked, %d not tracked, certified %t, max_overcount %d\n", v.ItemType, v.Window,
		v.AsOf.Format(time.TimeOnly), verdict, v.Checked, v.Unchecked, v.Certified, v.MaxOvercount)
	for _, example := range v.Examples {
		fmt.Fprintf(b, "  %s\n", example)
	}
}
