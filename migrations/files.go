// Package migrations holds the schema of ClickHouse and PostgreSQL as plain SQL, and applies it.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
)

// ClickHouse and Postgres are the two histories: golang-migrate pairs, NNNNNN_<object>.up.sql and .down.sql, one
// statement and one object each.
var (
	//go:embed clickhouse/*.sql
	ClickHouse embed.FS
	//go:embed postgres/*.sql
	Postgres embed.FS
	//go:embed query/*.sql
	queries embed.FS
)

// Folders inside ClickHouse and Postgres.
const (
	ClickHouseFolder = "clickhouse"
	PostgresFolder   = "postgres"
)

var (
	upName  = regexp.MustCompile(`^(\d{6})_([a-z0-9_]+)\.up\.sql$`)
	creates = regexp.MustCompile(`(?m)^CREATE (?:TABLE|MATERIALIZED VIEW|VIEW) (?:topk\.)?([a-z0-9_]+)\b`)
)

// file is one step of a history.
type file struct {
	version int
	name    string // what follows the number
	object  string // the table or view that its up statement creates; empty when it changes one that exists
}

// listFiles returns the steps of a history in order.
func listFiles(folder fs.FS, name string) ([]file, error) {
	entries, err := fs.ReadDir(folder, name)
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	var files []file
	for _, entry := range entries {
		parts := upName.FindStringSubmatch(entry.Name())
		if parts == nil {
			continue
		}
		version, err := strconv.Atoi(parts[1])
		if err != nil {
			return nil, fmt.Errorf("number of %s: %w", entry.Name(), err)
		}
		text, err := fs.ReadFile(folder, name+"/"+entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		step := file{version: version, name: parts[2]}
		if created := creates.FindSubmatch(text); created != nil {
			step.object = string(created[1])
		}
		files = append(files, step)
	}
	slices.SortFunc(files, func(a, b file) int { return a.version - b.version })
	return files, nil
}

// query returns the text of query/<name>.sql.
func query(name string) string {
	text, err := queries.ReadFile("query/" + name + ".sql")
	if err != nil {
		panic(err) // the files are in the binary: a wrong name is a mistake in this package
	}
	return string(text)
}
