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

// trendingEvery is the longest time between two lists of items that trend, as rollup workers make them unless told otherwise, and as much again.
const trendingEvery = 10 * time.Minute

// every is the longest time between two versions of a list while all is well.
func every(window, slice string) time.Duration {
	if window == list.TrendingWindow {
		return trendingEvery
	}
	w, err := list.ParseWindow(window)
	if err != nil {
		return time.Minute // a window that a newer rollup worker publishes
	}
	return w.EveryOf(slice)
}

// cacheControl is the header for lists of a window.
func cacheControl(window string) string {
	age := maxMaxAge
	if w, err := list.ParseWindow(window); err == nil && w.Length > 0 {
		age = min(max(w.Length/maxAgeShare, minMaxAge), maxMaxAge)
	}
	return "public, max-age=" + strconv.Itoa(int(age/time.Second))
}
