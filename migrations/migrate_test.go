package migrations

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestUpDownUpLeavesTheSameSchema(t *testing.T) {
	d := deploy(t, "")
	require.Contains(t, d.migrate(t, "status"), "no version of")

	require.Contains(t, d.migrate(t, "up"), "applied 18 functions, 59 steps in ClickHouse, 6 in PostgreSQL")
	first := d.schema(t)
	require.NotRegexp(t, `(?m)^column .* comment$`, d.postgresSchema(t), "every column has a comment")
	golden(t, "testdata/clickhouse.golden.sql", d.clickhouseSchema(t))
	golden(t, "testdata/postgres.golden.txt", d.postgresSchema(t))
	require.Equal(t, 2, strings.Count(d.migrate(t, "status"), "nothing pending"))
	require.Equal(t, "MergeTree", d.clickhouse.Query(t, "SELECT engine FROM system.tables WHERE name = 'schema_migrations'"))

	require.Equal(t, "nothing to apply: the schema is up to date\n", d.migrate(t, "up"))
	require.Equal(t, first, d.schema(t))

	output, err := d.command("down").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "--yes")
	require.Equal(t, first, d.schema(t), "down without --yes changes nothing")

	d.migrate(t, "down", "--yes")
	require.Empty(t, strings.TrimSpace(d.schema(t)), "down removes everything")
	require.Equal(t, "0", d.clickhouse.Query(t, "SELECT count() FROM system.databases WHERE name = 'topk'"))
	d.migrate(t, "down", "--yes")

	d.migrate(t, "up")
	require.Equal(t, first, d.schema(t))
}

// What somebody else keeps in the database survives.
func TestDownLeavesForeignTables(t *testing.T) {
	d := deploy(t, "")
	d.migrate(t, "up")
	d.clickhouse.Query(t, "CREATE VIEW topk.of_somebody AS SELECT 1 AS one")
	d.migrate(t, "down", "--yes")
	require.Equal(t, "of_somebody", d.clickhouse.Query(t, "SELECT name FROM system.tables WHERE database = 'topk'"))
	d.migrate(t, "up")
}

func TestThreeProcessesAtOnceMakeOneSchema(t *testing.T) {
	d := deploy(t, "")
	outputs := make([]string, 3)
	errs := make([]error, 3)
	var processes sync.WaitGroup
	for i := range outputs {
		processes.Go(func() {
			output, err := d.command("up").CombinedOutput()
			outputs[i], errs[i] = string(output), err
		})
	}
	processes.Wait()
	for i := range outputs {
		require.NoError(t, errs[i], outputs[i])
	}
	all := strings.Join(outputs, "")
	require.Equal(t, 1, strings.Count(all, "steps in ClickHouse"), all)
	require.Equal(t, 2, strings.Count(all, "nothing to apply"), all)
	golden(t, "testdata/clickhouse.golden.sql", d.clickhouseSchema(t))
	require.NotContains(t, d.migrate(t, "status"), "dirty")
}

// Killed at any moment, up or down, a run is completed by the next one.
func TestKilledRunIsCompletedByTheNext(t *testing.T) {
	d := deploy(t, "")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range 3 {
		arguments := []string{"up"}
		if round%3 == 2 {
			d.migrate(t, "up")
			arguments = []string{"down", "--yes"}
		}
		d.killAfter(t, 1+random.IntN(37), arguments...)
		t.Log(d.migrate(t, "status"))
		d.migrate(t, "up")
		golden(t, "testdata/clickhouse.golden.sql", d.clickhouseSchema(t))
		golden(t, "testdata/postgres.golden.txt", d.postgresSchema(t))
		d.killAfter(t, 1+random.IntN(37), "down", "--yes")
		d.migrate(t, "down", "--yes")
		require.Empty(t, strings.TrimSpace(d.schema(t)))
	}
}

// killAfter kills the process without a warning once it has logged that many steps, wherever it is then.
func (d *deployment) killAfter(t *testing.T, steps int, arguments ...string) {
	t.Helper()
	command := d.command(arguments...)
	reader, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	var log strings.Builder
	buffer := make([]byte, 256)
	for strings.Count(log.String(), "msg=applied") < steps {
		n, err := reader.Read(buffer)
		log.Write(buffer[:n])
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	require.NoError(t, command.Process.Kill())
	_ = command.Wait() // it was killed
}

// A dirty version is repaired by what exists, in each of the ways a step can have been cut off.
func TestDirtyVersionIsRepairedByWhatExists(t *testing.T) {
	d := deploy(t, "")
	d.migrate(t, "up")
	for name, leave := range map[string][]string{
		"up, before its statement":   {"DROP VIEW topk.viewers_minute_mv SYNC", "INSERT INTO topk.schema_migrations VALUES (59, 1, %d)"},
		"up, after its statement":    {"INSERT INTO topk.schema_migrations VALUES (59, 1, %d)"},
		"down, before its statement": {"INSERT INTO topk.schema_migrations VALUES (58, 1, %d)"},
		"down, after its statement":  {"DROP VIEW topk.viewers_minute_mv SYNC", "INSERT INTO topk.schema_migrations VALUES (58, 1, %d)"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range leave {
				if strings.Contains(statement, "%d") {
					statement = fmt.Sprintf(statement, time.Now().UnixNano())
				}
				d.clickhouse.Query(t, statement)
			}
			status := d.migrate(t, "status")
			require.Contains(t, status, "dirty: a step was cut off; `topk migrate up` looks at what it left and goes on")
			d.migrate(t, "up")
			golden(t, "testdata/clickhouse.golden.sql", d.clickhouseSchema(t))
		})
	}
	t.Run("PostgreSQL", func(t *testing.T) {
		d.postgresExec(t, "DROP TABLE asked_slices")
		d.postgresExec(t, "UPDATE schema_migrations SET version = 6, dirty = true")
		require.Contains(t, d.migrate(t, "status"), "dirty")
		d.migrate(t, "up")
		golden(t, "testdata/postgres.golden.txt", d.postgresSchema(t))
	})
}

func (d *deployment) postgresExec(t *testing.T, statement string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, d.postgres)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, statement)
	require.NoError(t, err)
	require.NoError(t, conn.Close(ctx))
}

func TestWaitForTheLockIsBoundedAndNamesItsHolder(t *testing.T) {
	d := deploy(t, "")
	ctx := context.Background()
	config, err := pgx.ParseConfig(d.postgres)
	require.NoError(t, err)
	config.RuntimeParams["application_name"] = "a deploy that hangs"
	conn, err := pgx.ConnectConfig(ctx, config)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "SELECT pg_advisory_lock($1)", lockKey)
	require.NoError(t, err)

	output, err := d.command("up", "--lock-wait", "300ms").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), `another migration holds the lock after 300ms: "a deploy that hangs" from 127.0.0.1`)
	require.Equal(t, "0", d.clickhouse.Query(t, "SELECT count() FROM system.databases WHERE name = 'topk'"), "nothing was done")

	require.NoError(t, conn.Close(ctx))
	d.migrate(t, "up")
}

func TestNewerVersionIsRefused(t *testing.T) {
	d := deploy(t, "")
	d.migrate(t, "up")
	d.postgresExec(t, "UPDATE schema_migrations SET version = 99")
	require.Contains(t, d.migrate(t, "status"), "applied by a newer topk")
	output, err := d.command("up").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "version 99, which this topk does not know")
}

func TestConfigNamesEveryMistake(t *testing.T) {
	err := Config{ClickHouse: "tcp://127.0.0.1:9000/other", Postgres: "", LockWait: -time.Second}.Validate()
	require.ErrorContains(t, err, "clickhouse: ")
	require.ErrorContains(t, err, "postgres: ")
	require.ErrorContains(t, err, "lock-wait: ")
	err = Config{ClickHouse: "http://127.0.0.1:8123/other", Postgres: "postgres://127.0.0.1/topk", LockWait: time.Second}.Validate()
	require.ErrorContains(t, err, `the database is "other"`)
}

// golden compares with a file, so that a change of the schema is seen where it is reviewed.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// Every table of the schema teaches its reader: it and its columns have comments.
func TestTablesAndColumnsHaveComments(t *testing.T) {
	d := deploy(t, "")
	d.migrate(t, "up")
	require.Empty(t, d.clickhouse.Query(t, `
		SELECT name FROM system.tables
		WHERE database = 'topk' AND NOT endsWith(name, '_mv') AND name != 'schema_migrations' AND comment = ''`))
	require.Empty(t, d.clickhouse.Query(t, `
		SELECT table, name FROM system.columns
		WHERE database = 'topk' AND NOT endsWith(table, '_mv') AND table != 'schema_migrations' AND comment = ''
		  AND table IN (SELECT name FROM system.tables WHERE database = 'topk' AND (engine LIKE '%MergeTree' OR engine = 'Null'))`))
}
