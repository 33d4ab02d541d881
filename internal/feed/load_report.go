package feed

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const (
	reportedItems   = 10
	reportedMinutes = 3
)

// LoadReport says what was sent, in enough detail to check the answer of the lists.
type LoadReport struct {
	Run     string    `json:"run"` // starts every event id
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"` // when the last event was generated
	Wanted  float64   `json:"wanted_per_second"`
	Rate    float64   `json:"accepted_per_second"`
	LoadCounts
	Reasons  []LoadReason   `json:"reasons"`
	Post     Durations      `json:"post_seconds"` // from when a request was due to its answer
	Top      []LoadItem     `json:"top"`          // the truth, over the whole load
	Minutes  []LoadMinute   `json:"minutes"`      // the truth of the last full minutes
	Tracked  int            `json:"tracked_items"`
	Probe    *ProbeReport   `json:"probe,omitempty"`
	Verified []Verification `json:"verified,omitempty"`
}

// LoadReason counts the events rejected for one reason.
type LoadReason struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
	Count  uint64 `json:"count"`
}

// LoadItem is an item with the number of its distinct accepted events.
type LoadItem struct {
	ItemType string `json:"item_type"`
	ItemID   string `json:"item_id"`
	Count    uint64 `json:"count"`
}

// LoadMinute is the truth of [From, To).
type LoadMinute struct {
	From   time.Time  `json:"from"`
	To     time.Time  `json:"to"`
	Events uint64     `json:"events"` // of all items
	Top    []LoadItem `json:"top"`
}

func (l *load) report() *LoadReport {
	r := &LoadReport{
		Run: l.run, Seed: l.cfg.Seed, Started: l.started.UTC(), Ended: l.ended.UTC(),
		Wanted: l.cfg.total(), LoadCounts: l.tally.snapshot(), Post: l.post.durations(), Tracked: l.tally.ranks,
		Reasons: []LoadReason{}, Minutes: []LoadMinute{},
	}
	r.Rate = float64(r.Accepted) / max(l.ended.Sub(l.started).Seconds(), 1e-3)
	for key, n := range l.tally.reasons {
		r.Reasons = append(r.Reasons, LoadReason{Field: key[0], Reason: key[1], Count: n})
	}
	slices.SortFunc(r.Reasons, func(a, b LoadReason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Reason, b.Reason))
	})
	r.Top = l.top(l.tally.total)
	for end := l.ended.Truncate(time.Minute); len(r.Minutes) < reportedMinutes; end = end.Add(-time.Minute) {
		from := end.Add(-time.Minute)
		if from.Before(l.started) {
			break
		}
		ranks, events, ok := l.tally.between(from, end)
		if !ok {
			break
		}
		r.Minutes = append(r.Minutes, LoadMinute{From: from.UTC(), To: end.UTC(), Events: events, Top: l.top(ranks)})
	}
	return r
}

// top is the most viewed of the tracked items: count descending, then id by its bytes.
func (l *load) top(ranks []uint64) []LoadItem {
	items := []LoadItem{}
	for rank, n := range ranks {
		if n > 0 {
			item := l.item(uint64(rank))
			item.Count = n
			items = append(items, item)
		}
	}
	slices.SortFunc(items, func(a, b LoadItem) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.ItemID, b.ItemID))
	})
	return items[:min(len(items), reportedItems)]
}

// item names the item at a rank.
func (l *load) item(rank uint64) LoadItem {
	if rank == viralRank {
		return LoadItem{ItemType: l.cfg.ItemTypes[0], ItemID: l.cfg.ViralItem}
	}
	itemType := l.cfg.ItemTypes[int((rank-1)%uint64(len(l.cfg.ItemTypes)))]
	return LoadItem{ItemType: itemType, ItemID: string(appendItemID(nil, rank))}
}

// Write prints the report for people.
func (r *LoadReport) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s, seed %d: %.1f s, %.0f accepted/s of %.0f wanted\n", r.Run, r.Seed, r.Ended.Sub(r.Started).Seconds(),
		r.Rate, r.Wanted)
	fmt.Fprintf(&b, "  sent %d: accepted %d (distinct %d, duplicates %d), bad rejected %d, good rejected %d, unknown %d\n",
		r.Sent, r.Accepted, r.Distinct, r.Duplicates, r.BadRejected, r.GoodRejected, r.Unknown)
	fmt.Fprintf(&b, "  of the distinct: late %d, spam %d, viral %d\n", r.Late, r.Spam, r.Viral)
	fmt.Fprintf(&b, "  requests %d, retries %d, POST p50 %.3f s, p90 %.3f s, p99 %.3f s, max %.3f s\n", r.Requests, r.Retries,
		r.Post.P50, r.Post.P90, r.Post.P99, r.Post.Max)
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "  COULD NOT KEEP UP: %d events were never sent\n", r.Skipped)
	}
	if r.BadAccepted > 0 {
		fmt.Fprintf(&b, "  FAULT: %d bad events were accepted\n", r.BadAccepted)
	}
	for _, reason := range r.Reasons {
		fmt.Fprintf(&b, "%9d rejected: %s\n", reason.Count, joinReason(RejectedReason{Field: reason.Field, Reason: reason.Reason}))
	}
	writeItems(&b, "top of the whole load", r.Top)
	if len(r.Minutes) > 0 {
		m := r.Minutes[0]
		writeItems(&b, fmt.Sprintf("top of the last full minute, %s to %s, %d events", m.From.Format(time.TimeOnly),
			m.To.Format(time.TimeOnly), m.Events), m.Top)
	}
	if r.Probe != nil {
		r.Probe.write(&b)
	}
	for _, v := range r.Verified {
		v.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeItems(b *strings.Builder, title string, items []LoadItem) {
	fmt.Fprintf(b, "%s\n", title)
	for i, item := range items {
		fmt.Fprintf(b, "%4d %10d  %s %s\n", i+1, item.Count, item.ItemType, item.ItemID)
	}
}
