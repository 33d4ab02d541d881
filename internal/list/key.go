package list

// Key names a list: what current_lists points with.
type Key struct {
	ItemType string
	Window   string
	Slice    string
}

// Key returns the name of l.
func (l *List) Key() Key {
	return Key{ItemType: l.ItemType, Window: l.Window, Slice: l.Slice}
}
