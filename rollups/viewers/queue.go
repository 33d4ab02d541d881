package viewers

import (
	"cmp"
	"fmt"
	"slices"
)

// queue is the items of a lot in the order of a list, of which those are looked at that would be in it.
type queue struct {
	lot   *Lot
	ids   []string
	at    int // those before have been looked at
	asked int // of those the last are being looked at
	kept  int
	small int // who has fewer views than viewers are asked for
}

// newQueue leaves out at once whoever has fewer views than viewers are asked for.
func newQueue(lot *Lot, least uint64) *queue {
	q := &queue{lot: lot, ids: make([]string, 0, len(lot.Items))}
	for id, views := range lot.Items {
		switch {
		case views.Upper >= least:
			q.ids = append(q.ids, id)
		case views.Upper > 0: // an item without views is in no list anyway
			delete(lot.Items, id)
			q.small++
		}
	}
	slices.SortFunc(q.ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(lot.Items[b].Upper, lot.Items[a].Upper), cmp.Compare(a, b))
	})
	return q
}

// next is whom to look at: who is missing in the list, and as many more as have been left out, or all who are left.
func (q *queue) next(all bool) []string {
	n := len(q.ids) - q.at
	if missing := q.lot.Stored - q.kept; missing <= 0 {
		n = 0
	} else if !all {
		n = min(n, missing+q.at-q.kept)
	}
	q.asked = n
	q.at += n
	return q.ids[q.at-n : q.at]
}

// drop removes those who were looked at and have too few viewers.
func (q *queue) drop(few map[Item]bool) {
	for _, id := range q.ids[q.at-q.asked : q.at] {
		if few[Item{q.lot.ItemType, id}] {
			delete(q.lot.Items, id)
			q.lot.Hidden++
		} else {
			q.kept++
		}
	}
	q.asked = 0
}

// finish counts, of a list that is not full, those of few views as well: they would be in it.
func (q *queue) finish() {
	if q.kept < q.lot.Stored {
		q.lot.Hidden += q.small
	}
}

func hiddenReason(itemType string, least int) string {
	return fmt.Sprintf("no %s is known to have had %d viewers in the window", itemType, least)
}
