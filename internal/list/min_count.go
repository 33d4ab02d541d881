package list

import (
	"fmt"
	"sort"
)

// CutAt is Cut that leaves out items of fewer than least views as well. The list is then short, and Certified says that it is proven
// that exactly the items listed have so many.
func (l *List) CutAt(k int, least uint64) *List {
	cut := l.Cut(k)
	if least <= 1 {
		return cut // every item has a view
	}
	kept := sort.Search(len(cut.Items), func(i int) bool { return cut.Items[i].Count < least })
	if kept == k {
		return cut
	}
	cut = l.Cut(max(kept, 1))
	cut.Items = cut.Items[:kept]
	cut.Certified = l.separates(kept, least)
	if kept > 0 {
		return cut
	}
	cut.Other = l.Total
	if len(l.Items) > 0 {
		// There is no last position that says what those left out may have.
		cut.Floor = max(cut.Floor, l.Items[0].Upper)
		cut.Reason = fmt.Sprintf("no %s has %d views", l.ItemType, least)
	}
	return cut
}

// separates says whether it is proven that of all items exactly the first kept have least views.
func (l *List) separates(kept int, least uint64) bool {
	for i, item := range l.Items {
		if i < kept && item.Lower < least || i >= kept && item.Upper >= least {
			return false
		}
	}
	return l.Floor < least
}
