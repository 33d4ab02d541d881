package grade

import (
	"cmp"
	"slices"
)

// Show orders grades as they are shown, newest time first, and says which have been replaced: by a newer one of the same list and
// time, unless that could measure nothing.
func Show(grades []Grade) []Shown {
	shown := make([]Shown, len(grades))
	for i := range grades {
		shown[i] = Shown{Grade: grades[i], Alerts: grades[i].Alerts()}
	}
	slices.SortFunc(shown, func(a, b Shown) int {
		return cmp.Or(b.Until.Compare(a.Until), cmp.Compare(a.Window, b.Window), cmp.Compare(a.ItemType, b.ItemType), cmp.Compare(b.ID, a.ID))
	})
	newer, measured := 0, false // grades of this list that are newer, and whether one of them measured it
	for i := range shown {
		if i > 0 && !sameList(&shown[i], &shown[i-1]) {
			newer, measured = 0, false
		}
		unmeasured := shown[i].Measures == nil
		shown[i].Replaced = measured || unmeasured && newer > 0
		newer, measured = newer+1, measured || !unmeasured
	}
	return shown
}

// sameList says whether two grades are of the same list and time.
func sameList(a, b *Shown) bool {
	return a.Until.Equal(b.Until) && a.Window == b.Window && a.ItemType == b.ItemType
}
