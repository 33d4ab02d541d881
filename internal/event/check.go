package event

import (
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"
)

// Problem is a rule that an event breaks: a field, a reason that says the fix, and a short kind for metrics. Problems of
// the rules below are shared values, so that a stream of bad events allocates nothing.
type Problem struct {
	Field  string
	Reason string
	Kind   string // one of the Kind constants
}

// Kinds of problems: the bounded set of a metric's label.
const (
	KindRequired  = "required"
	KindType      = "type"
	KindLength    = "length"
	KindText      = "text"
	KindPattern   = "pattern"
	KindTime      = "time"
	KindTooOld    = "too_old"
	KindDuplicate = "duplicate_field"
	KindSyntax    = "syntax"
)

// Kinds lists every kind.
func Kinds() []string {
	return []string{KindRequired, KindType, KindLength, KindText, KindPattern, KindTime, KindTooOld, KindDuplicate, KindSyntax}
}

func (p *Problem) Error() string { return p.Field + ": " + p.Reason }

// The times that every table can hold: a second is a ClickHouse DateTime, 32 bits from 1970 to 2106. The first day is left
// out, because 0 means unknown.
var (
	minTimeMillis = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli()
	maxTimeMillis = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
)

// Problems that callers raise themselves, where a field is missing altogether or a list is too long.
var (
	MissingID     = &Problem{"event_id", "event_id is required: a retry repeats it and is counted once", KindRequired}
	MissingItemID = &Problem{"item_id", "item_id is required", KindRequired}
	TooManyFlags  = &Problem{"flags", fmt.Sprintf("flags has more than %d words", MaxFlags), KindLength}
)

var (
	badItemType = &Problem{"item_type", "item_type must match ^[a-z][a-z0-9_]{0,31}$", KindPattern}
	badCountry  = &Problem{"country", "country must be an ISO 3166 alpha-2 code in capital letters, such as IN or GB", KindPattern}
	badLanguage = &Problem{"language", "language must be the primary BCP 47 subtag, 2 or 3 small letters, such as en for en-US", KindPattern}
	emptyFlag   = &Problem{"flags", "flags has an empty word", KindLength}
	timeTooLow  = &Problem{"event_time", "event_time must be after 1970-01-01", KindTime}
	timeTooHigh = &Problem{"event_time", "event_time must be before 2100-01-01: a number is epoch milliseconds, not microseconds", KindTime}
)

// textRule is the rule of a field of free text.
type textRule struct {
	maxBytes               int
	tooLong, notUTF8, ctrl *Problem
}

func newTextRule(field string, maxBytes int) textRule {
	return textRule{
		maxBytes: maxBytes,
		tooLong:  &Problem{field, fmt.Sprintf("%s is longer than %d bytes", field, maxBytes), KindLength},
		notUTF8:  &Problem{field, field + " is not valid UTF-8", KindText},
		ctrl:     &Problem{field, field + " contains a control character", KindText},
	}
}

var (
	idText       = newTextRule("event_id", MaxEventIDBytes)
	itemIDText   = newTextRule("item_id", MaxItemIDBytes)
	categoryText = newTextRule("category", MaxCategoryBytes)
	viewerText   = newTextRule("viewer", MaxViewerBytes)
	flagText     = newTextRule("flags", MaxFlagBytes)
)

func (r *textRule) check(b []byte) *Problem {
	if len(b) > r.maxBytes {
		return r.tooLong
	}
	for _, c := range b {
		if c < ' ' || c >= 0x7f {
			return r.checkUnicode(b)
		}
	}
	return nil
}

func (r *textRule) checkUnicode(b []byte) *Problem {
	if !utf8.Valid(b) {
		return r.notUTF8
	}
	for _, c := range string(b) {
		if unicode.IsControl(c) {
			return r.ctrl
		}
	}
	return nil
}

// CheckID reports what is wrong with an event id, nil when nothing is.
func CheckID(b []byte) *Problem {
	if len(b) == 0 {
		return MissingID
	}
	return idText.check(b)
}

// CheckItemType reports what is wrong with an item type. It says what ItemTypePattern says, without a regular expression.
func CheckItemType(b []byte) *Problem {
	if len(b) == 0 || len(b) > 32 || b[0] < 'a' || b[0] > 'z' {
		return badItemType
	}
	for _, c := range b {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return badItemType
		}
	}
	return nil
}

// CheckItemID reports what is wrong with an item id.
func CheckItemID(b []byte) *Problem {
	if len(b) == 0 {
		return MissingItemID
	}
	return itemIDText.check(b)
}

// CheckTime reports whether a time, in epoch milliseconds, is one that the tables cannot hold. Age and skew are the
// ingestor's to judge: they need a clock.
func CheckTime(millis int64) *Problem {
	switch {
	case millis < minTimeMillis:
		return timeTooLow
	case millis >= maxTimeMillis:
		return timeTooHigh
	}
	return nil
}

// CheckCountry reports what is wrong with a country; empty is unknown, which is right.
func CheckCountry(b []byte) *Problem {
	if len(b) != 0 && !isCountry(b) {
		return badCountry
	}
	return nil
}

// CheckCategory reports what is wrong with a category; empty is unknown, which is right.
func CheckCategory(b []byte) *Problem { return categoryText.check(b) }

// CheckLanguage reports what is wrong with a language; empty is unknown, which is right.
func CheckLanguage(b []byte) *Problem {
	if len(b) == 0 {
		return nil
	}
	if len(b) < 2 || len(b) > 3 {
		return badLanguage
	}
	for _, c := range b {
		if c < 'a' || c > 'z' {
			return badLanguage
		}
	}
	return nil
}

// CheckViewer reports what is wrong with a viewer; empty is unknown, which is right.
func CheckViewer(b []byte) *Problem { return viewerText.check(b) }

// CheckFlag reports what is wrong with one flag.
func CheckFlag(b []byte) *Problem {
	if len(b) == 0 {
		return emptyFlag
	}
	return flagText.check(b)
}
