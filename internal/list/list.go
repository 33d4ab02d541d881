// Package list is the published list: what the rollup worker writes, PostgreSQL keeps and the API serves.
package list

import (
	"time"

	"topk/internal/slice"
)

// How a list's counts were worked out.
const (
	MethodExact     = "exact"     // closed hours recounted from raw events
	MethodVerified  = "verified"  // landed counts of every candidate
	MethodEstimated = "estimated" // sketches
)

// GlobalSlice is the slice that leaves nothing out.
const GlobalSlice = slice.Global

// MaxStoredSlice is up to how many bytes the name of a slice may have to have stored lists: names are keys in PostgreSQL, whose index rows end at
// 2,704 bytes and whose notifications at 8,000. Lists of unions with longer names are made on demand each time.
const MaxStoredSlice = 1000

// List is the most viewed items of [From, AsOf) in a slice, most viewed first, then by ItemID's bytes.
type List struct {
	ItemType     string     `json:"item_type"`
	Window       string     `json:"window"`
	Slice        string     `json:"slice"`
	From         time.Time  `json:"from"`
	AsOf         time.Time  `json:"as_of"`
	ExactUntil   *time.Time `json:"exact_until"`   // every hour before it has been recounted; null when none has
	Method       string     `json:"method"`        // MethodExact, MethodVerified or MethodEstimated
	Certified    bool       `json:"certified"`     // it is proven that no item outside belongs in it
	MaxOvercount uint64     `json:"max_overcount"` // no count exceeds the truth by more
	Floor        uint64     `json:"floor"`         // no item outside Items has more views than the greater of this and the last position
	Total        uint64     `json:"total"`         // views of all items of the slice, as landed
	Other        uint64     `json:"other"`         // Total less the counts listed
	Version      int64      `json:"version"`
	PublishedAt  time.Time  `json:"published_at"`
	Revised      bool       `json:"revised"`
	Stale        bool       `json:"stale"`
	Precomputed  *bool      `json:"precomputed,omitempty"` // said by the API: published, and not made because it was asked for
	Partial      []string   `json:"partial"`               // hours before ExactUntil for which events came that are not counted yet
	// MinViewers is how many viewers an item needs in the window, and Hidden how many items are left out for having fewer that would be
	// among the StoredItems. What the list says of items outside it, it says of those that are not left out. Both are 0 while none is asked for.
	MinViewers int `json:"min_viewers,omitempty"`
	Hidden     int `json:"hidden,omitempty"`
	// More says that a list of items that trend ends before they do: more were viewed in the last hour than are listed.
	More   bool   `json:"more,omitempty"`
	Reason string `json:"reason,omitempty"` // why Items is empty
	Items  []Item `json:"items"`
}

// Item is one position of a list.
type Item struct {
	Position         int    `json:"position"` // 1, 2, 3, 4
	Rank             int    `json:"rank"`     // 1, 2, 2, 4: equal counts share a rank
	ItemID           string `json:"item_id"`
	Count            uint64 `json:"count"` // never below the truth
	Lower            uint64 `json:"lower"` // Lower <= truth <= Upper
	Upper            uint64 `json:"upper"`
	PreviousPosition *int   `json:"previous_position,omitempty"`
	Trend            *Trend `json:"trend,omitempty"` // in a list of items that trend, which is ordered by its score
	Title            string `json:"title,omitempty"`
	ThumbnailURL     string `json:"thumbnail_url,omitempty"`
}
