// Package slices makes the lists of slices: of countries, categories and languages, of pairs of them, and of unions of those. It keeps the
// most viewed items of every slice minute by minute, from which the lists of any window and any union are added up, and counts what those
// leave open.
package slices

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
	"topk/internal/slice"
)

//go:embed sql/*.sql
var queries embed.FS

// questions of this package and their settings, which are those of live lists for the same reasons (rollups/sql.go). What does not fit
// into memory is grouped on disk.
var questions = clickhouse.NewQuestions(queries, ch.Settings{
	"do_not_merge_across_partitions_select_final": 1,
	"defer_partition_pruning_after_final":         0,
	"enable_shared_storage_snapshot_in_query":     1,
	"max_threads":                        1,
	"max_bytes_before_external_group_by": 768 << 20,
})

// hasty questions are those of somebody who waits: of the time that they take most is spent on adding up, which two threads do.
var hasty = questions.With(ch.Settings{"max_threads": 2})

// maxLists bounds the slices whose lists are published: each is read into the memory of every API, which copies the map of them for each version.
const maxLists = 1000

type parameters = clickhouse.Parameters

// Config says what is kept of slices.
type Config struct {
	Kept   slice.Kept
	Slices int // of an item type, minute and combination of dimensions: those of most views
	Items  int // of a slice and minute: those of most views
	// DistinctRows is up to how many events repeats are looked for over a whole window. Beyond, those that were sent with different times
	// are not found, and events without a time of their own may all be repeats.
	DistinctRows uint64
	Budget       time.Duration // of one statement
	// Loose is how many items that the minutes leave open are counted for the lists of a window, all slices together, and CountBudget when
	// no more are begun. The others are followed, so that minutes to come count them.
	Loose       int
	CountBudget time.Duration
	// Lists is of how many slices lists are published, all item types together: of those of most views, single dimensions before pairs.
	// Others are made when somebody asks.
	Lists int
	// TrendFloor is how many views an hour are not told from a rise: an item that goes from 2 to 200 views does not trend because of it. With
	// the default its score is 4.2 at the most, when all came in the last minute and it is as new as can be; a hit of 1,000 views an hour has 6.1 at the
	// least (api/README.md).
	TrendFloor float64
	EveryTrend time.Duration // least time between two lists of items that trend, in event time
	// Hasty spends two threads on a list instead of one: somebody waits for it.
	Hasty bool
}

// DefaultConfig holds the most viewed 1,000 items of 1,000 slices a minute: in 3 hours some 300 MB at 50,000 events a second.
func DefaultConfig() Config {
	kept, err := slice.ParsePairs(slice.DefaultPairs)
	if err != nil {
		panic(err)
	}
	return Config{Kept: kept, Slices: 1000, Items: 1000, DistinctRows: 1_000_000, Budget: 30 * time.Second, Loose: 1000, CountBudget: 2 * time.Second,
		Lists: 250, TrendFloor: 500, EveryTrend: 5 * time.Minute}
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var mistakes []error
	if c.Slices < 300 {
		mistakes = append(mistakes, fmt.Errorf("slices: %d is less than 300, which countries alone may be", c.Slices))
	}
	if c.Items < 100 || c.Items > 10_000 {
		mistakes = append(mistakes, fmt.Errorf("slice-items: %d is not 100 to 10000", c.Items))
	}
	if c.Budget <= 0 {
		mistakes = append(mistakes, fmt.Errorf("slice budget: %s is not positive", c.Budget))
	}
	if c.Loose < 0 || c.CountBudget < 0 {
		mistakes = append(mistakes, fmt.Errorf("slice loose and count budget: %d and %s must not be negative", c.Loose, c.CountBudget))
	}
	if c.Lists < 0 || c.Lists > maxLists {
		mistakes = append(mistakes, fmt.Errorf("slice-lists: %d is not 0 to %d", c.Lists, maxLists))
	}
	if !(c.TrendFloor >= 1) || math.IsInf(c.TrendFloor, 0) {
		mistakes = append(mistakes, fmt.Errorf("trend-floor: %g is not a number from 1 on", c.TrendFloor))
	}
	if c.EveryTrend < time.Minute {
		mistakes = append(mistakes, fmt.Errorf("every-trend: %s is shorter than 1m", c.EveryTrend))
	}
	return errors.Join(mistakes...)
}

// dimensions are the combinations that are kept, as SQL takes them.
func (c Config) dimensions() []uint64 {
	var all []uint64
	for _, d := range c.Kept.Dimensions() {
		all = append(all, uint64(d))
	}
	return all
}

func (c Config) questions() clickhouse.Questions {
	if c.Hasty {
		return hasty
	}
	return questions
}

func (c Config) read(ctx context.Context, conn driver.Conn, name string, p parameters, scan func(driver.Rows) error) error {
	return c.questions().Read(ctx, conn, name, p, c.Budget, scan)
}

func (c Config) execute(ctx context.Context, conn driver.Conn, name string, p parameters) error {
	return questions.Execute(ctx, conn, name, p, c.Budget)
}
