package list

import (
	"fmt"
	"sort"
)

// Interval holds the views of an item as landed, duplicates that clients sent included: Lower <= landed <= Upper.
type Interval struct{ Lower, Upper uint64 }

// Fill puts items into order, at most stored of them, and says what is proven. l has its Total, its Floor and its MaxOvercount as far as it
// does not come from the intervals. repeated views may all be of any one item, so each item's lower bound is less by all of them.
func (l *List) Fill(counted map[string]Interval, repeated uint64, stored int) {
	items := make([]Item, 0, len(counted))
	for id, n := range counted {
		if n.Upper == 0 {
			continue
		}
		lower := n.Lower - min(repeated, n.Lower)
		items = append(items, Item{ItemID: id, Count: n.Upper, Lower: lower, Upper: n.Upper})
		l.MaxOvercount = max(l.MaxOvercount, n.Upper-n.Lower+min(repeated, n.Lower))
	}
	sort.Slice(items, func(i, j int) bool {
		if items[i].Count != items[j].Count {
			return items[i].Count > items[j].Count
		}
		return items[i].ItemID < items[j].ItemID
	})
	if len(items) > stored {
		l.Floor = max(l.Floor, items[stored].Count)
		items = items[:stored:stored]
	}
	l.Other = l.Total
	for i := range items {
		items[i].Position, items[i].Rank = i+1, i+1
		if i > 0 && items[i].Count == items[i-1].Count {
			items[i].Rank = items[i-1].Rank
		}
		l.Other -= min(l.Other, items[i].Count)
	}
	l.Items = items
	l.Certified = l.CertifiedTo(MaxK)
	if len(items) == 0 {
		l.Reason = fmt.Sprintf("no %s was counted in the window", l.ItemType)
	}
}
