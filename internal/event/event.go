// Package event holds the unit that topk counts: one view or use of an item, and the rules it obeys.
package event

import (
	"errors"
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

// Validate reports every field that breaks its rule, joined. Each is a *Problem.
func (e Event) Validate() error {
	var errs []error
	for _, p := range []*Problem{
		CheckID([]byte(e.ID)), CheckItemType([]byte(e.ItemType)), CheckItemID([]byte(e.ItemID)),
		CheckTime(e.Time.UnixMilli()), CheckCountry([]byte(e.Country)), CheckCategory([]byte(e.Category)),
		CheckLanguage([]byte(e.Language)), CheckViewer([]byte(e.Viewer)), checkFlags(e.Flags),
	} {
		if p != nil {
			errs = append(errs, p)
		}
	}
	return errors.Join(errs...)
}

func checkFlags(flags []string) *Problem {
	if len(flags) > MaxFlags {
		return TooManyFlags
	}
	for _, flag := range flags {
		if p := CheckFlag([]byte(flag)); p != nil {
			return p
		}
	}
	return nil
}
