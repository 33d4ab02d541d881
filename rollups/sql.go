package rollups

import (
	"context"
	"embed"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
)

//go:embed sql/*.sql
var queries embed.FS

// questions of this package and their settings. Without the first two, FINAL reads whole partitions that the filter leaves
// out, and merges equal keys of different partitions. The third makes all parts of a query see the same rows.
// One thread is enough: more finish little sooner beside the work of counting, and cost up to twice as much (bench/rollups.md).
var questions = clickhouse.NewQuestions(queries, ch.Settings{
	"do_not_merge_across_partitions_select_final": 1,
	"defer_partition_pruning_after_final":         0,
	"enable_shared_storage_snapshot_in_query":     1,
	"max_threads": 1,
})

type parameters = clickhouse.Parameters

// query returns the text of sql/<name>.sql.
func query(name string) string { return questions.Text(name) }

// read asks one question and calls scan for each row. An answer that ends early is an error, never a short answer.
func read(ctx context.Context, conn driver.Conn, name string, p parameters, budget time.Duration, scan func(driver.Rows) error) error {
	return questions.Read(ctx, conn, name, p, budget, scan)
}

// execute runs a statement that returns nothing.
func execute(ctx context.Context, conn driver.Conn, name string, p parameters, budget time.Duration) error {
	return questions.Execute(ctx, conn, name, p, budget)
}
