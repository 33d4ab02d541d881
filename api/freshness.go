package api

import (
	"strconv"
	"time"

	"topk/internal/list"
)

// Bounds of max-age. A copy may be used for a sixtieth of its window: short enough that a cache changes little about what
// the window covers, long enough that a crowd asks the origin once.
const (
	minMaxAge   = time.Second
	maxMaxAge   = 10 * time.Second
	maxAgeShare = 60
)

// freshness says when a list is overdue.
type freshness struct {
	staleAfter time.Duration // Config.StaleAfter: 0 is never
	everyTrend time.Duration // Config.EveryTrend
}

// every is the longest time between two versions of a list while all is well.
func (f freshness) every(window, slice string) time.Duration {
	if window == list.TrendingWindow {
		return 2 * f.everyTrend // made in the first round after it, and as much again
	}
	w, err := list.ParseWindow(window)
	if err != nil {
		return time.Minute // a window that a newer rollup worker publishes
	}
	return w.EveryOf(slice)
}

// staleAt is when a list is stale whose next version is awaited from a time on: Unix nanoseconds, 0 for never.
func (f freshness) staleAt(l *list.List, from time.Time) int64 {
	if f.staleAfter == 0 {
		return 0
	}
	return from.Add(f.every(l.Window, l.Slice) + f.staleAfter).UnixNano()
}

// cacheControl is the header for lists of a window.
func cacheControl(window string) string {
	age := maxMaxAge
	if w, err := list.ParseWindow(window); err == nil && w.Length > 0 {
		age = min(max(w.Length/maxAgeShare, minMaxAge), maxMaxAge)
	}
	return "public, max-age=" + strconv.Itoa(int(age/time.Second))
}
