package list

// CertifiedTo says whether it is proven that no item outside the first k positions belongs in them.
//
// Every position kept must surely beat everything left out: its Lower exceeds Floor, which bounds each item that is not in
// Items, and the counts of the positions behind k. Equality with Floor proves nothing, because an item that was never
// named could have that many views and the smaller id. Equality with a listed position is enough where MaxOvercount is 0 and
// nothing is to be added: both counts are then exact, and the order between them is total. A list with fewer than k items is whole only if no
// other item has a view. An estimated item may have none itself, and then does not belong either. A list of items that trend is in the order of
// scores, of which counts say nothing: it says itself whether it is proven, which is nothing of items beyond those listed.
func (l *List) CertifiedTo(k int) bool {
	if l.Window == TrendingWindow {
		return l.Certified && (k <= len(l.Items) || !l.More)
	}
	if k > len(l.Items) || l.Floor == 0 && k == len(l.Items) {
		return l.Floor == 0 && l.allViewed()
	}
	least := l.Items[0].Lower
	for _, item := range l.Items[:k] {
		least = min(least, item.Lower)
	}
	if least <= l.Floor {
		return false
	}
	if l.MaxOvercount == 0 && len(l.Partial) == 0 {
		return true
	}
	for _, item := range l.Items[k:] {
		if least <= item.Upper {
			return false
		}
	}
	return true
}

// allViewed says whether every item surely has a view. A landed count has one, however often it was sent.
func (l *List) allViewed() bool {
	if l.Method != MethodEstimated {
		return true
	}
	for _, item := range l.Items {
		if item.Lower == 0 {
			return false
		}
	}
	return true
}
