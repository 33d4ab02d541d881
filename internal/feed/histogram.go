package feed

import (
	"math"
	"sync"
	"time"
)

const (
	bucketsPerDoubling = 32               // a bucket is 2.2 % wide, which is the error of a percentile
	histogramFloor     = time.Microsecond // everything below falls in the first bucket
	histogramBuckets   = 32 * 36          // up to 19 hours
)

// histogram keeps durations in buckets that grow by a constant factor: constant memory, percentiles within 2.2 %. Safe
// for many goroutines.
type histogram struct {
	mu      sync.Mutex
	buckets [histogramBuckets]uint64
	count   uint64
	max     time.Duration
}

func (h *histogram) add(d time.Duration) {
	bucket := int(math.Ceil(math.Log2(float64(max(d, histogramFloor))/float64(histogramFloor)) * bucketsPerDoubling))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buckets[min(bucket, histogramBuckets-1)]++
	h.count++
	h.max = max(h.max, d)
}

// Durations summarises how long something took, in seconds.
type Durations struct {
	Count uint64  `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

func (h *histogram) durations() Durations {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Durations{Count: h.count, P50: h.quantile(0.5), P90: h.quantile(0.9), P99: h.quantile(0.99), Max: h.max.Seconds()}
}

// quantile is the upper end of the bucket that holds the q-th duration, in seconds, but never more than the maximum.
func (h *histogram) quantile(q float64) float64 {
	rank := uint64(math.Ceil(q * float64(h.count)))
	seen := uint64(0)
	for i, n := range h.buckets {
		if seen += n; n > 0 && seen >= rank {
			upper := histogramFloor.Seconds() * math.Exp2(float64(i)/bucketsPerDoubling)
			return min(upper, h.max.Seconds())
		}
	}
	return 0
}
