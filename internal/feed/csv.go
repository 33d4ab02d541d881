package feed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// requiredColumns must stand in a CSV header; country, category, language and user may be missing, other columns are
// not read.
var requiredColumns = []string{"seq", "ts_ms", "item"}

// csvSource reads CSV with the columns seq, ts_ms, item, country, category, language and user, in any order. A row is
// one line: no field of an event may hold a line break, so a quote that is never closed costs its own line and not the
// rest of the file.
type csvSource struct {
	lines   *lineReader
	cfg     SourceConfig
	columns map[string]int
	width   int // fields of the header, which every row must have
	fields  [][]byte
	unquote []byte
	json    []byte
}

func newCSVSource(lines *lineReader, cfg SourceConfig) (*csvSource, error) {
	s := &csvSource{lines: lines, cfg: cfg, columns: map[string]int{}}
	header, err := lines.next()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the input is empty: CSV starts with a header line")
	}
	if err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	if err := s.split(header); err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	s.width = len(s.fields)
	for i, name := range s.fields {
		s.columns[string(name)] = i
	}
	var missing []string
	for _, name := range requiredColumns {
		if _, ok := s.columns[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the header lacks the column %s; it must have %s",
			strings.Join(missing, ", "), strings.Join(requiredColumns, ", "))
	}
	return s, nil
}

// Next implements Source. Empty lines are passed over.
func (s *csvSource) Next() (Record, error) {
	for {
		line, err := s.lines.next()
		if err != nil {
			return Record{}, err
		}
		if len(line) == 0 {
			continue
		}
		return s.record(line)
	}
}

func (s *csvSource) record(line []byte) (Record, error) {
	fail := func(reason string) (Record, error) {
		return Record{}, &RowError{Line: s.lines.line, Reason: reason}
	}
	if !utf8.Valid(line) {
		return fail("not valid UTF-8")
	}
	if err := s.split(line); err != nil {
		return fail(err.Error())
	}
	if len(s.fields) != s.width {
		return fail(fmt.Sprintf("%d fields where the header has %d", len(s.fields), s.width))
	}
	millis, err := strconv.ParseInt(string(s.field("ts_ms")), 10, 64)
	if err != nil {
		return fail("ts_ms is not a whole number of milliseconds")
	}
	seq := s.field("seq")
	if len(seq) == 0 {
		return fail("seq is empty")
	}
	at := time.UnixMilli(millis).Add(s.cfg.Shift).UTC()
	country, note := countryCode(string(s.field("country")))
	b := s.json[:0]
	b = append(b, `{"event_id":`...)
	b = appendString(b, s.cfg.IDPrefix+"-"+string(seq))
	b = appendField(b, "item_type", []byte(s.cfg.ItemType))
	b = append(b, `,"item_id":`...)
	b = appendString(b, s.field("item"))
	b = append(b, `,"event_time":`...)
	b = strconv.AppendInt(b, at.UnixMilli(), 10)
	b = appendField(b, "country", []byte(country))
	b = appendField(b, "category", s.field("category"))
	b = appendField(b, "language", s.field("language"))
	b = appendField(b, "viewer", s.field("user"))
	b = append(b, '}')
	s.json = b
	return Record{Line: s.lines.line, Time: at, JSON: s.json, Note: note}, nil
}

func (s *csvSource) field(name string) []byte {
	i, ok := s.columns[name]
	if !ok {
		return nil
	}
	return s.fields[i]
}

// split cuts a line into s.fields as RFC 4180 quotes them. Fields point into the line or into s.unquote.
func (s *csvSource) split(line []byte) error {
	s.fields = s.fields[:0]
	// Fields keep pointing into unquote while later ones are appended, so it must not move: a line's unquoted text is
	// never longer than the line.
	s.unquote = slices.Grow(s.unquote[:0], len(line))
	for {
		var field []byte
		if len(line) > 0 && line[0] == '"' {
			rest, unquoted, err := s.quoted(line[1:])
			if err != nil {
				return err
			}
			field, line = unquoted, rest
		} else {
			end := bytes.IndexByte(line, ',')
			if end < 0 {
				end = len(line)
			}
			field, line = line[:end], line[end:]
			if bytes.IndexByte(field, '"') >= 0 {
				return errors.New("a quote inside a field that is not quoted")
			}
		}
		s.fields = append(s.fields, field)
		if len(line) == 0 {
			return nil
		}
		if line[0] != ',' {
			return errors.New("text after a closing quote")
		}
		line = line[1:]
	}
}

// quoted reads a field whose opening quote has been taken, and returns what follows its closing quote.
func (s *csvSource) quoted(line []byte) (rest, field []byte, err error) {
	start := len(s.unquote)
	for {
		end := bytes.IndexByte(line, '"')
		if end < 0 {
			return nil, nil, errors.New("a quote is never closed")
		}
		s.unquote = append(s.unquote, line[:end]...)
		line = line[end+1:]
		if len(line) == 0 || line[0] != '"' {
			return line, s.unquote[start:len(s.unquote):len(s.unquote)], nil
		}
		s.unquote = append(s.unquote, '"')
		line = line[1:]
	}
}
