package event

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func good() Event {
	return Event{ID: "e1", ItemType: "video", ItemID: "v_9HJw3SB", Time: time.UnixMilli(1764547200000), Country: "IN", Category: "music", Language: "hi", Viewer: "u1", Flags: []string{"bot"}}
}

func TestValidateAcceptsWhatTheContractAllows(t *testing.T) {
	for name, change := range map[string]func(*Event){
		"plain":                 func(*Event) {},
		"no dimensions":         func(e *Event) { e.Country, e.Category, e.Language, e.Viewer, e.Flags = "", "", "", "", nil },
		"256 byte id":           func(e *Event) { e.ItemID = strings.Repeat("x", MaxItemIDBytes) },
		"emoji":                 func(e *Event) { e.ItemID = "🎬/%2F/../\"\\" },
		"right to left":         func(e *Event) { e.ItemID = "مرحبا" },
		"replacement character": func(e *Event) { e.ItemID = "\ufffd" },
		"recorded in 1995":      func(e *Event) { e.Time = time.Date(1995, 8, 1, 0, 0, 0, 0, time.UTC) },
		"three letter language": func(e *Event) { e.Language = "fil" },
	} {
		e := good()
		change(&e)
		require.NoError(t, e.Validate(), name)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Event)
		field  string
	}{
		"no id":              {func(e *Event) { e.ID = "" }, "event_id"},
		"65 byte id":         {func(e *Event) { e.ID = strings.Repeat("x", 65) }, "event_id"},
		"type with capitals": {func(e *Event) { e.ItemType = "Video" }, "item_type"},
		"empty type":         {func(e *Event) { e.ItemType = "" }, "item_type"},
		"no item":            {func(e *Event) { e.ItemID = "" }, "item_id"},
		"257 byte item":      {func(e *Event) { e.ItemID = strings.Repeat("x", 257) }, "item_id"},
		"NUL":                {func(e *Event) { e.ItemID = "a\x00b" }, "item_id"},
		"DEL":                {func(e *Event) { e.ItemID = "a\x7f" }, "item_id"},
		"C1 control":         {func(e *Event) { e.ItemID = "a\u0085" }, "item_id"},
		"invalid UTF-8":      {func(e *Event) { e.ItemID = "a\xff" }, "item_id"},
		"encoded surrogate":  {func(e *Event) { e.ItemID = "\xed\xa0\x80" }, "item_id"},
		"1970":               {func(e *Event) { e.Time = time.Unix(1, 0) }, "event_time"},
		"zero time":          {func(e *Event) { e.Time = time.Time{} }, "event_time"},
		"2106":               {func(e *Event) { e.Time = time.Date(2106, 2, 7, 0, 0, 0, 0, time.UTC) }, "event_time"},
		"UK":                 {func(e *Event) { e.Country = "UK" }, "country"},
		"small country":      {func(e *Event) { e.Country = "in" }, "country"},
		"XX1":                {func(e *Event) { e.Country = "XX1" }, "country"},
		"long category":      {func(e *Event) { e.Category = strings.Repeat("x", 65) }, "category"},
		"region in language": {func(e *Event) { e.Language = "en-US" }, "language"},
		"long viewer":        {func(e *Event) { e.Viewer = strings.Repeat("x", 65) }, "viewer"},
		"empty flag":         {func(e *Event) { e.Flags = []string{""} }, "flags"},
		"nine flags":         {func(e *Event) { e.Flags = strings.Split("abcdefghi", "") }, "flags"},
	} {
		e := good()
		test.change(&e)
		var problem *Problem
		require.ErrorAs(t, errorsOf(e.Validate()), &problem, name)
		require.Equal(t, test.field, problem.Field, name)
		require.Contains(t, Kinds(), problem.Kind, name)
	}
}

// errorsOf takes the first of joined errors, so that ErrorAs reads one.
func errorsOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}

func TestValidateReportsEveryMistakeAtOnce(t *testing.T) {
	err := Event{}.Validate()
	require.Len(t, err.(interface{ Unwrap() []error }).Unwrap(), 4)
}

func TestItemTypeRuleIsThePattern(t *testing.T) {
	for _, s := range []string{"video", "v", "a_1", "", "1a", "_a", "A", "a-b", "a b", "é", strings.Repeat("a", 32), strings.Repeat("a", 33)} {
		require.Equal(t, ItemTypePattern.MatchString(s), CheckItemType([]byte(s)) == nil, "%q", s)
	}
}

func TestCountriesAreAssignedCodesNowOrFormerly(t *testing.T) {
	n := 0
	for _, ok := range countries {
		if ok {
			n++
		}
	}
	require.Equal(t, 249+1+25, n)
	for _, code := range []string{"IN", "GB", "XK", "SU"} {
		require.True(t, isCountry([]byte(code)), code)
	}
	for _, code := range []string{"UK", "EU", "UN", "ZZ", "AA"} {
		require.False(t, isCountry([]byte(code)), code)
	}
}
