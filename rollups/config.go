package rollups

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/clickhouse"
	"topk/internal/list"
	"topk/rollups/charts"
	"topk/rollups/grades"
	"topk/rollups/recount"
	"topk/rollups/slices"
	"topk/rollups/viewers"
)

// Clocks: whether lists follow events as they happen, or recorded ones.
const (
	ClockWall  = "wall"
	ClockEvent = "event"
)

// Config is what the rollup worker is started with.
type Config struct {
	ClickHouse string   // DSN, http://host:port/topk
	Postgres   string   // DSN, postgres://user@host:port/database
	Brokers    []string // of Kafka, host:port each: asked how far ClickHouse has read
	Listen     string   // host:port of /healthz, /readyz and /metrics
	Clock      string   // ClockWall or ClockEvent

	IngestorTimeout time.Duration // how far behind a partition's newest record an ingestor is taken for dead
	Builder         BuilderConfig
	Every           map[string]time.Duration // least time between two builds of a window, by window
	EveryLong       time.Duration            // the same of the long windows, which are built together
	EverySlices     time.Duration            // the same of the lists of slices, which end at whole minutes
	KeepVersions    map[string]time.Duration // how long old versions of a window's lists stay, by window
	KeepCounts      time.Duration            // life of landed counts and identities, in event time
	KeepSketches    time.Duration            // life of the summaries of minutes
	KeepEvents      time.Duration            // life of raw events, longer than the ingestor takes late ones; they stay until they have been recounted
	Recount         recount.Config           // how hours become exact
	Grades          grades.Config            // how long lists are kept for it, and what became of them
	Charts          charts.Config            // which day charts are made
	Slices          slices.Config            // which lists of slices are made
	Viewers         viewers.Config           // how many viewers an item needs
}

// DefaultConfig has the endpoints of `topk dev`.
func DefaultConfig() Config {
	return Config{
		ClickHouse:      "http://127.0.0.1:18123/topk",
		Postgres:        "postgres://topk@127.0.0.1:15432/topk?sslmode=disable",
		Brokers:         []string{"127.0.0.1:19092"},
		Listen:          "127.0.0.1:8082",
		Clock:           ClockWall,
		IngestorTimeout: 15 * time.Second,
		Builder:         BuilderConfig{VerifyTimeout: 10 * time.Second, DuplicateRows: 1_000_000},
		Every:           map[string]time.Duration{"1m": 500 * time.Millisecond, "5m": 20 * time.Second, "1h": 45 * time.Second},
		EveryLong:       45 * time.Second,
		EverySlices:     45 * time.Second,
		KeepVersions: map[string]time.Duration{"1m": 10 * time.Minute, "5m": time.Hour, "1h": time.Hour,
			"24h": time.Hour, "7d": time.Hour, "30d": time.Hour, "all": time.Hour},
		KeepCounts:   4 * time.Hour,
		KeepSketches: 48 * time.Hour,
		KeepEvents:   30 * 24 * time.Hour,
		Recount:      recount.DefaultConfig(),
		Grades:       grades.DefaultConfig(),
		Charts:       charts.DefaultConfig(),
		Slices:       slices.DefaultConfig(),
		Viewers:      viewers.DefaultConfig(),
	}
}

// longestWindow must lie within what is kept, with an hour to spare: partitions are hours.
func longestWindow() time.Duration {
	var longest time.Duration
	for _, w := range list.Live {
		longest = max(longest, w.Length)
	}
	return longest
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var mistakes []error
	wrong := func(format string, a ...any) { mistakes = append(mistakes, fmt.Errorf(format, a...)) }
	if _, err := clickhouse.Options(c.ClickHouse); err != nil {
		wrong("clickhouse: %w", err)
	}
	if c.Postgres == "" {
		wrong("postgres: DSN is empty: give one such as postgres://topk@127.0.0.1:15432/topk")
	} else if _, err := pgx.ParseConfig(c.Postgres); err != nil {
		wrong("postgres: %w", err)
	}
	if len(c.Brokers) == 0 {
		wrong("kafka: no broker is named: give host:port, separated by commas")
	}
	for _, broker := range c.Brokers {
		if _, _, err := net.SplitHostPort(broker); err != nil {
			wrong("kafka: %w", err)
		}
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		wrong("listen: %w", err)
	}
	if c.Clock != ClockWall && c.Clock != ClockEvent {
		wrong("clock: %q is not %s or %s", c.Clock, ClockWall, ClockEvent)
	}
	if c.IngestorTimeout < time.Second {
		wrong("ingestor-timeout: %s is shorter than 1s, the time between an ingestor's heartbeats and more", c.IngestorTimeout)
	}
	if c.Builder.VerifyTimeout <= 0 {
		wrong("verify-timeout: %s is not positive", c.Builder.VerifyTimeout)
	}
	for _, w := range list.Live {
		if c.Every[w.Name] < 100*time.Millisecond {
			wrong("every %s: %s is shorter than 100ms", w.Name, c.Every[w.Name])
		}
	}
	if c.EveryLong < 100*time.Millisecond {
		wrong("every long: %s is shorter than 100ms", c.EveryLong)
	}
	if c.EverySlices < time.Second {
		wrong("every slices: %s is shorter than 1s", c.EverySlices)
	}
	if least := slices.Reach + time.Hour; c.Slices.Lists > 0 && c.KeepCounts < least {
		wrong("keep-counts: %s is shorter than %s, which lists of slices need", c.KeepCounts, least)
	}
	for _, w := range list.Windows {
		if c.KeepVersions[w.Name] < time.Minute {
			wrong("keep-versions %s: %s is shorter than 1m, in which readers may still ask for a version", w.Name, c.KeepVersions[w.Name])
		}
	}
	if least := longestWindow() + time.Hour; c.KeepCounts < least {
		wrong("keep-counts: %s is shorter than %s, the longest window and an hour", c.KeepCounts, least)
	}
	if c.KeepSketches < c.KeepCounts || c.KeepEvents < c.KeepCounts {
		wrong("keep-sketches and keep-events: %s and %s must not be shorter than keep-counts, %s", c.KeepSketches, c.KeepEvents, c.KeepCounts)
	}
	for _, err := range []error{c.Recount.Validate(c.KeepEvents), c.Grades.Validate(), c.Slices.Validate(), c.Viewers.Validate()} {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	if err := c.Charts.Validate(); err != nil {
		mistakes = append(mistakes, err)
	}
	return errors.Join(mistakes...)
}
