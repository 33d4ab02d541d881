package feed

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"topk/internal/event"
)

// Clocks of an ingestor.
const (
	ClockEvent = "event" // time is what the data says: a watermark follows the newest event
	ClockWall  = "wall"
)

// Bounds and defaults of a replay.
const (
	// DefaultReplayBatch makes up for sending one request at a time: an ingestor answers after its flush, half a second at
	// most, so ten thousand events a request are twenty thousand a second.
	DefaultReplayBatch    = 10_000
	MaxBatchEvents        = 100_000 // beyond this a request only takes memory; the ingestor's own bound may be lower
	DefaultWallInFlight   = 4
	MaxInFlight           = 1024
	DefaultRetryFor       = time.Minute
	maxIDPrefixBytes      = 43 // leaves a dash and twenty digits of an event_id's 64 bytes
	maxReportedRows       = 10 // unreadable rows that are named; all are counted
	maxReportedReasons    = 50 // different reasons for rejection that are told apart
	paceGranularity       = 50 * time.Millisecond
	standardInput         = "-"
	standardInputIDPrefix = "stdin"
)

// ReplayConfig says what to send and how.
type ReplayConfig struct {
	Path      string    // a file, or "-" for Input
	Input     io.Reader // read when Path is "-"
	Ingest    string    // http://host:port of the ingestor
	Clock     string    // the clock the ingestor runs on: ClockEvent or ClockWall
	Format    string    // FormatAuto, FormatCSV or FormatNDJSON
	ItemType  string    // of events that name none
	IDPrefix  string    // of the event ids of CSV rows; the file's base name when ""
	Batch     int       // events in a request
	InFlight  int       // requests at once; 0 is 1 on the event clock and DefaultWallInFlight on the wall clock
	Speed     float64   // times the pace of the data's own clock; 0 is as fast as the ingestor answers
	Shift     bool      // moves event times by whole seconds so that the last event is now when it is sent
	From      time.Time // leaves out events before it, when set
	Until     time.Time // leaves out events at and after it, when set
	Finish    bool      // sends the end of the last event's hour as the final watermark
	Watermark time.Time // sends this one instead, when set
	RetryFor  time.Duration
	Progress  io.Writer // is given every byte that is read from the file, when set
}

// Validate reports every mistake at once and fills in what was left out.
func (c *ReplayConfig) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	c.fill()
	if c.Path == "" {
		bad("file: name one, or - for standard input")
	}
	if err := validateURL(c.Ingest); err != nil {
		bad("ingest: %w", err)
	}
	if c.Clock != ClockEvent && c.Clock != ClockWall {
		bad("clock: %q is neither event nor wall", c.Clock)
	}
	if c.Format != FormatAuto && c.Format != FormatCSV && c.Format != FormatNDJSON {
		bad("format: %q is none of auto, csv, ndjson", c.Format)
	}
	if !event.ItemTypePattern.MatchString(c.ItemType) {
		bad("item-type: %q does not match %s", c.ItemType, event.ItemTypePattern)
	}
	if len(c.IDPrefix) > maxIDPrefixBytes {
		bad("id-prefix: %d bytes, the most is %d", len(c.IDPrefix), maxIDPrefixBytes)
	}
	if c.Batch < 1 || c.Batch > MaxBatchEvents {
		bad("batch: %d is not within 1 and %d", c.Batch, MaxBatchEvents)
	}
	if c.InFlight < 1 || c.InFlight > MaxInFlight {
		bad("in-flight: %d is not within 1 and %d", c.InFlight, MaxInFlight)
	}
	if c.RetryFor < 0 {
		bad("retry-for: %s is negative", c.RetryFor)
	}
	errs = append(errs, c.validateTimes()...)
	return errors.Join(errs...)
}

func (c *ReplayConfig) validateTimes() []error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Speed < 0 || math.IsNaN(c.Speed) || math.IsInf(c.Speed, 0) {
		bad("speed: %g is not a positive number", c.Speed)
	}
	if c.Clock == ClockEvent && c.InFlight > 1 {
		bad("in-flight: must be 1 on the event clock: of two requests at once the later may arrive first, and the " +
			"watermark would leave the other behind")
	}
	if c.Clock == ClockWall && (c.Finish || !c.Watermark.IsZero()) {
		bad("finish: only an ingestor on the event clock takes a watermark")
	}
	if c.Finish && !c.Watermark.IsZero() {
		bad("watermark: give either --finish or --watermark")
	}
	if c.Shift && c.Path == standardInput {
		bad("shift: the time of the last event is needed first, so standard input cannot be shifted")
	}
	if c.Shift && c.Speed > 0 && c.Speed < 1 {
		bad("shift: at a speed below 1 events would be sent before their time")
	}
	if !c.From.IsZero() && !c.Until.IsZero() && !c.From.Before(c.Until) {
		bad("until: %s is not after from, %s", c.Until.Format(time.RFC3339), c.From.Format(time.RFC3339))
	}
	return errs
}

func (c *ReplayConfig) fill() {
	if c.Clock == "" {
		c.Clock = ClockEvent
	}
	if c.Format == "" {
		c.Format = FormatAuto
	}
	if c.ItemType == "" {
		c.ItemType = event.DefaultItemType
	}
	if c.Batch == 0 {
		c.Batch = DefaultReplayBatch
	}
	if c.InFlight == 0 {
		c.InFlight = 1
		if c.Clock == ClockWall {
			c.InFlight = DefaultWallInFlight
		}
	}
	if c.IDPrefix == "" {
		c.IDPrefix = idPrefix(c.Path)
	}
}

// idPrefix is the base name of a file without .gz, .csv and .ndjson, cut so that event ids stay within their bound.
func idPrefix(path string) string {
	if path == standardInput {
		return standardInputIDPrefix
	}
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	for _, extension := range []string{".csv", ".ndjson", ".jsonl"} {
		name = strings.TrimSuffix(name, extension)
	}
	name = strings.ToValidUTF8(name, "")
	if len(name) > maxIDPrefixBytes {
		name = strings.ToValidUTF8(name[:maxIDPrefixBytes], "")
	}
	return name
}

func validateURL(address string) error {
	parsed, err := url.Parse(address)
	if err != nil {
		return err
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return fmt.Errorf("%q is not like http://127.0.0.1:8080", address)
	}
	return nil
}
