package ingestor

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/go-faster/jx"

	"topk/internal/event"
	"topk/internal/wire"
)

// Why a body as a whole cannot be read.
var (
	errTooManyEvents = errors.New("too many events")
	errNotJSON       = errors.New("the body is not JSON")
	errNoEvents      = errors.New(`the body must be {"events":[...]} or an array of events`)
	errTwoEvents     = errors.New(`the body has "events" twice`)
)

// parsedEvent is an event of a request whose fields are right. Its slices point into the body or the parser.
type parsedEvent struct {
	wire.Event
	hash  uint64 // hashItem
	index int    // in the request
	timed bool   // the client gave a time
}

// rejection is the verdict on one bad event.
type rejection struct {
	index   int
	problem *event.Problem
}

// parser reads the events of one request and judges each by itself: a bad one never costs its batch. It is reused, and
// what it returns is valid until its next use.
type parser struct {
	events   []parsedEvent
	rejected []rejection
	accepted int // set by accumulator.add

	dec     jx.Decoder
	onField func(*jx.Decoder, []byte) error
	onEvent func(*jx.Decoder) error
	index   int // events seen
	cur     parsedEvent
	seen    uint16 // fields of cur seen, a bit each
	problem *event.Problem
	plain   bool     // the body has no escapes at all, as most have none
	scratch []byte   // unescaped strings
	flags   [][]byte // of all events
}

var parsers = sync.Pool{New: func() any { return newParser() }}

func newParser() *parser {
	p := &parser{}
	p.onField, p.onEvent = p.field, p.element
	return p
}

func (p *parser) reset(body []byte) {
	p.plain = bytes.IndexByte(body, '\\') < 0
	p.events, p.rejected, p.accepted, p.index = p.events[:0], p.rejected[:0], 0, 0
	p.scratch, p.flags = p.scratch[:0], p.flags[:0]
}

// release gives the parser back for its next use, without what a large request made it grow to.
func (p *parser) release() {
	const keep = 2048 // events
	if cap(p.events) > keep || cap(p.scratch) > keep*64 || cap(p.flags) > keep*4 {
		return
	}
	clear(p.events) // they point into the body
	p.events, p.dec = p.events[:0], jx.Decoder{}
	parsers.Put(p)
}

func (p *parser) reject(index int, problem *event.Problem) {
	p.rejected = append(p.rejected, rejection{index, problem})
}

// sortRejected puts the verdicts in the order of the request: times are judged after everything else.
func (p *parser) sortRejected() {
	slices.SortStableFunc(p.rejected, func(a, b rejection) int { return a.index - b.index })
}

// parseJSON reads {"events":[...]} or [...].
func (p *parser) parseJSON(body []byte) error {
	p.reset(body)
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	err := p.parseDocument(body)
	if err == nil || errors.Is(err, errTooManyEvents) || errors.Is(err, errNoEvents) || errors.Is(err, errTwoEvents) {
		return err
	}
	// Somewhere in the document is a syntax error. It costs the event that it stands in, if the events can be told apart.
	p.reset(body)
	elements, ok := splitEvents(body)
	if !ok {
		return errNotJSON
	}
	for _, element := range elements {
		if err := p.parseAlone(element); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) parseDocument(body []byte) error {
	d := &p.dec
	d.ResetBytes(body)
	found := false
	var err error
	switch d.Next() {
	case jx.Array:
		found, err = true, d.Arr(p.onEvent)
	case jx.Object:
		err = d.ObjBytes(func(d *jx.Decoder, key []byte) error {
			if string(key) != "events" {
				return d.Skip()
			}
			if found {
				return errTwoEvents
			}
			if d.Next() != jx.Array {
				return errNoEvents
			}
			found = true
			return d.Arr(p.onEvent)
		})
	default:
		return errNoEvents
	}
	if err != nil {
		return err
	}
	if !found {
		return errNoEvents
	}
	return atEnd(d)
}

// parseLines reads NDJSON: an event a line, empty lines do not count.
func (p *parser) parseLines(body []byte) error {
	p.reset(body)
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	for line := range bytes.Lines(body) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := p.parseAlone(line); err != nil {
			return err
		}
	}
	return nil
}

// parseAlone reads an event that stands by itself, so that a syntax error costs it alone.
func (p *parser) parseAlone(element []byte) error {
	p.dec.ResetBytes(element)
	good, bad := len(p.events), len(p.rejected)
	err := p.element(&p.dec)
	if err == nil {
		err = atEnd(&p.dec)
	}
	if err == nil || errors.Is(err, errTooManyEvents) {
		return err
	}
	p.events, p.rejected = p.events[:good], p.rejected[:bad]
	reason := strings.TrimPrefix(err.Error(), "callback: ")
	p.reject(p.index-1, &event.Problem{Reason: "event is not JSON: " + reason, Kind: event.KindSyntax})
	return nil
}

// atEnd looks at the next value first: one that is cut short ends in io.EOF as well.
func atEnd(d *jx.Decoder) error {
	if d.Next() != jx.Invalid || !errors.Is(d.Skip(), io.EOF) {
		return errors.New("something follows its end")
	}
	return nil
}

var notObject = &event.Problem{Reason: "event must be an object", Kind: event.KindType}

// element reads one event of whatever type.
func (p *parser) element(d *jx.Decoder) error {
	if p.index == MaxEvents {
		return errTooManyEvents
	}
	p.index++
	if d.Next() != jx.Object {
		p.reject(p.index-1, notObject)
		return d.Skip()
	}
	p.cur, p.seen, p.problem = parsedEvent{index: p.index - 1}, 0, nil
	if err := d.ObjBytes(p.onField); err != nil {
		return err
	}
	p.end()
	return nil
}

var defaultItemType = []byte(event.DefaultItemType)

// end judges what only the whole event shows.
func (p *parser) end() {
	e := &p.cur
	if e.ItemType == nil {
		e.ItemType = defaultItemType
	}
	switch {
	case p.problem != nil:
	case e.ID == nil:
		p.problem = event.MissingID
	case e.ItemID == nil:
		p.problem = event.MissingItemID
	}
	if p.problem != nil {
		p.reject(e.index, p.problem)
		return
	}
	e.hash = hashItem(&e.Event)
	p.events = append(p.events, *e)
}
