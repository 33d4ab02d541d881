package list

// Bounds and default of k, the number of positions asked for. A published list holds at most StoredItems.
const (
	MinK = 1
	MaxK = 1000
	// StoredItems are kept of a list: every k that can be asked for, and a spare that moves up when items are taken down.
	StoredItems = MaxK + 100
	DefaultK    = 100
)

// Cut is the list of the first k positions: a new List that shares the items of l, which must not change afterwards.
// Other and Certified are worked out anew. Floor stays: an item after position k has no more views than the last position
// kept, and an item outside l no more than the greater of l's floor and that position.
func (l *List) Cut(k int) *List {
	cut := *l
	if k < len(l.Items) {
		cut.Items = l.Items[:k:k]
	}
	cut.Certified = l.CertifiedTo(k)
	cut.Other = l.Total
	for i := range cut.Items {
		// Counts are upper bounds, so together they can exceed the total.
		cut.Other -= min(cut.Other, cut.Items[i].Count)
	}
	return &cut
}
