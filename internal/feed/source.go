package feed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"
)

// MaxLineBytes bounds a line of a recorded file. The longest valid event, with every byte of its fields escaped, is
// under 4 kB; sixteen times that leaves room for columns nobody reads and still bounds what a broken file can cost.
const MaxLineBytes = 64 << 10

// Formats of recorded events.
const (
	FormatAuto   = "auto"   // told by the first byte: an opening brace is NDJSON, all else CSV
	FormatCSV    = "csv"    // a header line, then a row an event: see csvSource
	FormatNDJSON = "ndjson" // an event of the public contract a line
)

// Record is one recorded event, ready to send.
type Record struct {
	Line int       // where it stands in the file, from 1
	Time time.Time // its event time, zero when it has none that can be read
	JSON []byte    // the event as the ingestor takes it; valid until the next call of Next
	Note string    // "unknown country" when a value was left out because it is not a known country, else ""
}

// RowError says why a row of a file could not become an event. Reading goes on after it.
type RowError struct {
	Line   int
	Reason string
}

func (e *RowError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Source yields recorded events in the order of the file: io.EOF ends it, a *RowError costs one row, any other error
// is final.
type Source interface {
	Next() (Record, error)
}

// SourceConfig says how rows become events.
type SourceConfig struct {
	Format   string        // FormatAuto, FormatCSV or FormatNDJSON
	ItemType string        // item type of rows that name none; "" leaves it to the ingestor
	IDPrefix string        // a CSV row's event_id is IDPrefix, a dash and its seq: the same at every replay
	Shift    time.Duration // added to every event time
}

// NewSource reads recorded events from r, gunzipping it when it starts like gzip does. It reads the first bytes, and of
// CSV the header.
func NewSource(r io.Reader, cfg SourceConfig) (Source, error) {
	buffered := bufio.NewReaderSize(r, MaxLineBytes)
	if magic, _ := buffered.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("gunzip: %w", err)
		}
		buffered = bufio.NewReaderSize(unzipped, MaxLineBytes)
	}
	if mark, _ := buffered.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = buffered.Discard(3)
	}
	lines := &lineReader{r: buffered}
	format, err := sniff(buffered, cfg.Format)
	if err != nil {
		return nil, err
	}
	if format == FormatNDJSON {
		return &ndjsonSource{lines: lines, cfg: cfg}, nil
	}
	return newCSVSource(lines, cfg)
}

// sniff settles FormatAuto by the first byte that is no white space.
func sniff(r *bufio.Reader, format string) (string, error) {
	if format != FormatAuto && format != "" {
		return format, nil
	}
	head, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read: %w", err)
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(head) == 0:
		return "", errors.New("the input is empty")
	case head[0] == '{':
		return FormatNDJSON, nil
	default:
		return FormatCSV, nil
	}
}

// lineReader splits a stream into lines of at most MaxLineBytes. Its buffer is reused.
type lineReader struct {
	r    *bufio.Reader
	line int
}

// next returns a line without its end, which is LF or CRLF. A line that is too long is skipped whole and is a *RowError.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	l.line++
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.r.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read line %d: %w", l.line, err)
		}
		return nil, &RowError{Line: l.line, Reason: fmt.Sprintf("longer than %d bytes", MaxLineBytes)}
	case errors.Is(err, io.EOF):
		if len(line) == 0 {
			return nil, io.EOF
		}
	case err != nil:
		return nil, fmt.Errorf("read line %d: %w", l.line, err)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}
