package api

import (
	"strconv"
	"time"

	"topk/internal/list"
)

// Bounds of max-age. A copy may be used for a sixth of the time between two versions: short enough that a cache adds
// little to a list's age, long enough that a crowd asks the origin once.
const (
	minMaxAge   = time.Second
	maxMaxAge   = 10 * time.Second
	maxAgeShare = 6
)

// every is the longest time between two versions of a window while all is well.
func every(window string) time.Duration {
	w, err := list.ParseWindow(window)
	if err != nil {
		return time.Minute // a window that a newer rollup worker publishes
	}
	return w.Every
}

// cacheControl is the header for lists of a window.
func cacheControl(window string) string {
	age := min(max(every(window)/maxAgeShare, minMaxAge), maxMaxAge)
	return "public, max-age=" + strconv.Itoa(int(age/time.Second))
}
