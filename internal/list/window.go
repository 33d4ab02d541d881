package list

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Window is a sliding window by name.
type Window struct {
	Name   string
	Length time.Duration // 0: all time
	// Step is what its start moves by: 0 where it moves with the end, else whole hours or days, of which the window has one in part
	// beyond its length.
	Step time.Duration
	// Every is the longest time between two versions of a list while all is well. A list is overdue after it.
	Every time.Duration
}

// From is where the window begins that ends at asOf: for all time 1970, which is before anything counted.
func (w Window) From(asOf time.Time) time.Time {
	switch {
	case w.Length == 0:
		return time.Unix(0, 0).UTC()
	case w.Step == 0:
		return asOf.Add(-w.Length)
	default:
		return asOf.Truncate(w.Step).Add(-w.Length)
	}
}

// slicesEvery is the longest time between two versions of a list of a slice: they end at whole minutes, and give way to lists of all views.
const slicesEvery = 2 * time.Minute

// EveryOf is the longest time between two versions of the list of a slice while all is well.
func (w Window) EveryOf(slice string) time.Duration {
	if slice == GlobalSlice {
		return w.Every
	}
	return max(w.Every, slicesEvery)
}

const day = 24 * time.Hour

// Live are the windows that are counted as they landed, shortest first. A further window is a further row.
var Live = []Window{
	{Name: "1m", Length: time.Minute, Every: 2 * time.Second},
	{Name: "5m", Length: 5 * time.Minute, Every: time.Minute},
	{Name: "1h", Length: time.Hour, Every: time.Minute},
}

// Long are the windows of exact closed hours and the time since, shortest first.
var Long = []Window{
	{Name: "24h", Length: day, Step: time.Hour, Every: 2 * time.Minute},
	{Name: "7d", Length: 7 * day, Step: day, Every: 2 * time.Minute},
	{Name: "30d", Length: 30 * day, Step: day, Every: 2 * time.Minute},
	{Name: "all", Every: 2 * time.Minute},
}

// Windows are all that are published.
var Windows = slices.Concat(Live, Long)

// DefaultWindow is the window of a request that names none.
const DefaultWindow = "1h"

// aliases are second names of windows. A list always carries the first one.
var aliases = map[string]string{"1d": "24h"}

// ParseWindow finds a window by its name or alias. The error says which windows there are.
func ParseWindow(name string) (Window, error) {
	if first, ok := aliases[name]; ok {
		name = first
	}
	for _, w := range Windows {
		if w.Name == name {
			return w, nil
		}
	}
	names := make([]string, len(Windows))
	for i, w := range Windows {
		names[i] = w.Name
	}
	return Window{}, fmt.Errorf("window %q is not one of %s", shorten(name), strings.Join(names, ", "))
}

// maxQuotedBytes is how much of a caller's text an error repeats.
const maxQuotedBytes = 40

func shorten(text string) string {
	if len(text) <= maxQuotedBytes {
		return text
	}
	return text[:maxQuotedBytes] + "..."
}
