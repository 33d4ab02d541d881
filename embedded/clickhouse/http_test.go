package clickhouse_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealth(t *testing.T) {
	addr := instance(t).Address
	for _, path := range []string{"/ping", "/replicas_status", "/"} {
		got := do(t, call{addr: addr, method: http.MethodGet, path: path})
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, "Ok.\n", got.body)
	}
	require.Equal(t, http.StatusNotFound, do(t, call{addr: addr, method: http.MethodGet, path: "/nope"}).status)
	require.Equal(t, http.StatusMethodNotAllowed, do(t, call{addr: addr, method: http.MethodDelete, path: "/"}).status)
}

func TestQuery(t *testing.T) {
	addr := instance(t).Address
	t.Run("by GET", func(t *testing.T) {
		got := do(t, call{addr: addr, method: http.MethodGet, path: "/", query: url.Values{"query": {"SELECT 1, 'a'"}}})
		require.Equal(t, "1\ta\n", got.body)
		require.Equal(t, "TabSeparated", got.header.Get("X-ClickHouse-Format"))
		require.NotEmpty(t, got.header.Get("X-ClickHouse-Query-Id"))
		require.NotEmpty(t, got.header.Get("X-ClickHouse-Timezone"))
		require.Contains(t, got.header.Get("X-ClickHouse-Summary"), `"read_rows":"1"`)
	})
	t.Run("URL and body are one text", func(t *testing.T) {
		require.Equal(t, "3\n", post(t, addr, "+ 2", "query=SELECT 1").body)
	})
	t.Run("on any path", func(t *testing.T) {
		require.Equal(t, "1\n", do(t, call{addr: addr, path: "/some/path", body: strings.NewReader("SELECT 1")}).body)
	})
	t.Run("parameters", func(t *testing.T) {
		got := post(t, addr, "SELECT {s:String}, {n:UInt8} + 1, {list:Array(String)}, {t:Identifier} FROM (SELECT 7 AS x)",
			"param_s=it's /*a*/ \\\\ \"b\"", "param_n=41", "param_list=['a','b']", "param_t=x")
		require.Equal(t, "it\\'s /*a*/ \\\\ \"b\"\t42\t['a','b']\t7\n", got.body)
	})
	t.Run("formats", func(t *testing.T) {
		for name, c := range map[string]struct {
			parameters []string
			header     map[string]string
			statement  string
			want       string
			media      string
		}{
			"clause":           {statement: "SELECT 1 AS a FORMAT JSONEachRow;", want: "{\"a\":1}\n", media: "application/x-ndjson; charset=UTF-8"},
			"clause, settings": {statement: "SELECT 1 AS a FORMAT CSV SETTINGS max_threads = 1", want: "1\n", media: "text/csv; charset=UTF-8; header=absent"},
			"default_format":   {parameters: []string{"default_format=CSVWithNames"}, statement: "SELECT 1 AS a", want: "\"a\"\n1\n", media: "text/csv; charset=UTF-8; header=present"},
			"header":           {header: map[string]string{"X-ClickHouse-Format": "TSVWithNames"}, statement: "SELECT 1 AS a", want: "a\n1\n", media: "text/tab-separated-values; charset=UTF-8"},
			"clause wins":      {parameters: []string{"default_format=JSON"}, statement: "SELECT 1 AS format FORMAT TSV", want: "1\n", media: "text/tab-separated-values; charset=UTF-8"},
			"describe":         {statement: "DESCRIBE (SELECT 1 AS a) FORMAT TSVRaw", want: "a\tUInt8\t\t\t\t\t\n", media: "text/tab-separated-values; charset=UTF-8"},
			"explain":          {statement: "EXPLAIN SYNTAX SELECT 1", want: "SELECT 1\nFROM system.one\n", media: "text/tab-separated-values; charset=UTF-8"},
		} {
			t.Run(name, func(t *testing.T) {
				got := do(t, call{addr: addr, query: values(c.parameters), header: c.header, body: strings.NewReader(c.statement)})
				require.Equal(t, c.want, got.body)
				require.Equal(t, c.media, got.header.Get("Content-Type"))
			})
		}
	})
	t.Run("database", func(t *testing.T) {
		require.Equal(t, "system\n", post(t, addr, "SELECT currentDatabase()", "database=system").body)
		got := do(t, call{addr: addr, header: map[string]string{"X-ClickHouse-Database": "system"}, body: strings.NewReader("SELECT currentDatabase()")})
		require.Equal(t, "system\n", got.body)
		require.Equal(t, "default\n", post(t, addr, "SELECT currentDatabase()").body)
	})
	t.Run("settings end with their query", func(t *testing.T) {
		const question = "SELECT getSetting('max_threads'), getSetting('max_block_size') = 7"
		require.Equal(t, "1\t1\n", post(t, addr, question, "max_threads=1", "max_block_size=7").body)
		require.Equal(t, "1\t0\n", post(t, addr, question+" SETTINGS max_threads = 1").body)
		post(t, addr, "SET max_block_size = 7")
		post(t, addr, "USE system")
		require.Equal(t, "0\tdefault\n", post(t, addr, "SELECT getSetting('max_block_size') = 7, currentDatabase()").body)
	})
	t.Run("query id", func(t *testing.T) {
		require.Equal(t, "my id", post(t, addr, "SELECT 1", "query_id=my id").header.Get("X-ClickHouse-Query-Id"))
	})
}

// Every format must come out as if it were made at once, however large.
func TestLargeResults(t *testing.T) {
	addr := instance(t).Address
	const rows = 300_000
	for _, format := range []string{"TSV", "TSVWithNames", "CSV", "CSVWithNamesAndTypes", "JSONEachRow", "JSONCompactEachRowWithNames"} {
		t.Run(format, func(t *testing.T) {
			got := post(t, addr, "SELECT number AS n, 'x' AS s FROM numbers(300000)", "default_format="+format)
			require.NoError(t, got.err)
			lines := strings.Split(strings.TrimSuffix(got.body, "\n"), "\n")
			require.Len(t, lines, rows+strings.Count(format, "Names")+strings.Count(format, "Types"))
		})
	}
	for _, format := range []string{"JSON", "JSONCompact", "Parquet", "ArrowStream", "Native", "RowBinaryWithNamesAndTypes", "ORC", "MsgPack"} {
		t.Run(format, func(t *testing.T) {
			got := post(t, addr, "SELECT number AS n, 'x' AS s FROM numbers(300000)", "default_format="+format)
			require.NoError(t, got.err)
			table := "large_" + strings.ToLower(format)
			post(t, addr, "CREATE OR REPLACE TABLE "+table+" (n UInt64, s String) ENGINE = Memory")
			back := post(t, addr, got.body, "query=INSERT INTO "+table+" FORMAT "+format)
			require.Equal(t, http.StatusOK, back.status, back.body)
			require.Equal(t, "300000\t300000\t44999850000\n", post(t, addr, "SELECT count(), uniqExact(n), sum(n) FROM "+table).body)
		})
	}
	t.Run("bound of wait_end_of_query", func(t *testing.T) {
		got := post(t, addr, "SELECT repeat('x', 1000) FROM numbers(400000) FORMAT TSV", "wait_end_of_query=1")
		require.Equal(t, http.StatusInternalServerError, got.status)
		require.Equal(t, "396", got.header.Get("X-ClickHouse-Exception-Code"))
	})
}

func TestResponseEncodings(t *testing.T) {
	addr := instance(t).Address
	got := do(t, call{addr: addr, query: values([]string{"enable_http_compression=1"}), header: map[string]string{"Accept-Encoding": "gzip"},
		body: strings.NewReader("SELECT number FROM numbers(200000)")})
	require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
	reader, err := gzip.NewReader(strings.NewReader(got.body))
	require.NoError(t, err)
	plain, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, 200_000, bytes.Count(plain, []byte("\n")))

	got = do(t, call{addr: addr, header: map[string]string{"Accept-Encoding": "gzip"}, body: strings.NewReader("SELECT 1")})
	require.Equal(t, "1\n", got.body, "without enable_http_compression the header means nothing, as in ClickHouse")
}
