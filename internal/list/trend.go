package list

import (
	"math"
	"time"
)

// TrendingWindow is where a list of items that trend is kept, in place of a window.
const TrendingWindow = "trending"

const (
	// TrendFast and TrendSlow are the half-lives of the views that are compared.
	TrendFast = time.Hour
	TrendSlow = 24 * time.Hour
	// TrendNew is the time in which novelty falls by a factor of e.
	TrendNew = 48 * time.Hour
	// TrendReach is how far back views are added up: those before are a 128th of what they were.
	TrendReach = 7 * 24 * time.Hour
)

// Trend is why an item trends. Its score can be worked out again from it. The SQL functions topk_trend_velocity, topk_trend_novelty and
// topk_trend_score are the same. Views are those known: of closed hours each event once, since then as landed, repeats included, which the list's
// MaxOvercount bounds. As far as views are not known, everything is on the side that makes the score less.
type Trend struct {
	Score    float64 `json:"score"`    // Velocity * log1p(Views) * (1 + Novelty)
	Velocity float64 `json:"velocity"` // Fast / max(Slow / 24, Floor)
	Fast     float64 `json:"fast"`     // views with a half-life of TrendFast: no more than landed
	Slow     float64 `json:"slow"`     // views with a half-life of TrendSlow: no less than landed
	Floor    float64 `json:"floor"`    // views an hour that are not told from a rise
	Views    uint64  `json:"views"`    // of the last hour: no more than landed
	Novelty  float64 `json:"novelty"`  // exp(-age / TrendNew), age since FirstSeen
	// FirstSeen is the start of the first minute or closed hour, within TrendReach, that has views of it or may have: of which a slice was left out,
	// or holds its most viewed items alone. So it is not after the first view in that time, and is the start of that time where there are always
	// more items than are held.
	FirstSeen time.Time `json:"first_seen"`
}

// TrendVelocity is how many times as fast as usual an item is viewed.
func TrendVelocity(fast, slow, floor float64) float64 { return fast / max(slow/24, floor) }

// TrendNovelty is 1 for an item that is first seen now, and less the longer ago that was.
func TrendNovelty(age time.Duration) float64 { return math.Exp(-age.Seconds() / TrendNew.Seconds()) }

// TrendScore is by what items that trend are ordered; views are those of the last hour.
func TrendScore(fast, slow, floor float64, views uint64, age time.Duration) float64 {
	return TrendVelocity(fast, slow, floor) * math.Log1p(float64(views)) * (1 + TrendNovelty(age))
}
