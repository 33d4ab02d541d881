package udf

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/embedded/binary"
	"topk/internal/enginetest"
)

var update = flag.Bool("update", false, "write the references anew")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(binary.Run(m))
}

// Each test/<name>.sql answers what test/<name>.reference holds.
func TestFunctionsAnswerAsRecorded(t *testing.T) {
	engine := enginetest.StartClickHouse(t, "")
	functions, err := Functions()
	require.NoError(t, err)
	for range 2 { // creating again changes nothing, and a function may come before one that it calls
		for _, f := range functions {
			engine.Query(t, f.Create)
		}
	}
	queries, err := filepath.Glob("test/*.sql")
	require.NoError(t, err)
	for _, path := range queries {
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		t.Run(name, func(t *testing.T) {
			query, err := os.ReadFile(path)
			require.NoError(t, err)
			answer := engine.Query(t, strings.TrimSpace(string(query))+"\nFORMAT TSVWithNames") + "\n"
			reference := "test/" + name + ".reference"
			if *update {
				require.NoError(t, os.WriteFile(reference, []byte(answer), 0o644))
			}
			want, err := os.ReadFile(reference)
			require.NoError(t, err)
			require.Equal(t, string(want), answer)
		})
	}
	for _, f := range functions {
		require.Contains(t, strings.Join(queries, " "), "test/"+f.Name+".sql", "%s has a test", f.Name)
		engine.Query(t, f.Drop)
	}
	require.Equal(t, "0", engine.Query(t, "SELECT count() FROM system.functions WHERE startsWith(name, 'topk_')"))
}

// Examples in the headers are run as they stand.
func TestExamplesRun(t *testing.T) {
	engine := enginetest.StartClickHouse(t, "")
	functions, err := Functions()
	require.NoError(t, err)
	example := regexp.MustCompile(`(?m)^-- Example: (SELECT .*)$`)
	for _, f := range functions {
		engine.Query(t, f.Create)
	}
	for _, f := range functions {
		found := example.FindStringSubmatch(f.Create)
		require.NotNil(t, found, f.Name)
		engine.Query(t, found[1])
	}
}

func TestEveryFileSaysWhatItIs(t *testing.T) {
	functions, err := Functions()
	require.NoError(t, err)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, f := range functions {
		require.True(t, strings.HasPrefix(f.Create, "-- "+f.Name+"("), "%s starts with its signature", f.Name)
		for _, part := range []string{"-> ", "-- Example: ", "-- Error: ", "-- Source: "} {
			require.Contains(t, f.Create, part, f.Name)
		}
		require.Contains(t, f.Create, "CREATE OR REPLACE FUNCTION "+f.Name+" AS ")
		require.Equal(t, "DROP FUNCTION IF EXISTS "+f.Name+"\n", f.Drop)
		require.NotContains(t, f.Create, ";"+"\n", "%s is one statement", f.Name)
		require.Contains(t, string(readme), "| `"+f.Name+"(", "%s stands in the table", f.Name)
	}
	drops, err := filepath.Glob("drop/*.sql")
	require.NoError(t, err)
	require.Len(t, drops, len(functions), "each drop has its function")
}

// A view holds the text of a function, not its name: changing the function changes no view that exists.
func TestViewsExpandFunctions(t *testing.T) {
	engine := enginetest.StartClickHouse(t, "")
	engine.Query(t, "CREATE FUNCTION topk_probe AS () -> 1")
	engine.Query(t, "CREATE VIEW default.probe AS SELECT topk_probe() AS value")
	engine.Query(t, "CREATE OR REPLACE FUNCTION topk_probe AS () -> 2")
	require.Equal(t, "1", engine.Query(t, "SELECT value FROM default.probe"))
	require.Equal(t, "2", engine.Query(t, "SELECT topk_probe()"))
	engine.Query(t, "DROP FUNCTION topk_probe")
	require.Equal(t, "1", engine.Query(t, "SELECT value FROM default.probe"))
}
