package grades

import (
	"topk/internal/grade"
	"topk/internal/list"
	"topk/rollups/recount"
)

// measuredTop positions are looked at for what they share with the exact top and for how far they are displaced.
const measuredTop = 100

// truth is the exact side of one item type.
type truth struct {
	levels []recount.Level   // how many items have how many views, most views first
	counts map[string]uint64 // of the items that the list names; what is missing has no views
}

// items is how many items have views.
func (t truth) items() (n uint64) {
	for _, level := range t.levels {
		n += level.Items
	}
	return n
}

// least is the k-th greatest count, or the smallest where fewer than k items have views: what an item of the exact top k has at
// least. It is 0 when nothing has views.
func (t truth) least(k int) uint64 {
	seen, least := uint64(0), uint64(0)
	for _, level := range t.levels {
		if seen >= uint64(k) {
			break
		}
		seen, least = seen+level.Items, level.Views
	}
	return least
}

// places are the first and the last position that an item of so many views may have. One without views may be anywhere behind
// all others: last is 0 then.
func (t truth) places(views uint64) (first, last uint64) {
	first = 1
	for _, level := range t.levels {
		if level.Views <= views {
			return first, first + level.Items - 1
		}
		first += level.Items
	}
	return first, 0
}

// measure compares a list with the truth of its time.
func measure(l *list.List, t truth) *grade.Measures {
	m := &grade.Measures{
		Method: l.Method, Certified: l.Certified, Items: len(l.Items), ExactItems: t.items(), MaxOvercount: l.MaxOvercount,
	}
	m.Recall100, m.Recall1000 = recall(l, t, 100), recall(l, t, 1000)
	m.Shared100 = shared(l, t, measuredTop)
	for i, item := range l.Items {
		views := t.counts[item.ItemID]
		m.Overcount = max(m.Overcount, item.Count-min(views, item.Count))
		if i < measuredTop {
			d := displaced(uint64(i+1), views, t)
			m.Displacement = max(m.Displacement, d-min(d, uint64(l.Hidden)))
		}
	}
	return m
}

// right counts the first k positions that are in the exact top k. Those that were left out for too few viewers are in that as well, wherever
// they would be: so many places more are right.
func right(l *list.List, t truth, k int) (n int) {
	least := t.least(k + l.Hidden)
	for _, item := range l.Items[:min(k, len(l.Items))] {
		if views := t.counts[item.ItemID]; views > 0 && views >= least {
			n++
		}
	}
	return n
}

func recall(l *list.List, t truth, k int) float64 {
	if len(t.levels) == 0 {
		return 1
	}
	of := min(uint64(k), t.items())
	if l.MinViewers > 0 && len(l.Items) > 0 {
		of = min(of, uint64(len(l.Items))) // how many others have enough viewers, nobody knows
	}
	return float64(right(l, t, k)) / float64(of)
}

func shared(l *list.List, t truth, k int) float64 {
	switch {
	case len(l.Items) > 0:
		return float64(right(l, t, k)) / float64(min(k, len(l.Items)))
	case len(t.levels) == 0:
		return 1
	default:
		return 0
	}
}

// displaced is how far a position is from the nearest one that an item of so many views may have.
func displaced(position, views uint64, t truth) uint64 {
	first, last := t.places(views)
	switch {
	case position < first:
		return first - position
	case last > 0 && position > last:
		return position - last
	default:
		return 0
	}
}
