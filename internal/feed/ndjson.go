package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// ndjsonSource reads an event of the public contract a line. What it cannot judge it passes on as it stands, so that
// the ingestor, and not this reader, says what is wrong with an event.
type ndjsonSource struct {
	lines *lineReader
	cfg   SourceConfig
	json  []byte
}

// Next implements Source. Empty lines are passed over.
func (s *ndjsonSource) Next() (Record, error) {
	for {
		line, err := s.lines.next()
		if err != nil {
			return Record{}, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		return s.record(line)
	}
}

func (s *ndjsonSource) record(line []byte) (Record, error) {
	fail := func(reason string) (Record, error) {
		return Record{}, &RowError{Line: s.lines.line, Reason: reason}
	}
	if !utf8.Valid(line) {
		return fail("not valid UTF-8")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil || fields == nil {
		if err == nil {
			err = errors.New("null")
		}
		return fail(fmt.Sprintf("not a JSON object: %v", err))
	}
	at, known := eventTime(fields["event_time"])
	if known && s.cfg.Shift != 0 {
		at = at.Add(s.cfg.Shift)
		fields["event_time"] = json.RawMessage(fmt.Sprintf(`"%s"`, at.Format(time.RFC3339Nano)))
		shifted, err := json.Marshal(fields)
		if err != nil {
			return fail(err.Error())
		}
		line = shifted
	}
	s.json = s.json[:0]
	if _, named := fields["item_type"]; !named && s.cfg.ItemType != "" && len(fields) > 0 {
		s.json = append(s.json, `{"item_type":`...)
		s.json = appendString(s.json, s.cfg.ItemType)
		s.json = append(s.json, ',')
		line = line[1:]
	}
	s.json = append(s.json, line...)
	return Record{Line: s.lines.line, Time: at, JSON: s.json}, nil
}

// eventTime reads an event_time as the contract has it: RFC 3339 or epoch milliseconds.
func eventTime(raw json.RawMessage) (time.Time, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		at, err := time.Parse(time.RFC3339Nano, text)
		return at.UTC(), err == nil
	}
	var millis int64
	if json.Unmarshal(raw, &millis) == nil && string(raw) != "null" {
		return time.UnixMilli(millis).UTC(), true
	}
	return time.Time{}, false
}
