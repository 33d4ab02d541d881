package feed

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"topk/internal/event"
)

// Bounds and defaults of a generated load.
const (
	DefaultLoadBatch = 1000
	MaxRate          = 10_000_000  // events per second: a nanosecond clock still spaces them
	MaxItems         = 100_000_000 // distinct items of the popularity law; spam is not among them
	MaxItemTypes     = 16
	MaxZipf          = 10 // beyond it nine hundred and ninety-nine of a thousand events are of one item
	MaxConnections   = 1024
	// batchSpan is the most time whose events go in one request, so that a low rate does not send old news in large
	// batches.
	batchSpan = 100 * time.Millisecond
	// answerWithin is what a request may take before the load is short of connections: an ingestor flushes every half
	// second, and a busy machine takes several times that.
	answerWithin = 3 * time.Second
	// maxBehind is how late the generator may run before it gives up the missed time and counts it as skipped.
	maxBehind = time.Second
	// drainTime is how long requests in flight may still take after an interrupt.
	drainTime = 10 * time.Second
)

// LoadConfig describes a stream of events. The same Seed and shares give the same stream of items and kinds; event ids
// differ in every run, so that one run is never taken for a retry of another.
type LoadConfig struct {
	Ingest      string        // http://host:port of the ingestor
	Rate        float64       // events per second, without spam
	Duration    time.Duration // 0 is until the context ends
	Events      uint64        // stops after so many events; 0 is no limit
	Items       uint64        // distinct items, most popular first
	Zipf        float64       // exponent of popularity: 0 is uniform
	ItemTypes   []string      // items are dealt to the types in turn, by rank
	ViralItem   string        // an item of the first type on top of the others
	ViralShare  float64       // its share of the events
	LateShare   float64       // share of events whose time is LateBy ago
	LateBy      time.Duration // at most the age an ingestor takes
	Duplicates  float64       // share of events that repeat a recent one, with its id
	BadShare    float64       // share of events that an ingestor must reject
	SpamRate    float64       // events per second, beside Rate, each of an item never seen before
	Batch       int           // most events in a request
	Connections int           // most requests in flight; 0 is enough for answers that take three seconds
	Seed        uint64
	RetryFor    time.Duration
	API         string        // http://host:port of the API, for Probe and Verify
	Probe       bool          // measures freshness
	ProbeEvery  time.Duration // mean time between two probes
	Verify      bool          // compares the served lists with the truth afterwards
	Log         *slog.Logger
}

// Validate reports every mistake at once and fills in what was left out.
func (c *LoadConfig) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	c.fill()
	if err := validateURL(c.Ingest); err != nil {
		bad("ingest: %w", err)
	}
	if c.Probe || c.Verify {
		if err := validateURL(c.API); err != nil {
			bad("api: %w", err)
		}
	}
	if !(c.Rate >= 0 && c.SpamRate >= 0 && c.Rate+c.SpamRate > 0 && c.Rate+c.SpamRate <= MaxRate) {
		bad("rate: %g and spam-rate: %g must not be negative, and together above 0 and at most %d", c.Rate, c.SpamRate, MaxRate)
	}
	if c.Duration < 0 {
		bad("duration: %s is negative", c.Duration)
	}
	if c.Items < 1 || c.Items > MaxItems {
		bad("items: %d is not within 1 and %d", c.Items, MaxItems)
	}
	if !(c.Zipf >= 0 && c.Zipf <= MaxZipf) {
		bad("zipf: %g is not within 0 and %d", c.Zipf, MaxZipf)
	}
	if c.Batch < 1 || c.Batch > MaxBatchEvents {
		bad("batch: %d is not within 1 and %d", c.Batch, MaxBatchEvents)
	}
	if c.Connections < 1 || c.Connections > MaxConnections {
		bad("connections: %d is not within 1 and %d", c.Connections, MaxConnections)
	}
	if c.RetryFor < 0 {
		bad("retry-for: %s is negative", c.RetryFor)
	}
	if c.ProbeEvery < 10*time.Millisecond {
		bad("probe-every: %s is under 10ms", c.ProbeEvery)
	}
	return errors.Join(append(errs, c.validateMix()...)...)
}

func (c *LoadConfig) validateMix() []error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	sum := 0.0
	for _, share := range []struct {
		name  string
		value float64
	}{{"viral-share", c.ViralShare}, {"late-share", c.LateShare}, {"duplicate-share", c.Duplicates}, {"bad-share", c.BadShare}} {
		if !(share.value >= 0 && share.value <= 1) {
			bad("%s: %g is not within 0 and 1", share.name, share.value)
		}
		if share.name != "late-share" {
			sum += share.value
		}
	}
	if sum > 1 {
		bad("viral-share, duplicate-share and bad-share: together %g, more than all events", sum)
	}
	if c.LateShare > 0 && c.LateBy <= 0 {
		bad("late-by: %s must be above 0", c.LateBy)
	}
	if len(c.ItemTypes) > MaxItemTypes {
		bad("item-types: %d of them, the most is %d", len(c.ItemTypes), MaxItemTypes)
	}
	for i, itemType := range c.ItemTypes {
		if !event.ItemTypePattern.MatchString(itemType) || itemType == probeItemType {
			bad("item-types[%d]: %q must match %s and must not be %s", i, itemType, event.ItemTypePattern, probeItemType)
		}
	}
	if p := event.CheckItemID([]byte(c.ViralItem)); p != nil {
		bad("viral-item: %s", p.Reason)
	}
	return errs
}

func (c *LoadConfig) fill() {
	if len(c.ItemTypes) == 0 {
		c.ItemTypes = []string{event.DefaultItemType}
	}
	if c.ViralItem == "" {
		c.ViralItem = "viral"
	}
	if c.Batch == 0 {
		c.Batch = DefaultLoadBatch
	}
	if c.ProbeEvery == 0 {
		c.ProbeEvery = time.Second
	}
	if c.Connections == 0 {
		requests := c.total() * answerWithin.Seconds() / float64(max(1, c.batchSize()))
		c.Connections = int(min(max(math.Ceil(requests), 4), MaxConnections))
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// total is the rate of all events.
func (c *LoadConfig) total() float64 { return c.Rate + c.SpamRate }

// batchSize is how many events go in a request at this rate.
func (c *LoadConfig) batchSize() int {
	return int(min(max(c.total()*batchSpan.Seconds(), 1), float64(max(c.Batch, 1))))
}
