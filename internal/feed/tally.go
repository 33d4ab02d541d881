package feed

import (
	"sync"
	"time"
)

const (
	// trackedRanks is how far down the order of popularity the truth is kept: eight times what a list can hold, so that a
	// list's items are tracked unless popularity is nearly flat.
	trackedRanks = 8192
	// keptSeconds bounds the truth per second: the 5m window and as long again for it to be looked at.
	keptSeconds = 10 * 60
)

// tally counts what the ingestor accepted: the truth that lists are compared with. Its memory is bounded: counters for
// the viral item and the first trackedRanks, in total and for each of the last keptSeconds.
type tally struct {
	mu       sync.Mutex
	ranks    int // tracked, the viral item included
	total    []uint64
	seconds  [keptSeconds]secondCounts
	earliest int64 // of a second that was counted, 0 for none
	latest   int64
	counts   LoadCounts
	reasons  map[[2]string]uint64
}

// secondCounts holds the distinct accepted events of one second.
type secondCounts struct {
	second int64
	events uint64
	ranks  []uint32
}

// LoadCounts says what became of the events of a load. Sent = Accepted + BadRejected + GoodRejected + Unknown.
type LoadCounts struct {
	Sent         uint64 `json:"sent"`
	Accepted     uint64 `json:"accepted"`
	Distinct     uint64 `json:"distinct"`      // accepted events less repetitions
	Duplicates   uint64 `json:"duplicates"`    // accepted repetitions
	Late         uint64 `json:"late"`          // of the distinct
	Spam         uint64 `json:"spam"`          // of the distinct
	Viral        uint64 `json:"viral"`         // of the distinct
	BadRejected  uint64 `json:"bad_rejected"`  // as they must be
	BadAccepted  uint64 `json:"bad_accepted"`  // a fault of the ingestor
	GoodRejected uint64 `json:"good_rejected"` // see the reasons
	Unknown      uint64 `json:"unknown"`       // given up: they may have been accepted or not
	Skipped      uint64 `json:"skipped"`       // never sent, for want of time
	Requests     uint64 `json:"requests"`
	Retries      uint64 `json:"retries"`
}

func newTally(items uint64) *tally {
	ranks := 1 + int(min(items, trackedRanks))
	return &tally{ranks: ranks, total: make([]uint64, ranks), reasons: map[[2]string]uint64{}}
}

// answered counts a batch by its verdict.
func (t *tally) answered(b *loadBatch, v Verdict) {
	rejected := map[int]Rejection{}
	for _, r := range v.Rejected {
		rejected[r.Index] = r
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Requests++
	t.counts.Retries += uint64(v.Retries)
	t.counts.Sent += uint64(len(b.sent))
	for i := range b.sent {
		if len(rejected) > 0 {
			if r, ok := rejected[i]; ok {
				t.rejected(b.sent[i], r)
				continue
			}
		}
		t.accepted(&b.sent[i])
	}
}

// lost counts a batch that was given up.
func (t *tally) lost(b *loadBatch, v Verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Requests++
	t.counts.Retries += uint64(v.Retries)
	t.counts.Sent += uint64(len(b.sent))
	t.counts.Unknown += uint64(len(b.sent))
}

func (t *tally) skipped(events uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Skipped += events
}

func (t *tally) rejected(e sent, r Rejection) {
	if e.kind == kindBad {
		t.counts.BadRejected++
	} else {
		t.counts.GoodRejected++
	}
	key := [2]string{r.Field, r.Reason}
	if _, ok := t.reasons[key]; !ok && len(t.reasons) >= maxReportedReasons {
		key = [2]string{"", "other reasons"}
	}
	t.reasons[key]++
}

func (t *tally) accepted(e *sent) {
	t.counts.Accepted++
	switch e.kind {
	case kindBad:
		t.counts.BadAccepted++
		return
	case kindDuplicate:
		t.counts.Duplicates++
		return
	case kindSpam:
		t.counts.Spam++
	case kindViral:
		t.counts.Viral++
	case kindView:
	}
	t.counts.Distinct++
	if e.late {
		t.counts.Late++
	}
	second := t.second(e.second)
	if second != nil {
		second.events++
	}
	if e.rank < uint64(t.ranks) {
		t.total[e.rank]++
		if second != nil {
			second.ranks[e.rank]++
		}
	}
}

// second is where the events of a second are counted, nil when it is too long ago to be kept.
func (t *tally) second(second int64) *secondCounts {
	slot := &t.seconds[second%keptSeconds]
	if slot.second > second {
		return nil
	}
	if slot.second < second {
		if slot.ranks == nil {
			slot.ranks = make([]uint32, t.ranks)
		}
		clear(slot.ranks)
		slot.second, slot.events = second, 0
	}
	if t.earliest == 0 || second < t.earliest {
		t.earliest = second
	}
	t.latest = max(t.latest, second)
	return slot
}

// between sums the tracked counts of [from, to). It reports false when a second of that time is no longer kept.
func (t *tally) between(from, to time.Time) (ranks []uint64, events uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ranks = make([]uint64, t.ranks)
	first, last := max(from.Unix(), t.earliest), min(to.Unix(), t.latest+1)
	for second := first; second < last; second++ {
		slot := &t.seconds[second%keptSeconds]
		if slot.second > second {
			return nil, 0, false
		}
		if slot.second < second {
			continue
		}
		events += slot.events
		for i, n := range slot.ranks {
			ranks[i] += uint64(n)
		}
	}
	return ranks, events, true
}

func (t *tally) snapshot() LoadCounts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}
