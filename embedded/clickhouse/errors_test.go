package clickhouse_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
)

func TestErrors(t *testing.T) {
	addr := instance(t).Address
	for name, c := range map[string]struct {
		statement  string
		parameters []string
		status     int
		code       string
		says       string
	}{
		"syntax":            {statement: "SELEC 1", status: 400, code: "62", says: "failed at position 1"},
		"empty":             {statement: " -- nothing", status: 400, code: "62"},
		"two statements":    {statement: "SELECT 1; SELECT 2", status: 400, code: "62", says: "Multi-statements are not allowed"},
		"unknown table":     {statement: "SELECT * FROM nosuch", status: 404, code: "60", says: "nosuch"},
		"unknown column":    {statement: "SELECT nosuch", status: 404, code: "47"},
		"unknown function":  {statement: "SELECT nosuch()", status: 404, code: "46"},
		"unknown database":  {statement: "SELECT 1", parameters: []string{"database=nosuch"}, status: 404, code: "81"},
		"unknown setting":   {statement: "SELECT 1", parameters: []string{"max_thread=1"}, status: 404, code: "115", says: "max_threads"},
		"bad setting":       {statement: "SELECT 1", parameters: []string{"max_threads=many"}, status: 400, code: "27"},
		"unknown format":    {statement: "SELECT 1 FORMAT Nosuch", status: 404, code: "73"},
		"missing parameter": {statement: "SELECT {x:UInt8}", status: 500, code: "456"},
		"bad parameter":     {statement: "SELECT {x:UInt8}", parameters: []string{"param_x=a"}, status: 500, code: "457"},
		"too long":          {statement: "SELECT 1 /*" + strings.Repeat("x", 300<<10) + "*/", status: 400, code: "62", says: "max_query_size"},
		"outfile":           {statement: "SELECT 1 INTO OUTFILE '/tmp/x'", status: 501, code: "48"},
		"infile":            {statement: "INSERT INTO t FROM INFILE '/etc/passwd' FORMAT TSV", status: 501, code: "48"},
		"input":             {statement: "INSERT INTO t SELECT * FROM (SELECT x FROM input('x UInt8')) FORMAT CSV\n1", status: 501, code: "48"},
		"late":              {statement: "SELECT throwIf(number = 1000) FROM numbers(2000)", status: 500, code: "395"},
		"flag":              {statement: "SELECT 1", parameters: []string{"compress=maybe"}, status: 400, code: "36"},
		"insert, no table":  {statement: "INSERT INTO nosuch VALUES (1)", status: 404, code: "60"},
	} {
		t.Run(name, func(t *testing.T) {
			got := post(t, addr, c.statement, c.parameters...)
			require.Equal(t, c.status, got.status, got.body)
			require.Equal(t, c.code, got.header.Get("X-ClickHouse-Exception-Code"))
			require.Contains(t, got.body, "Code: "+c.code+". DB::Exception: ")
			require.Contains(t, got.body, c.says)
			require.Equal(t, 1, strings.Count(got.body, "DB::Exception"), "the prefix is there once")
		})
	}
	require.Equal(t, "1\n", post(t, addr, "SELECT 1 /*"+strings.Repeat("x", 300<<10)+"*/", "max_query_size=1000000").body)
}

// The numbers in the status table are those of the errors that ClickHouse maps to that status.
func TestStatusNumbers(t *testing.T) {
	got := post(t, instance(t).Address, `SELECT arrayStringConcat(groupArray(errorCodeToName(n)), ' ') FROM (SELECT arrayJoin([
		194, 192, 193, 497, 516, 512, 36, 427, 6, 25, 26, 38, 41, 72, 441, 675, 676, 27, 376, 15, 44, 8, 167, 168, 62,
		117, 53, 321, 60, 46, 47, 50, 56, 81, 115, 73, 336, 78, 511, 229, 48, 209, 76, 439, 202, 381, 159]) AS n)`)
	require.Equal(t, `REQUIRED_PASSWORD UNKNOWN_USER WRONG_PASSWORD ACCESS_DENIED AUTHENTICATION_FAILED SET_NON_GRANTED_ROLE `+
		`BAD_ARGUMENTS CANNOT_COMPILE_REGEXP CANNOT_PARSE_TEXT CANNOT_PARSE_ESCAPE_SEQUENCE CANNOT_PARSE_QUOTED_STRING `+
		`CANNOT_PARSE_DATE CANNOT_PARSE_DATETIME CANNOT_PARSE_NUMBER CANNOT_PARSE_DOMAIN_VALUE_FROM_STRING CANNOT_PARSE_IPV4 `+
		`CANNOT_PARSE_IPV6 CANNOT_PARSE_INPUT_ASSERTION_FAILED CANNOT_PARSE_UUID DUPLICATE_COLUMN ILLEGAL_COLUMN `+
		`THERE_IS_NO_COLUMN TOO_DEEP_AST TOO_BIG_AST SYNTAX_ERROR INCORRECT_DATA TYPE_MISMATCH `+
		`VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE UNKNOWN_TABLE UNKNOWN_FUNCTION UNKNOWN_IDENTIFIER UNKNOWN_TYPE UNKNOWN_STORAGE `+
		`UNKNOWN_DATABASE UNKNOWN_SETTING UNKNOWN_FORMAT UNKNOWN_DATABASE_ENGINE UNKNOWN_TYPE_OF_QUERY UNKNOWN_ROLE `+
		`QUERY_IS_TOO_LARGE NOT_IMPLEMENTED SOCKET_TIMEOUT CANNOT_OPEN_FILE CANNOT_SCHEDULE_TASK `+
		`TOO_MANY_SIMULTANEOUS_QUERIES HTTP_LENGTH_REQUIRED TIMEOUT_EXCEEDED`+"\n", got.body)
}

// What a failed statement had written must not come before the next answer.
func TestErrorLeavesNothingBehind(t *testing.T) {
	addr := instance(t).Address
	for _, parameters := range [][]string{nil, {"wait_end_of_query=1"}, {"default_format=JSON"}, {"session_id=failing"}, {"session_id=failing", "wait_end_of_query=1"}} {
		for range 3 {
			post(t, addr, "SELECT throwIf(number = 3000000) FROM numbers(10000000)", parameters...)
			require.Equal(t, "{\"a\":1}\n", post(t, addr, "SELECT 1 AS a FORMAT JSONEachRow", parameters...).body)
		}
	}
}

func TestGetOnlyReads(t *testing.T) {
	addr := instance(t).Address
	instance(t).Query(t, "CREATE TABLE IF NOT EXISTS by_get (a UInt8) ENGINE = Memory")
	for _, statement := range []string{"CREATE TABLE by_get2 (a UInt8) ENGINE = Memory", "INSERT INTO by_get VALUES (1)", "SET readonly = 0"} {
		got := do(t, call{addr: addr, method: http.MethodGet, path: "/", query: url.Values{"query": {statement}}})
		require.Equal(t, "164", got.header.Get("X-ClickHouse-Exception-Code"), got.body)
		require.Contains(t, got.body, "use method POST")
	}
	got := do(t, call{addr: addr, method: http.MethodGet, path: "/", query: url.Values{"query": {"SELECT getSetting('max_threads')"}, "max_threads": {"1"}}})
	require.Equal(t, "1\n", got.body, "settings may still be given")
}

// An exception after the first rows: the client sees that its answer is not whole.
func TestErrorInMidAnswer(t *testing.T) {
	got := post(t, instance(t).Address, "SELECT throwIf(number = 3000000) FROM numbers(10000000)", "default_format=TSV")
	require.Equal(t, http.StatusOK, got.status)
	require.ErrorIs(t, got.err, io.ErrUnexpectedEOF)
	tag := got.header.Get("X-ClickHouse-Exception-Tag")
	require.Len(t, tag, 16)
	require.Contains(t, got.body, "\r\n__exception__\r\n"+tag+"\r\nCode: 395. DB::Exception: ")
	require.True(t, strings.HasSuffix(got.body, tag+"\r\n__exception__\r\n"))

	whole := post(t, instance(t).Address, "SELECT throwIf(number = 3000000) FROM numbers(10000000)", "wait_end_of_query=1")
	require.Equal(t, http.StatusInternalServerError, whole.status, "wait_end_of_query asks for the status of the whole")
}

func TestForeignPagesAreRefused(t *testing.T) {
	for site, want := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 200, "none": 200} {
		got := do(t, call{addr: instance(t).Address, header: map[string]string{"Sec-Fetch-Site": site}, body: strings.NewReader("SELECT 1")})
		require.Equal(t, want, got.status, site)
	}
}

func TestPassword(t *testing.T) {
	addr := enginetest.StartClickHouse(t, "", "--password", "s3cret").Address
	ask := func(header map[string]string, parameters ...string) answer {
		return do(t, call{addr: addr, query: values(parameters), header: header, body: strings.NewReader("SELECT 1")})
	}
	require.Equal(t, "1\n", ask(map[string]string{"X-ClickHouse-User": "default", "X-ClickHouse-Key": "s3cret"}).body)
	require.Equal(t, "1\n", ask(map[string]string{"Authorization": "Basic ZGVmYXVsdDpzM2NyZXQ="}).body)
	require.Equal(t, "1\n", ask(nil, "user=default", "password=s3cret").body)
	for _, wrong := range []answer{
		ask(nil),
		ask(map[string]string{"X-ClickHouse-User": "default", "X-ClickHouse-Key": "wrong"}),
		ask(map[string]string{"X-ClickHouse-User": "admin", "X-ClickHouse-Key": "s3cret"}),
		ask(nil, "user=default", "password=S3cret"),
	} {
		require.Equal(t, http.StatusForbidden, wrong.status)
		require.Equal(t, "516", wrong.header.Get("X-ClickHouse-Exception-Code"))
	}
	require.Equal(t, "Ok.\n", do(t, call{addr: addr, method: http.MethodGet, path: "/ping"}).body)
}
