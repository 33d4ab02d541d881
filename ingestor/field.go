package ingestor

import (
	"math"
	"time"

	"github.com/go-faster/jx"

	"topk/internal/event"
)

// fieldID numbers the fields of an event.
type fieldID uint8

const (
	fieldEventID fieldID = iota
	fieldItemType
	fieldItemID
	fieldEventTime
	fieldCountry
	fieldCategory
	fieldLanguage
	fieldViewer
	fieldFlags
	fieldUnknown
)

var fieldNames = [...]string{"event_id", "item_type", "item_id", "event_time", "country", "category", "language", "viewer", "flags"}

func fieldOf(key []byte) fieldID {
	switch string(key) {
	case "event_id":
		return fieldEventID
	case "item_type":
		return fieldItemType
	case "item_id":
		return fieldItemID
	case "event_time":
		return fieldEventTime
	case "country":
		return fieldCountry
	case "category":
		return fieldCategory
	case "language":
		return fieldLanguage
	case "viewer":
		return fieldViewer
	case "flags":
		return fieldFlags
	}
	return fieldUnknown
}

// Problems that any field can have.
var twice, notString, halfPair [len(fieldNames)]*event.Problem

func init() {
	for i, name := range fieldNames {
		twice[i] = &event.Problem{Field: name, Reason: name + " appears twice", Kind: event.KindDuplicate}
		notString[i] = &event.Problem{Field: name, Reason: name + " must be a string", Kind: event.KindType}
		halfPair[i] = &event.Problem{Field: name, Reason: name + " contains half of a surrogate pair", Kind: event.KindText}
	}
}

var (
	badTime    = &event.Problem{Field: "event_time", Reason: "event_time must be RFC 3339, such as 2026-01-02T03:04:05Z, or whole epoch milliseconds", Kind: event.KindTime}
	secondTime = &event.Problem{Field: "event_time", Reason: "event_time is a number before 1973: epoch milliseconds are expected, not seconds", Kind: event.KindTime}
	badFlags   = &event.Problem{Field: "flags", Reason: "flags must be a list of strings", Kind: event.KindType}
)

// field reads one field of the current event. It always consumes the value; an error is a syntax error.
func (p *parser) field(d *jx.Decoder, key []byte) error {
	id := fieldOf(key)
	if id == fieldUnknown {
		return d.Skip()
	}
	if p.seen&(1<<id) != 0 {
		p.fail(twice[id])
		return d.Skip()
	}
	p.seen |= 1 << id
	kind := d.Next()
	switch {
	case kind == jx.Null: // as good as absent: many clients write what they do not know that way
		return d.Null()
	case id == fieldFlags:
		return p.readFlags(d, kind)
	case id == fieldEventTime:
		return p.readTime(d, kind)
	case kind != jx.String:
		p.fail(notString[id])
		return d.Skip()
	}
	text, err := p.readString(d, id)
	if err != nil {
		return err
	}
	p.fail(p.set(id, text))
	return nil
}

// fail keeps the first problem of an event.
func (p *parser) fail(problem *event.Problem) {
	if p.problem == nil {
		p.problem = problem
	}
}

// set stores a text field and returns what is wrong with it.
func (p *parser) set(id fieldID, text []byte) *event.Problem {
	e := &p.cur
	switch id {
	case fieldEventID:
		e.ID = text
		return event.CheckID(text)
	case fieldItemType:
		e.ItemType = text
		return event.CheckItemType(text)
	case fieldItemID:
		e.ItemID = text
		return event.CheckItemID(text)
	case fieldCountry:
		e.Country = text
		return event.CheckCountry(text)
	case fieldCategory:
		e.Category = text
		return event.CheckCategory(text)
	case fieldLanguage:
		e.Language = text
		return event.CheckLanguage(text)
	default:
		e.Viewer = text
		return event.CheckViewer(text)
	}
}

// readString reads a string, in place where it has no escapes. The decoder's own reading would turn half a surrogate pair
// into U+FFFD and so make one item of many.
func (p *parser) readString(d *jx.Decoder, id fieldID) ([]byte, error) {
	if p.plain {
		return d.StrBytes()
	}
	raw, err := d.Raw()
	if err != nil {
		return nil, err
	}
	text := raw[1 : len(raw)-1]
	start := len(p.scratch)
	unescaped, escapes, ok := unescape(p.scratch, text)
	if !escapes {
		return text, nil
	}
	p.scratch = unescaped
	if !ok {
		p.fail(halfPair[id])
	}
	return p.scratch[start:len(p.scratch):len(p.scratch)], nil
}

func (p *parser) readFlags(d *jx.Decoder, kind jx.Type) error {
	if kind != jx.Array {
		p.fail(badFlags)
		return d.Skip()
	}
	start := len(p.flags)
	err := d.Arr(func(d *jx.Decoder) error {
		switch {
		case len(p.flags)-start == event.MaxFlags:
			p.fail(event.TooManyFlags)
			return d.Skip()
		case d.Next() != jx.String:
			p.fail(badFlags)
			return d.Skip()
		}
		flag, err := p.readString(d, fieldFlags)
		if err != nil {
			return err
		}
		p.fail(event.CheckFlag(flag))
		p.flags = append(p.flags, flag)
		return nil
	})
	p.cur.Flags = p.flags[start:len(p.flags):len(p.flags)]
	return err
}

func (p *parser) readTime(d *jx.Decoder, kind jx.Type) error {
	p.cur.timed = true
	switch kind {
	case jx.String:
		text, err := p.readString(d, fieldEventTime)
		if err != nil {
			return err
		}
		var t time.Time
		if t.UnmarshalText(text) != nil {
			p.fail(badTime)
			return nil
		}
		p.cur.Millis = t.UnixMilli()
		p.fail(event.CheckTime(p.cur.Millis))
		return nil
	case jx.Number:
		raw, err := d.Raw()
		if err != nil {
			return err
		}
		p.fail(p.setMillis(raw))
		return nil
	default:
		p.fail(badTime)
		return d.Skip()
	}
}

// firstPlausibleMillis is March 1973: a smaller number is epoch seconds of our days.
const firstPlausibleMillis = 100_000_000_000

func (p *parser) setMillis(digits []byte) *event.Problem {
	millis := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return badTime // a sign, a fraction, an exponent
		}
		if millis = millis*10 + int64(c-'0'); millis > math.MaxInt64/100 {
			break // far too high already, and it must not wrap
		}
	}
	if millis < firstPlausibleMillis {
		return secondTime
	}
	p.cur.Millis = millis
	return event.CheckTime(millis)
}
