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
}

// Windows that are published, shortest first.
var Windows = []Window{
	{Name: "1m", Length: time.Minute},
	{Name: "5m", Length: 5 * time.Minute},
	{Name: "1h", Length: time.Hour},
}

// ParseWindow finds a window by its name.
func ParseWindow(name string) (Window, error) {
	names := make([]string, len(Windows))
	for i, w := range Windows {
		if w.Name == name {
			return w, nil
		}
		names[i] = w.Name
	}
	return Window{}, fmt.Errorf("window %q is not one of %s", name, strings.Join(names, ", "))
}
