// Package grade is what became known of a published list once the same time was counted exactly: what the rollup worker
// writes, PostgreSQL keeps, and the API and topk grades show.
package grade

import (
	"fmt"
	"strings"
	"time"
)

// Limits of the alerts.
const (
	MinRecall100    = 0.99 // every list that is graded
	MinShared100Day = 0.95 // the list of a day: what people quote
)

// Names of the alerts, in JSON, metrics and logs.
const (
	AlertRecall100 = "recall_100"
	AlertOvercount = "overcount"
	AlertShared100 = "shared_100"
)

// Day is the window that is graded at midnight UTC.
const Day = "24h"

// periods are the windows that are graded, and at which multiples of time (UTC) their lists end that are.
var periods = map[string]time.Duration{"1h": time.Hour, Day: 24 * time.Hour}

// Period is how often a window is graded: whenever as_of is a multiple of it. Zero is never.
func Period(window string) time.Duration { return periods[window] }

// ParseWindow finds a window that is graded, by its name or alias.
func ParseWindow(name string) (string, error) {
	if name == "1d" {
		name = Day
	}
	if Period(name) == 0 {
		return "", fmt.Errorf("%q is not one of 1h and 24h, the windows that are graded", strings.ToValidUTF8(name[:min(len(name), 40)], "?"))
	}
	return name, nil
}

// Grade says how good a list was, or why that cannot be said.
type Grade struct {
	ID       int64     `json:"grade"` // greater is newer
	ItemType string    `json:"item_type"`
	Window   string    `json:"window"`
	From     time.Time `json:"from"`  // the list counted [From, Until)
	Until    time.Time `json:"until"` // its as_of
	GradedAt time.Time `json:"graded_at"`
	// ExactVersion names the exact counts: the sum of the versions of their hours, so that it grows with each recount of one.
	ExactVersion int64  `json:"exact_version"`
	ListVersion  *int64 `json:"list_version"`     // null when there was no list
	Reason       string `json:"reason,omitempty"` // why nothing was measured
	*Measures           // nil when there is a reason
}

// Measures compare a list with the exact counts. The exact top k is every item whose exact count is at least the k-th greatest
// one, so ties at position k all belong to it, and which of them a list names is right either way. Where fewer than k items
// have views at all, they are the top k.
type Measures struct {
	Method     string `json:"method"` // of the list
	Certified  bool   `json:"certified"`
	Items      int    `json:"items"`       // positions of the list
	ExactItems uint64 `json:"exact_items"` // items with views

	// Recall100 and Recall1000: of the first k positions, how many are in the exact top k, divided by k or ExactItems, whichever
	// is less. 1 when nothing had views.
	Recall100  float64 `json:"recall_100"`
	Recall1000 float64 `json:"recall_1000"`
	// Shared100 is the share of the first 100 positions that is in the exact top 100; of all positions, where there are fewer. An
	// empty list shares 0, or 1 when nothing had views.
	Shared100 float64 `json:"shared_100"`
	// Overcount is by how much a count exceeds the exact one, the most of any position; 0 when none does.
	Overcount uint64 `json:"overcount"`
	// MaxOvercount is what the list promised: no count exceeds the truth by more.
	MaxOvercount uint64 `json:"max_overcount"`
	// Displacement is how far one of the first 100 positions is from where its exact count belongs, the most of any. Items of equal
	// exact counts may be in any order, so together they belong to a range of positions, and the nearest one of it counts. Items
	// without views belong behind all others.
	Displacement uint64 `json:"displacement"`
}

// Alert is a measure beyond its limit.
type Alert struct {
	What     string  `json:"what"`
	Measured float64 `json:"measured"`
	Limit    float64 `json:"limit"`
}

// BoundExceeded says whether a count was too high by more than the list promised.
func (m *Measures) BoundExceeded() bool { return m.Overcount > m.MaxOvercount }

// Alerts are the measures beyond their limits. What was not measured alerts nobody.
func (g *Grade) Alerts() []Alert {
	alerts := []Alert{}
	if g.Measures == nil {
		return alerts
	}
	if g.Recall100 < MinRecall100 {
		alerts = append(alerts, Alert{AlertRecall100, g.Recall100, MinRecall100})
	}
	if g.BoundExceeded() {
		alerts = append(alerts, Alert{AlertOvercount, float64(g.Overcount), float64(g.MaxOvercount)})
	}
	if g.Window == Day && g.Shared100 < MinShared100Day {
		alerts = append(alerts, Alert{AlertShared100, g.Shared100, MinShared100Day})
	}
	return alerts
}

// Shown is a grade as the API answers it.
type Shown struct {
	Grade
	Replaced bool    `json:"replaced"` // a newer grade of the same list counts instead: its time was recounted
	Alerts   []Alert `json:"alerts"`   // empty, never null
}

// Standing are the alerts that nothing newer has replaced.
func (s *Shown) Standing() []Alert {
	if s.Replaced {
		return nil
	}
	return s.Alerts
}
