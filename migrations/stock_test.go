package migrations

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/udf"
)

// stockMigrate builds golang-migrate's own command line tool, at the version that this module uses. It is a module of its
// own because it links clickhouse-go v1, which must not meet v2 in one binary.
func stockMigrate(t *testing.T) string {
	t.Helper()
	listed, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/golang-migrate/migrate/v4").Output()
	require.NoError(t, err)
	version := strings.TrimSpace(string(listed))
	directory := t.TempDir()
	build := exec.Command("go", "install", "-tags", "clickhouse pgx5", "github.com/golang-migrate/migrate/v4/cmd/migrate@"+version)
	build.Env = append(os.Environ(), "GOBIN="+directory, "GOFLAGS=")
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	return filepath.Join(directory, "migrate")
}

// The commands of README.md: the same files, applied by a tool that knows nothing of topk.
func TestStockMigrateRunsTheSameFiles(t *testing.T) {
	tool := stockMigrate(t)
	d := deploy(t, "")
	functions, err := udf.Functions()
	require.NoError(t, err)
	d.clickhouse.Query(t, "CREATE DATABASE topk")
	for _, f := range functions {
		d.clickhouse.Query(t, f.Create)
	}
	clickhouse := "clickhouse://" + listenNative(t, d.clickhouse.URL) + "?database=topk&x-migrations-table-engine=MergeTree"
	postgres := strings.Replace(d.postgres, "postgres://", "pgx5://", 1)
	migrate := func(folder, dsn string, arguments ...string) {
		t.Helper()
		command := exec.Command(tool, append([]string{"-path", folder, "-database", dsn}, arguments...)...)
		output, err := command.CombinedOutput()
		require.NoError(t, err, string(output))
	}

	migrate(ClickHouseFolder, clickhouse, "up")
	migrate(PostgresFolder, postgres, "up")
	golden(t, "testdata/clickhouse.golden.sql", d.clickhouseSchema(t))
	golden(t, "testdata/postgres.golden.txt", d.postgresSchema(t))
	require.Equal(t, "nothing to apply: the schema is up to date\n", d.migrate(t, "up"), "both tools keep one history")

	migrate(PostgresFolder, postgres, "down", "-all")
	migrate(ClickHouseFolder, clickhouse, "down", "-all")
	require.Equal(t, "schema_migrations", d.clickhouse.Query(t, "SELECT name FROM system.tables WHERE database = 'topk'"))
	d.migrate(t, "up")
	golden(t, "testdata/clickhouse.golden.sql", d.clickhouseSchema(t))
}

// Two versions of one driver in a binary register one name twice, and panic.
func TestOnlyOneClickHouseDriverIsLinked(t *testing.T) {
	linked, err := exec.Command("go", "list", "-deps", "topk/cmd/topk").Output()
	require.NoError(t, err)
	require.Contains(t, string(linked), "github.com/ClickHouse/clickhouse-go/v2\n")
	require.NotContains(t, string(linked), "github.com/ClickHouse/clickhouse-go\n")
}
