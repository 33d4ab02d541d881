package clickhouse_test

import (
	"testing"
	"testing/fstest"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/golang-migrate/migrate/v4"
	driver "github.com/golang-migrate/migrate/v4/database/clickhouse"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/stretchr/testify/require"
)

func TestGolangMigrate(t *testing.T) {
	node := instance(t)
	node.Query(t, "CREATE DATABASE IF NOT EXISTS migrated")
	db := ch.OpenDB(&ch.Options{Protocol: ch.HTTP, Addr: []string{node.Address}, Auth: ch.Auth{Database: "migrated"}})
	defer db.Close()
	target, err := driver.WithInstance(db, &driver.Config{DatabaseName: "migrated", MigrationsTableEngine: "MergeTree"})
	require.NoError(t, err)
	source, err := iofs.New(fstest.MapFS{
		"1_a.up.sql":   {Data: []byte("-- a comment; with a semicolon\nCREATE TABLE migrated.a (x UInt8) ENGINE = MergeTree ORDER BY x")},
		"1_a.down.sql": {Data: []byte("DROP TABLE migrated.a")},
		"2_b.up.sql":   {Data: []byte("CREATE MATERIALIZED VIEW migrated.b ENGINE = MergeTree ORDER BY y AS SELECT x + 1 AS y FROM migrated.a;\n")},
		"2_b.down.sql": {Data: []byte("DROP TABLE migrated.b")},
	}, ".")
	require.NoError(t, err)
	m, err := migrate.NewWithInstance("iofs", source, "clickhouse", target)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, m.Up())
		require.ErrorIs(t, m.Up(), migrate.ErrNoChange)
		version, dirty, err := m.Version()
		require.NoError(t, err)
		require.Equal(t, uint(2), version)
		require.False(t, dirty)
		require.Equal(t, "a\nb", node.Query(t, "SELECT name FROM system.tables WHERE database = 'migrated' AND name IN ('a', 'b') ORDER BY name"))
		require.NoError(t, m.Down())
	}
}
