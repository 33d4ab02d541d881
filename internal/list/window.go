package list

import (
	"fmt"
	"strings"
	"time"
)

// Window is a sliding window by name.
type Window struct {
	Name   string
	Length time.Duration
	// Every is the longest time between two versions of a list while all is well. A list is overdue after it.
	Every time.Duration
}

// Windows that are published, shortest first. A further window is a further row.
var Windows = []Window{
	{Name: "1m", Length: time.Minute, Every: 2 * time.Second},
	{Name: "5m", Length: 5 * time.Minute, Every: time.Minute},
	{Name: "1h", Length: time.Hour, Every: time.Minute},
}

// DefaultWindow is the window of a request that names none.
const DefaultWindow = "1h"

// unpublished are windows that have a name already and no list yet. A name that is also a row of Windows is published.
var unpublished = []string{"24h", "7d", "30d", "all"}

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
	published := strings.Join(names, ", ")
	for _, later := range unpublished {
		if later == name {
			return Window{}, fmt.Errorf("window %s is not published yet; the published windows are %s", name, published)
		}
	}
	return Window{}, fmt.Errorf("window %q is not one of %s", shorten(name), published)
}

// maxQuotedBytes is how much of a caller's text an error repeats.
const maxQuotedBytes = 40

func shorten(text string) string {
	if len(text) <= maxQuotedBytes {
		return text
	}
	return text[:maxQuotedBytes] + "..."
}
