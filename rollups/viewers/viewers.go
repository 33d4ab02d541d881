// Package viewers keeps items off lists that too few viewers have made: it counts the viewers of items that are in a list, or would be, and
// of no other, and says which of them to leave out.
package viewers

import (
	"embed"
	"errors"
	"fmt"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"topk/internal/clickhouse"
)

//go:embed sql/*.sql
var queries embed.FS

// questions of this package and their settings, which are those of live lists for the same reasons (rollups/sql.go).
var questions = clickhouse.NewQuestions(queries, ch.Settings{
	"enable_shared_storage_snapshot_in_query": 1,
	"max_threads": 1,
})

type parameters = clickhouse.Parameters

const (
	// MaxViewers is the greatest number of viewers that can be asked for. It is to tell a crowd from a few devices; counts beyond are of
	// popularity, which is what views are for.
	MaxViewers = 10_000
	// exactTo is up to how many viewers a state of uniqCombined(12) is exact: measured, all of 128. Beyond, it takes 3.3 kB at most and its
	// standard error is 1.04 / sqrt(4096), so an item is left out only if it is three of them below. uniq would be exact to 65,536, in
	// 20 kB for 5,000 viewers; uniqHLL12 is exact to 16 only.
	exactTo   = 100
	margin    = 0.05
	maxAsked  = 2000      // items of one question, beside maxBytes
	maxBytes  = 200 << 10 // of their ids: parameters travel in the URL, where servers accept a megabyte, and escapes may triple them
	maxPasses = 6         // of looking at who moves up in place of those left out; then all the others are looked at together
)

// Config says who is left out.
type Config struct {
	Min        int           // viewers that an item needs in a list's window; 0 leaves nothing out and counts nothing
	Budget     time.Duration // of one statement; a build begins none after a third of it
	KeepEvents time.Duration // life of raw events, in event time: the past is counted from them
}

// DefaultConfig is off.
func DefaultConfig() Config {
	return Config{Budget: 10 * time.Second, KeepEvents: 30 * 24 * time.Hour}
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var mistakes []error
	if c.Min < 0 || c.Min > MaxViewers {
		mistakes = append(mistakes, fmt.Errorf("min-viewers: %d is not 0 to %d", c.Min, MaxViewers))
	}
	if c.Budget <= 0 {
		mistakes = append(mistakes, fmt.Errorf("viewers budget: %s is not positive", c.Budget))
	}
	return errors.Join(mistakes...)
}

// least is the estimate from which on an item stays: the number asked for, less what an estimate may be off.
func (c Config) least() uint64 {
	if c.Min <= exactTo {
		return uint64(c.Min)
	}
	return uint64(float64(c.Min) * (1 - margin))
}

// Item is one item of one type.
type Item struct{ Type, ID string }
