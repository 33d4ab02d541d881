package rollups

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

//go:embed sql/*.sql
var queries embed.FS

// query returns the text of sql/<name>.sql.
func query(name string) string {
	text, err := queries.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // the files are in the binary: a wrong name is a mistake in this package
	}
	return string(text)
}

// Settings of every question to ClickHouse. Without the first two, FINAL reads whole partitions that the filter leaves out,
// and merges equal keys of different partitions. The third makes all parts of a query see the same rows.
// One thread is enough: more finish little sooner beside the work of counting, and cost up to twice as much (bench/rollups.md).
var readSettings = ch.Settings{
	"do_not_merge_across_partitions_select_final": 1,
	"defer_partition_pruning_after_final":         0,
	"enable_shared_storage_snapshot_in_query":     1,
	"max_threads": 1,
}

// timeoutCode is ClickHouse's TIMEOUT_EXCEEDED.
const timeoutCode = 159

// parameters are bound by the server, so no text of a client is ever part of a statement.
type parameters map[string]any

func (p parameters) encode() ch.Parameters {
	encoded := make(ch.Parameters, len(p))
	for name, value := range p {
		encoded[name] = encodeParameter(value)
	}
	return encoded
}

// encodeParameter writes a value as ClickHouse reads parameters: arrays as literals, plain texts with tab-separated escapes.
func encodeParameter(value any) string {
	switch v := value.(type) {
	case time.Time:
		return v.UTC().Format(time.DateTime)
	case []time.Time:
		literals := make([]string, len(v))
		for i, t := range v {
			literals[i] = "'" + t.UTC().Format(time.DateTime) + "'"
		}
		return "[" + strings.Join(literals, ",") + "]"
	case []uint64:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ",")
	case []string:
		literals := make([]string, len(v))
		for i, s := range v {
			literals[i] = "'" + quoteEscapes.Replace(s) + "'"
		}
		return "[" + strings.Join(literals, ",") + "]"
	case string:
		return textEscapes.Replace(v)
	default:
		return fmt.Sprint(v)
	}
}

var (
	quoteEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	textEscapes  = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`)
)

// read asks one question and calls scan for each row. An answer that ends early is an error, never a short answer.
func read(ctx context.Context, conn driver.Conn, name string, p parameters, budget time.Duration, scan func(driver.Rows) error) error {
	ctx, cancel := context.WithTimeout(ctx, budget+connectGrace)
	defer cancel()
	rows, err := conn.Query(within(ctx, p, budget), query(name))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for rows.Next() {
		if err := scan(rows); err != nil {
			return errors.Join(fmt.Errorf("%s: read a row: %w", name, err), rows.Close())
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// execute runs a statement that returns nothing.
func execute(ctx context.Context, conn driver.Conn, name string, p parameters, budget time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, budget+connectGrace)
	defer cancel()
	if err := conn.Exec(within(ctx, p, budget), query(name)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// connectGrace is what a query may take beyond its own budget: the server ends it first, with an error that says why.
const connectGrace = 5 * time.Second

func within(ctx context.Context, p parameters, budget time.Duration) context.Context {
	settings := ch.Settings{"max_execution_time": budget.Seconds()}
	for name, value := range readSettings {
		settings[name] = value
	}
	if ctx.Value(patience{}) != nil {
		settings["os_threads_nice_value_query"] = patientNice
	}
	return ch.Context(ctx, ch.WithSettings(settings), ch.WithParameters(p.encode()))
}

// patience marks questions that others may overtake.
type patience struct{}

// patientNice is the nice value of their threads in ClickHouse, which needs CAP_SYS_NICE for it and does without otherwise.
const patientNice = 5

// patient lets the questions of long windows and of housekeeping wait for those of the shortest, which are asked every second.
func patient(ctx context.Context) context.Context { return context.WithValue(ctx, patience{}, true) }

// overBudget tells a query that took too long from one that failed.
func overBudget(err error) bool {
	var exception *proto.Exception
	if errors.As(err, &exception) {
		return exception.Code == timeoutCode
	}
	return errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "TIMEOUT_EXCEEDED")
}
