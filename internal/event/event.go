// Package event holds the unit that topk counts: one view or use of an item.
package event

import (
	"regexp"
	"time"
)

// Limits of an event's fields, in bytes. They are part of the public contract: see the README.
const (
	MaxEventIDBytes  = 64
	MaxItemIDBytes   = 256
	MaxCategoryBytes = 64
	MaxViewerBytes   = 64
	MaxFlags         = 8
	MaxFlagBytes     = 32
)

// DefaultItemType is the item type of an event that names none.
const DefaultItemType = "video"

// ItemTypePattern is what an item type looks like.
var ItemTypePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// Event is one view or use of an item. Its identity is (ItemType, ItemID, hour of Time, ID): a retry repeats all four and
// is counted once.
type Event struct {
	ID       string    // 1..64 bytes, chosen by the client
	ItemType string    // ItemTypePattern
	ItemID   string    // 1..256 bytes of valid UTF-8 without control characters, compared exactly
	Time     time.Time // UTC, millisecond precision
	Country  string    // ISO 3166 alpha-2, "" when unknown
	Category string    // up to 64 bytes, "" when unknown
	Language string    // primary BCP 47 subtag, "" when unknown
	Viewer   string    // up to 64 bytes, "" when unknown
	Flags    []string  // short words; a flagged event is kept and never counted
}
