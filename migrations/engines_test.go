package migrations

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"topk/embedded/binary"
	"topk/internal/enginetest"
	"topk/udf"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(binary.Run(m))
}

// deployment is one ClickHouse and one PostgreSQL, both fresh.
type deployment struct {
	clickhouse *enginetest.ClickHouse
	postgres   string
}

func deploy(t *testing.T, kafka string) *deployment {
	t.Helper()
	return &deployment{clickhouse: enginetest.StartClickHouse(t, kafka), postgres: enginetest.StartPostgres(t)}
}

// command is `topk migrate` with the addresses of the deployment.
func (d *deployment) command(arguments ...string) *exec.Cmd {
	arguments = append([]string{"migrate"}, arguments...)
	return enginetest.Command(context.Background(), append(arguments, "--clickhouse", d.clickhouse.DSN, "--postgres", d.postgres)...)
}

// migrate runs the command, which must succeed, and returns its standard output.
func (d *deployment) migrate(t *testing.T, arguments ...string) string {
	t.Helper()
	command := d.command(arguments...)
	var log strings.Builder
	command.Stderr = &log
	output, err := command.Output()
	require.NoError(t, err, "topk migrate %v\n%s", arguments, log.String())
	return string(output)
}

// applySchema runs functions and files by hand, as a person could.
func applySchema(t *testing.T, engine *enginetest.ClickHouse) {
	t.Helper()
	engine.Query(t, query("clickhouse_create_database"))
	functions, err := udf.Functions()
	require.NoError(t, err)
	for _, f := range functions {
		engine.Query(t, f.Create)
	}
	files, err := listFiles(ClickHouse, ClickHouseFolder)
	require.NoError(t, err)
	for _, f := range files {
		text, err := ClickHouse.ReadFile(fmt.Sprintf("%s/%06d_%s.up.sql", ClickHouseFolder, f.version, f.name))
		require.NoError(t, err)
		engine.Query(t, string(text))
	}
}

// schema is everything that the histories and functions make, as text.
func (d *deployment) schema(t *testing.T) string {
	t.Helper()
	return d.clickhouseSchema(t) + "\n" + d.postgresSchema(t)
}

func (d *deployment) clickhouseSchema(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintln(&text, d.clickhouse.Query(t, `
		SELECT create_query || '\n' FROM system.functions WHERE origin = 'SQLUserDefined' ORDER BY name FORMAT TSVRaw`))
	names := d.clickhouse.Query(t, "SELECT name FROM system.tables WHERE database = 'topk' AND name != 'schema_migrations' ORDER BY name")
	for name := range strings.FieldsSeq(names) {
		fmt.Fprintf(&text, "%s\n\n", d.clickhouse.Query(t, "SHOW CREATE TABLE topk."+name+" FORMAT TSVRaw"))
	}
	return text.String()
}

func (d *deployment) postgresSchema(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, d.postgres)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	rows, err := conn.Query(ctx, `
		SELECT concat_ws(' ', 'column', c.table_name, c.ordinal_position, c.column_name, c.data_type, 'null', c.is_nullable,
		                 'default', c.column_default, 'identity', c.identity_generation,
		                 'comment', col_description(c.table_name::regclass, c.ordinal_position)) AS line
		FROM information_schema.columns AS c WHERE c.table_schema = 'public' AND c.table_name != 'schema_migrations'
		UNION ALL
		SELECT concat_ws(' ', 'index', indexname, indexdef) FROM pg_indexes
		WHERE schemaname = 'public' AND tablename != 'schema_migrations'
		UNION ALL
		SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
		WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text != 'schema_migrations'
		UNION ALL
		SELECT concat_ws(' ', 'table', relname, 'comment', obj_description(oid, 'pg_class')) FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S') AND relname != 'schema_migrations'
		ORDER BY line`)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return strings.Join(lines, "\n") + "\n"
}
