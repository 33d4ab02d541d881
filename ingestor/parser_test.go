package ingestor

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"topk/internal/event"
)

const goodEvent = `{"event_id":"good","item_type":"video","item_id":"good","event_time":"2026-11-30T15:06:01.123Z","country":"IN","category":"music","language":"hi","viewer":"u1"}`

// badEvents are events that are refused, each with the field that its verdict names and a part of the reason.
var badEvents = map[string]struct{ event, field, reason string }{
	"empty object":          {`{}`, "event_id", "required"},
	"only an event id":      {`{"event_id":"e"}`, "item_id", "required"},
	"no event id":           {`{"item_id":"a"}`, "event_id", "required"},
	"null item":             {`{"event_id":"e","item_id":null}`, "item_id", "required"},
	"empty item":            {`{"event_id":"e","item_id":""}`, "item_id", "required"},
	"number item":           {`{"event_id":"e","item_id":7}`, "item_id", "string"},
	"number event id":       {`{"event_id":1,"item_id":"a"}`, "event_id", "string"},
	"object item":           {`{"event_id":"e","item_id":{"a":1}}`, "item_id", "string"},
	"boolean type":          {`{"event_id":"e","item_id":"a","item_type":true}`, "item_type", "string"},
	"empty type":            {`{"event_id":"e","item_id":"a","item_type":""}`, "item_type", "match"},
	"capital type":          {`{"event_id":"e","item_id":"a","item_type":"Video"}`, "item_type", "match"},
	"item twice":            {`{"event_id":"e","item_id":"a","item_id":"a"}`, "item_id", "twice"},
	"item twice, escaped":   {`{"event_id":"e","item_id":"a","item\u005fid":"b"}`, "item_id", "twice"},
	"high surrogate":        {`{"event_id":"e","item_id":"\ud800"}`, "item_id", "surrogate"},
	"low surrogate":         {`{"event_id":"e","item_id":"\udc00x"}`, "item_id", "surrogate"},
	"two high surrogates":   {`{"event_id":"e","item_id":"\ud83c\ud83c"}`, "item_id", "surrogate"},
	"surrogate, then text":  {`{"event_id":"e","item_id":"\ud83cu0041"}`, "item_id", "surrogate"},
	"invalid UTF-8":         {"{\"event_id\":\"e\",\"item_id\":\"a\xff\"}", "item_id", "UTF-8"},
	"overlong UTF-8":        {"{\"event_id\":\"e\",\"item_id\":\"\xc0\x80\"}", "item_id", "UTF-8"},
	"escaped NUL":           {`{"event_id":"e","item_id":"a\u0000"}`, "item_id", "control"},
	"escaped newline":       {`{"event_id":"e","item_id":"a\n"}`, "item_id", "control"},
	"raw NUL":               {"{\"event_id\":\"e\",\"item_id\":\"a\x00\"}", "", "not JSON"},
	"raw tab":               {"{\"event_id\":\"e\",\"item_id\":\"a\tb\"}", "", "not JSON"},
	"257 bytes":             {`{"event_id":"e","item_id":"` + strings.Repeat("x", 257) + `"}`, "item_id", "256"},
	"65 byte event id":      {`{"event_id":"` + strings.Repeat("x", 65) + `","item_id":"a"}`, "event_id", "64"},
	"time 1.5":              {`{"event_id":"e","item_id":"a","event_time":1.5}`, "event_time", "whole epoch milliseconds"},
	"time 1e999":            {`{"event_id":"e","item_id":"a","event_time":1e999}`, "event_time", "whole epoch milliseconds"},
	"time -1":               {`{"event_id":"e","item_id":"a","event_time":-1}`, "event_time", "whole epoch milliseconds"},
	"time 0":                {`{"event_id":"e","item_id":"a","event_time":0}`, "event_time", "not seconds"},
	"time in seconds":       {`{"event_id":"e","item_id":"a","event_time":1764547200}`, "event_time", "not seconds"},
	"time in microseconds":  {`{"event_id":"e","item_id":"a","event_time":1764547200000000}`, "event_time", "not microseconds"},
	"time that would wrap":  {`{"event_id":"e","item_id":"a","event_time":18446744073709551617}`, "event_time", "2100"},
	"time as words":         {`{"event_id":"e","item_id":"a","event_time":"yesterday"}`, "event_time", "RFC 3339"},
	"time without zone":     {`{"event_id":"e","item_id":"a","event_time":"2026-11-30T15:06:01"}`, "event_time", "RFC 3339"},
	"time of day 25":        {`{"event_id":"e","item_id":"a","event_time":"2026-11-30T25:06:01Z"}`, "event_time", "RFC 3339"},
	"time in 1960":          {`{"event_id":"e","item_id":"a","event_time":"1960-01-01T00:00:00Z"}`, "event_time", "1970"},
	"time as a list":        {`{"event_id":"e","item_id":"a","event_time":[1]}`, "event_time", "RFC 3339"},
	"country uk":            {`{"event_id":"e","item_id":"a","country":"uk"}`, "country", "ISO 3166"},
	"country UK":            {`{"event_id":"e","item_id":"a","country":"UK"}`, "country", "GB"},
	"country XX1":           {`{"event_id":"e","item_id":"a","country":"XX1"}`, "country", "ISO 3166"},
	"country number":        {`{"event_id":"e","item_id":"a","country":49}`, "country", "string"},
	"language en-US":        {`{"event_id":"e","item_id":"a","language":"en-US"}`, "language", "BCP 47"},
	"65 byte category":      {`{"event_id":"e","item_id":"a","category":"` + strings.Repeat("x", 65) + `"}`, "category", "64"},
	"control in viewer":     {`{"event_id":"e","item_id":"a","viewer":"\u007f"}`, "viewer", "control"},
	"flags as text":         {`{"event_id":"e","item_id":"a","flags":"bot"}`, "flags", "list"},
	"flags of numbers":      {`{"event_id":"e","item_id":"a","flags":[1]}`, "flags", "list"},
	"empty flag":            {`{"event_id":"e","item_id":"a","flags":[""]}`, "flags", "empty"},
	"nine flags":            {`{"event_id":"e","item_id":"a","flags":["a","b","c","d","e","f","g","h","i"]}`, "flags", "8"},
	"null event":            {`null`, "", "object"},
	"number event":          {`7`, "", "object"},
	"string event":          {`"event"`, "", "object"},
	"list event":            {`[{"event_id":"e"}]`, "", "object"},
	"bad literal":           {`{"event_id":"e","item_id":nul}`, "", "not JSON"},
	"bad number":            {`{"event_id":"e","item_id":"a","event_time":01}`, "", "not JSON"},
	"bad escape":            {`{"event_id":"e","item_id":"\x41"}`, "", "not JSON"},
	"missing comma":         {`{"event_id":"e" "item_id":"a"}`, "", "not JSON"},
	"unquoted key":          {`{event_id:"e"}`, "", "not JSON"},
	"too deep":              {`{"event_id":"e","item_id":"a","x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, "", "depth"},
	"infinity":              {`{"event_id":"e","item_id":"a","event_time":Infinity}`, "", "not JSON"},
	"first of two problems": {`{"item_id":7,"country":"uk"}`, "item_id", "string"},
}

// TestOneBadEventNeverCostsItsBatch puts each bad event between good ones.
func TestOneBadEventNeverCostsItsBatch(t *testing.T) {
	p := newParser()
	for name, test := range badEvents {
		for form, parse := range map[string]func() error{
			"object": func() error {
				return p.parseJSON([]byte(`{"x":[1,{"y":"]}"}],"events":[` + goodEvent + `,` + test.event + ` , ` + goodEvent + `]}`))
			},
			"array": func() error { return p.parseJSON([]byte(`[` + goodEvent + `,` + test.event + `,` + goodEvent + `]`)) },
			"lines": func() error {
				return p.parseLines([]byte(goodEvent + "\n\n" + test.event + "\r\n" + goodEvent + "\n"))
			},
		} {
			require.NoError(t, parse(), "%s as %s", name, form)
			require.Len(t, p.events, 2, "%s as %s", name, form)
			require.Equal(t, []int{0, 2}, []int{p.events[0].index, p.events[1].index}, "%s as %s", name, form)
			require.Len(t, p.rejected, 1, "%s as %s", name, form)
			r := p.rejected[0]
			require.Equal(t, 1, r.index, "%s as %s", name, form)
			require.Equal(t, test.field, r.problem.Field, "%s as %s: %s", name, form, r.problem.Reason)
			require.Contains(t, r.problem.Reason, test.reason, "%s as %s", name, form)
			require.Contains(t, event.Kinds(), r.problem.Kind)
		}
	}
}

// What follows an event in its line makes it no event, also where that is cut short.
func TestNothingFollowsAnEventInItsLine(t *testing.T) {
	p := newParser()
	for _, tail := range []string{"{}", "[1,", `{"a":`, "1", "x", `"`, "]"} {
		require.NoError(t, p.parseLines([]byte(goodEvent+tail+"\n"+goodEvent+" \t\n")), tail)
		require.Len(t, p.events, 1, tail)
		require.Equal(t, 1, p.events[0].index, tail)
		require.Len(t, p.rejected, 1, tail)
		require.Contains(t, p.rejected[0].problem.Reason, "something follows its end", tail)
	}
}

func TestGoodEventsAreReadExactly(t *testing.T) {
	p := newParser()
	for name, test := range map[string]struct{ json, item string }{
		"plain":              {`"a"`, "a"},
		"slash and percent":  {`"a/b%2F..\/"`, "a/b%2F../"},
		"emoji":              {`"🎬"`, "🎬"},
		"escaped emoji":      {`"x\ud83c\udfacy\uD83C\uDFAC"`, "x🎬y🎬"},
		"right to left":      {`"مرحبا"`, "مرحبا"},
		"quotes, backslash":  {`"\"\\'"`, `"\'`},
		"leading dash":       {`"-a"`, "-a"},
		"replacement char":   {`"\ufffd"`, "\ufffd"},
		"looks like escape":  {`"\\ud800"`, `\ud800`},
		"256 bytes":          {`"` + strings.Repeat("é", 128) + `"`, strings.Repeat("é", 128)},
		"not normalised":     {`"e\u0301"`, "e\u0301"},
		"spaces are kept":    {`" a "`, " a "},
		"line separator U+2": {`"a\u2028b"`, "a\u2028b"},
	} {
		require.NoError(t, p.parseJSON([]byte(`{"events":[{"event_id":"e","unknown":{"a":[1,"]"]},"item_id" : `+test.json+`,"country":null,"flags":["bot","x"]}]}`)), name)
		require.Empty(t, p.rejected, name)
		require.Equal(t, test.item, string(p.events[0].ItemID), name)
		require.Equal(t, "video", string(p.events[0].ItemType), name)
		require.Len(t, p.events[0].Flags, 2, name)
		require.False(t, p.events[0].timed, name)
	}
}

func TestTimesAreMilliseconds(t *testing.T) {
	p := newParser()
	for text, millis := range map[string]int64{
		`1764547200123`:                        1764547200123,
		`"2025-12-01T00:00:00.123Z"`:           1764547200123,
		`"2025-12-01T05:30:00.123999+05:30"`:   1764547200123,
		`"2025-11-30T19:00:00.123-05:00"`:      1764547200123,
		`"1995-08-01T04:00:00Z"`:               807249600000,
		`"2025-12-01T00:00:00\u002e123\u005a"`: 1764547200123,
	} {
		require.NoError(t, p.parseJSON([]byte(`[{"event_id":"e","item_id":"a","event_time":`+text+`}]`)), text)
		require.Empty(t, p.rejected, text)
		require.Equal(t, millis, p.events[0].Millis, text)
	}
}

func TestUnreadableBodies(t *testing.T) {
	p := newParser()
	for body, want := range map[string]error{
		``:                                       errNoEvents,
		`null`:                                   errNoEvents,
		`"events"`:                               errNoEvents,
		`{}`:                                     errNoEvents,
		`{"event":[]}`:                           errNoEvents,
		`{"events":{}}`:                          errNoEvents,
		`{"events":null}`:                        errNoEvents,
		`{"events":[],"events":[]}`:              errTwoEvents,
		`{"events":[`:                            errNotJSON,
		`{"events":[` + goodEvent:                errNotJSON,
		`{"events":[` + goodEvent + `"`:          errNotJSON,
		`{"events":[` + goodEvent + `,]}`:        errNotJSON,
		`{"events":[{"event_id":"e]}`:            errNotJSON,
		`[` + goodEvent + goodEvent + `]`:        nil, // told apart as one broken event
		`{"events"[` + goodEvent + `]}`:          errNotJSON,
		`[` + strings.Repeat(`{},`, MaxEvents+1): errTooManyEvents,
		`[nul,` + strings.Repeat(`{},`, MaxEvents) + `{}]`: errTooManyEvents,
		"\xff\xfe[\x00": errNoEvents,
	} {
		require.ErrorIs(t, p.parseJSON([]byte(body)), want, "%.60s", body)
	}
	require.ErrorIs(t, p.parseLines([]byte(strings.Repeat("{}\n", MaxEvents+1))), errTooManyEvents)
	require.NoError(t, p.parseLines([]byte(strings.Repeat("{}\n", MaxEvents))))
	require.Len(t, p.rejected, MaxEvents)
	require.NoError(t, p.parseJSON([]byte("\ufeff{\"events\":[]}")))
}

func TestParsingAllocatesNothingPerEvent(t *testing.T) {
	p := newParser()
	body := []byte(`{"events":[` + strings.Repeat(goodEvent+",", 999) + goodEvent + `]}`)
	require.NoError(t, p.parseJSON(body))
	require.Less(t, testing.AllocsPerRun(10, func() { _ = p.parseJSON(body) }), 10.0)
	require.Len(t, p.events, 1000)
}

// FuzzParse asserts what must hold of any body: no panic, every event accounted for once, what is accepted obeys the
// rules, and encoding/json reads the same texts where it can read the body at all.
func FuzzParse(f *testing.F) {
	for _, bad := range badEvents {
		if len(bad.event) < 1000 {
			f.Add([]byte(`{"events":[` + goodEvent + `,` + bad.event + `]}`))
		}
	}
	f.Add([]byte(`[{"event_id":"e","item_id":"\ud83c\udfac\"\\\/\b"}]`))
	p := newParser()
	f.Fuzz(func(t *testing.T, body []byte) {
		_ = p.parseLines(body)
		checkParsed(t, p)
		if p.parseJSON(body) != nil {
			return
		}
		checkParsed(t, p)
		var reference []map[string]any
		if json.Unmarshal(body, &reference) != nil {
			return
		}
		for _, e := range p.events {
			for key, value := range reference[e.index] {
				if fieldOf([]byte(key)) == fieldItemID && value != nil {
					require.Equal(t, value, string(e.ItemID))
				}
			}
		}
	})
}

func checkParsed(t *testing.T, p *parser) {
	t.Helper()
	seen := make([]bool, p.index)
	for _, e := range p.events {
		require.False(t, seen[e.index])
		seen[e.index] = true
		require.True(t, utf8.Valid(e.ItemID))
		require.Nil(t, event.CheckItemID(e.ItemID))
		require.Nil(t, event.CheckID(e.ID))
		require.Nil(t, event.CheckItemType(e.ItemType))
		if e.timed {
			require.Nil(t, event.CheckTime(e.Millis))
		}
	}
	for _, r := range p.rejected {
		require.False(t, seen[r.index], fmt.Sprint(r))
		seen[r.index] = true
		require.NotEmpty(t, r.problem.Reason)
	}
	require.NotContains(t, seen, false)
}
