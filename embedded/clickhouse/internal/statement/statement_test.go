package statement_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/embedded/clickhouse/internal/statement"
)

func TestKinds(t *testing.T) {
	for source, want := range map[string]statement.Kind{
		"":                                statement.Empty,
		" /* a */ -- b\n ; ":              statement.Empty,
		"select 1":                        statement.Select,
		"(SELECT 1) UNION ALL (SELECT 2)": statement.Select,
		"WITH 1 AS a SELECT a":            statement.Select,
		"FROM t SELECT a":                 statement.Select,
		"-- x\n# y\n/* z */ SELECT ';' ;": statement.Select,
		"WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a": statement.Other,
		"INSERT INTO t SELECT 1":                             statement.Other,
		"INSERT INTO t (a) WITH 1 AS a SELECT a FORMAT TSV":  statement.Other,
		"INSERT INTO t FROM s SELECT a":                      statement.Other,
		"INSERT INTO select SELECT 1":                        statement.Other,
		"SHOW TABLES":                                        statement.Output,
		"DESC t":                                             statement.Output,
		"EXPLAIN SELECT 1":                                   statement.Output,
		"EXISTS t":                                           statement.Output,
		"CHECK TABLE t":                                      statement.Output,
		"CREATE TABLE t (a UInt8) ENGINE = Memory":           statement.Other,
		"ALTER TABLE t DELETE WHERE 1":                       statement.Other,
		"SYSTEM FLUSH LOGS":                                  statement.Other,
		"CREATE TEMPORARY TABLE t (a UInt8)":                 statement.Session,
		"CREATE OR REPLACE TEMPORARY TABLE t (a UInt8)":      statement.Session,
		"USE db":                   statement.Session,
		"SET a = 1":                statement.Session,
		"BEGIN TRANSACTION":        statement.Session,
		"nonsense":                 statement.Session,
		"KILL QUERY WHERE 1":       statement.Kill,
		"INSERT INTO t VALUES (1)": statement.Insert,
		"INSERT INTO t FORMAT CSV": statement.Insert,
	} {
		got, err := statement.Parse(source)
		require.NoError(t, err, source)
		require.Equal(t, want, got.Kind, source)
	}
}

func TestInserts(t *testing.T) {
	for source, want := range map[string]struct{ text, format, data string }{
		"INSERT INTO t VALUES (1), (2);":                        {"INSERT INTO t ", "Values", " (1), (2);"},
		"insert into t (a, b) values(1,';')":                    {"insert into t (a, b) ", "Values", "(1,';')"},
		"INSERT INTO values VALUES (1)":                         {"INSERT INTO values ", "Values", " (1)"},
		"INSERT INTO db.format (a) FORMAT CSV 1":                {"INSERT INTO db.format (a) ", "CSV", "1"},
		"INSERT INTO `VALUES` FORMAT TSV\r\n1\tFORMAT X\n":      {"INSERT INTO `VALUES` ", "TSV", "1\tFORMAT X\n"},
		"INSERT INTO t FORMAT TSV\n\n1":                         {"INSERT INTO t ", "TSV", "\n1"},
		"INSERT INTO t FORMAT JSONEachRow {\"a\":1}":            {"INSERT INTO t ", "JSONEachRow", "{\"a\":1}"},
		"INSERT INTO t SETTINGS x = 1, y = 'VALUES' FORMAT CSV": {"INSERT INTO t SETTINGS x = 1, y = 'VALUES' ", "CSV", ""},
		"INSERT INTO t (a) SETTINGS x=1 VALUES (1)":             {"INSERT INTO t (a) SETTINGS x=1 ", "Values", " (1)"},
		"INSERT INTO FUNCTION null('a Int') FORMAT CSV\n1":      {"INSERT INTO FUNCTION null('a Int') ", "CSV", "1"},
		"INSERT INTO TABLE FUNCTION null('a Int') VALUES (1)":   {"INSERT INTO TABLE FUNCTION null('a Int') ", "Values", " (1)"},
		"INSERT INTO TABLE t VALUES (1)":                        {"INSERT INTO TABLE t ", "Values", " (1)"},
		"INSERT INTO {name:Identifier} VALUES (1)":              {"INSERT INTO {name:Identifier} ", "Values", " (1)"},
		"INSERT INTO t (* EXCEPT(b)) VALUES (1)":                {"INSERT INTO t (* EXCEPT(b)) ", "Values", " (1)"},
		"INSERT /* FORMAT X */ INTO -- VALUES\n t FORMAT CSV\n": {"INSERT /* FORMAT X */ INTO -- VALUES\n t ", "CSV", ""},
		"INSERT INTO t FORMAT RowBinary\n\x00'\xff/*;":          {"INSERT INTO t ", "RowBinary", "\x00'\xff/*;"},
		"INSERT INTO t PARTITION BY a FORMAT CSV 1":             {"INSERT INTO t PARTITION BY a ", "CSV", "1"},
		"INSERT INTO t VALUES":                                  {"INSERT INTO t ", "Values", ""},
	} {
		got, err := statement.Parse(source)
		require.NoError(t, err, source)
		require.Equal(t, statement.Insert, got.Kind, source)
		require.Equal(t, want.text, got.Text, source)
		require.Equal(t, want.format, got.Format, source)
		require.Equal(t, want.data, source[got.Data:], source)
	}
}

func TestOutputFormats(t *testing.T) {
	for source, want := range map[string]struct{ format, before string }{
		"SELECT 1":                                  {"", "SELECT 1"},
		"SELECT 1 FORMAT JSON":                      {"JSON", "SELECT 1 "},
		"SELECT 1 FORMAT JSON ;":                    {"JSON", "SELECT 1 "},
		"SELECT 1 format CSV SETTINGS a = 1, b = 2": {"CSV", "SELECT 1 "},
		"SELECT 1 SETTINGS a = 1 FORMAT CSV":        {"CSV", "SELECT 1 SETTINGS a = 1 "},
		"SELECT format FROM t":                      {"", "SELECT format FROM t"},
		"SELECT (SELECT 1 FORMAT JSON)":             {"", "SELECT (SELECT 1 FORMAT JSON)"},
		"SELECT 'FORMAT JSON'":                      {"", "SELECT 'FORMAT JSON'"},
		"SELECT 1 -- FORMAT JSON":                   {"", "SELECT 1 -- FORMAT JSON"},
		"SELECT $x$; FORMAT$x$ FORMAT TSV":          {"TSV", "SELECT $x$; FORMAT$x$ "},
	} {
		got, err := statement.Parse(source)
		require.NoError(t, err, source)
		require.Equal(t, want.format, got.Format, source)
		require.Equal(t, want.before, got.Text[:got.Cut], source)
	}
}

func TestRefused(t *testing.T) {
	for source, want := range map[string]error{
		"SELECT 1; SELECT 2":                      statement.ErrMulti,
		"SELECT 1;; x":                            statement.ErrMulti,
		"SELECT (1; DROP TABLE t":                 statement.ErrMulti,
		"DROP TABLE t; SELECT 1":                  statement.ErrMulti,
		"INSERT INTO t SELECT 1; SELECT 2":        statement.ErrMulti,
		"SELECT 1 INTO OUTFILE 'a'":               statement.ErrOutfile,
		"INSERT INTO t SELECT a FROM input ('a')": statement.ErrInput,
		"WITH 1 AS a INSERT INTO t SELECT a FROM (SELECT * FROM input('a'))": statement.ErrInput,
		"INSERT INTO t FROM INFILE 'a' FORMAT CSV":                           statement.ErrInfile,
		"INSERT INTO t (a) FROM INFILE 'a'":                                  statement.ErrInfile,
	} {
		_, err := statement.Parse(source)
		require.ErrorIs(t, err, want, source)
	}
	for _, source := range []string{"SELECT ';'", "SELECT 1 /*;*/", "SELECT `;`", "SELECT 'it''s; \\'; '", "SELECT 1;", "SELECT 1 ; -- end",
		"INSERT INTO input (a) SELECT 1", "ALTER TABLE t MODIFY COMMENT 'input('"} {
		_, err := statement.Parse(source)
		require.NoError(t, err, source)
	}
}

func TestKillTarget(t *testing.T) {
	for source, want := range map[string]string{
		"KILL QUERY WHERE query_id = 'a b'":     "a b",
		"kill query where query_id='x' SYNC;":   "x",
		"KILL QUERY WHERE query_id = 'x' TEST":  "",
		"KILL QUERY WHERE user = 'x'":           "",
		"KILL QUERY WHERE query_id = 'x' OR 1":  "",
		"KILL MUTATION WHERE mutation_id = 'x'": "",
	} {
		got, err := statement.Parse(source)
		require.NoError(t, err, source)
		require.Equal(t, want, got.Target, source)
	}
}

// Whatever the text: no panic, offsets within it, and an INSERT's statement does not depend on its data.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"SELECT 1 FORMAT JSON SETTINGS a=1", "INSERT INTO t (a) VALUES (1)", "INSERT INTO t FORMAT CSV\n1", "KILL QUERY WHERE query_id = 'a'",
		"/* a", "'", "$a$ $a$", "INSERT INTO FUNCTION f('a') FORMAT X", "((((", "SELECT 1;", "INSERT", "INSERT INTO", "\xff\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got, err := statement.Parse(source)
		if err != nil {
			return
		}
		require.LessOrEqual(t, got.Data, len(source))
		require.LessOrEqual(t, got.Cut, len(got.Text))
		require.True(t, strings.HasPrefix(source, got.Text))
		if got.Kind == statement.Insert {
			again, err := statement.Parse(source[:got.Data] + " ';/*`")
			require.NoError(t, err)
			require.Equal(t, got.Text, again.Text)
			require.Equal(t, got.Format, again.Format)
		}
	})
}
