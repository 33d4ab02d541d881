package clickhouse_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
)

func TestInsertForms(t *testing.T) {
	node := instance(t)
	for name, c := range map[string]struct {
		parameters []string
		body       string
		want       string
	}{
		"values":                 {nil, "INSERT INTO forms VALUES (1,'a'), (2, concat('b', 'c'));", "1a 2bc"},
		"values with parameters": {[]string{"param_x=7", "param_s=it's"}, "INSERT INTO forms VALUES ({x:UInt32}, {s:String})", "7it\\'s"},
		"values in the URL":      {[]string{"query=INSERT INTO forms VALUES"}, "(3,'u')", "3u"},
		"same line":              {nil, `INSERT INTO forms FORMAT JSONEachRow {"a":1,"b":"j"}`, "1j"},
		"next line":              {nil, "INSERT INTO forms (b, a) FORMAT CSV\n\"x;y\",4\n", "4x;y"},
		"settings":               {nil, "INSERT INTO forms (a) SETTINGS format_csv_delimiter = '|', max_threads = 1 FORMAT CSV\n5\n6\n", "5 6"},
		"format in the URL":      {[]string{"query=INSERT INTO forms FORMAT TSV"}, "8\te\n", "8e"},
		"database of the URL":    {[]string{"database=default", "query=INSERT INTO TABLE forms FORMAT TSV"}, "8\te\n", "8e"},
		"comments":               {nil, "/* VALUES */ INSERT INTO -- FORMAT X\n forms VALUES (9,'c')", "9c"},
		"select":                 {nil, "INSERT INTO forms SELECT number, 's' FROM numbers(2)", "0s 1s"},
		"with, select":           {nil, "INSERT INTO forms WITH 5 AS n SELECT n, 'w'", "5w"},
		"function":               {nil, "INSERT INTO FUNCTION null('a UInt32') VALUES (1)", ""},
		"nothing":                {nil, "INSERT INTO forms FORMAT TSV", ""},
		"async":                  {[]string{"async_insert=1", "wait_for_async_insert=0"}, "INSERT INTO forms VALUES (1,'a')", "1a"},
	} {
		t.Run(name, func(t *testing.T) {
			node.Query(t, "CREATE OR REPLACE TABLE forms (a UInt32, b String) ENGINE = MergeTree ORDER BY (a, b)")
			got := post(t, node.Address, c.body, c.parameters...)
			require.Equal(t, http.StatusOK, got.status, got.body)
			require.Empty(t, got.body)
			require.Equal(t, c.want, node.Query(t, "SELECT arrayStringConcat(groupArray(toString(a) || b), ' ') FROM (SELECT * FROM forms ORDER BY a)"))
		})
	}
	t.Run("a bad row", func(t *testing.T) {
		got := post(t, node.Address, "INSERT INTO forms (a) FORMAT TSV\n1\nx\n")
		require.Equal(t, http.StatusBadRequest, got.status)
		require.Equal(t, "27", got.header.Get("X-ClickHouse-Exception-Code"))
		require.Contains(t, got.body, "row 2")
	})
}

func TestInsertEncodings(t *testing.T) {
	node := instance(t)
	plain := []byte(strings.Repeat("1\n", 100_000))
	pack := func(open func(io.Writer) io.WriteCloser) []byte {
		var buffer bytes.Buffer
		writer := open(&buffer)
		_, err := writer.Write(plain)
		require.NoError(t, err)
		require.NoError(t, writer.Close())
		return buffer.Bytes()
	}
	frames := func(method compress.Method) []byte {
		writer := compress.NewWriter(compress.LevelZero, method)
		var all []byte
		for _, half := range [][]byte{plain[:50_001], plain[50_001:]} { // a row across two frames
			require.NoError(t, writer.Compress(half))
			all = append(all, writer.Data...)
		}
		return all
	}
	node.Query(t, "CREATE OR REPLACE TABLE encodings (a UInt32) ENGINE = MergeTree ORDER BY a")
	for name, c := range map[string]struct {
		coding, parameter string
		body              []byte
	}{
		"gzip":       {"gzip", "", pack(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
		"deflate":    {"deflate", "", pack(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })},
		"lz4":        {"lz4", "", pack(func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) })},
		"zstd":       {"zstd", "", pack(func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z })},
		"lz4 frames": {"", "decompress=1", frames(compress.LZ4)},
		"zstd frame": {"", "decompress=1", frames(compress.ZSTD)},
	} {
		t.Run(name, func(t *testing.T) {
			send := func(body []byte) answer {
				return do(t, call{addr: node.Address, query: values([]string{"query=INSERT INTO encodings FORMAT TSV", c.parameter}),
					header: map[string]string{"Content-Encoding": c.coding}, body: bytes.NewReader(body)})
			}
			node.Query(t, "TRUNCATE TABLE encodings")
			got := send(c.body)
			require.Equal(t, http.StatusOK, got.status, got.body)
			require.Contains(t, got.header.Get("X-ClickHouse-Summary"), `"written_rows":"100000"`)
			require.Equal(t, "100000", node.Query(t, "SELECT count() FROM encodings"))
			cut := send(c.body[:len(c.body)-3])
			require.Equal(t, http.StatusBadRequest, cut.status, "a body that ends early is no success: %s", cut.body)
		})
	}
	got := do(t, call{addr: node.Address, header: map[string]string{"Content-Encoding": "rot13"}, body: strings.NewReader("x")})
	require.Equal(t, http.StatusNotImplemented, got.status)
}

// A body that ends early is no success and leaves nothing behind, also when it is longer than what is read before the
// statement is known, and whichever way it ends early.
func TestCutInsert(t *testing.T) {
	node := instance(t)
	node.Query(t, "CREATE OR REPLACE TABLE cut (a UInt64) ENGINE = MergeTree ORDER BY a")
	const rows = 300_000
	var plain bytes.Buffer
	for i := range rows { // numbers that no compression makes short
		fmt.Fprintln(&plain, uint64(i+1)*0x9e3779b97f4a7c15)
	}
	encode := func(open func(io.Writer) io.WriteCloser) []byte {
		var buffer bytes.Buffer
		writer := open(&buffer)
		_, err := writer.Write(plain.Bytes())
		require.NoError(t, err)
		require.NoError(t, writer.Close())
		return buffer.Bytes()
	}
	framed := func() (all []byte) {
		writer := compress.NewWriter(compress.LevelZero, compress.LZ4)
		for piece := range slices.Chunk(plain.Bytes(), 1<<20) {
			require.NoError(t, writer.Compress(piece))
			all = append(all, writer.Data...)
		}
		return all
	}
	for name, c := range map[string]struct {
		coding, parameter string
		body              []byte
	}{
		"plain":   {"", "", plain.Bytes()},
		"gzip":    {"gzip", "", encode(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
		"deflate": {"deflate", "", encode(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })},
		"lz4":     {"lz4", "", encode(func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) })},
		"zstd":    {"zstd", "", encode(func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z })},
		"brotli":  {"br", "", encode(func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })},
		"frames":  {"", "decompress=1", framed()},
	} {
		query := values([]string{"query=INSERT INTO cut FORMAT TSV", c.parameter}).Encode()
		send := func(t *testing.T, body []byte, contentLength int) string {
			connection, err := net.Dial("tcp", node.Address)
			require.NoError(t, err)
			defer connection.Close()
			_, err = fmt.Fprintf(connection, "POST /?%s HTTP/1.1\r\nHost: x\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n", query, c.coding, contentLength)
			require.NoError(t, err)
			_, err = connection.Write(body)
			require.NoError(t, err)
			if len(body) < contentLength {
				require.NoError(t, connection.(*net.TCPConn).CloseWrite())
			}
			status, err := bufio.NewReader(connection).ReadString('\n')
			require.NoError(t, err)
			return status
		}
		t.Run(name, func(t *testing.T) {
			require.Greater(t, len(c.body), 2*(256<<10))
			node.Query(t, "TRUNCATE TABLE cut")
			for _, end := range []int{len(c.body) - 3, len(c.body) * 3 / 4, 300 << 10} {
				require.NotContains(t, send(t, c.body[:end], len(c.body)), "200", "the client hangs up after %d bytes", end)
				if c.coding != "" || c.parameter != "" {
					require.Contains(t, send(t, c.body[:end], end), "400", "the encoding ends after %d bytes", end)
				}
			}
			require.Equal(t, "0", node.Query(t, "SELECT count() FROM cut"))
			require.Contains(t, send(t, c.body, len(c.body)), "200")
			require.Equal(t, fmt.Sprint(rows), node.Query(t, "SELECT uniqExact(a) FROM cut"))
		})
	}
}

// A body of 600 MB goes in while the process stays small.
func TestLargeInsertIsStreamed(t *testing.T) {
	node := enginetest.StartClickHouse(t, "")
	node.Query(t, "CREATE TABLE large (a UInt64, b String) ENGINE = Null")
	const rows = 2_400_000 // of about 250 bytes
	padding := strings.Repeat("x", 240)
	reader, writer := io.Pipe()
	go func() {
		var chunk bytes.Buffer
		for i := range rows {
			fmt.Fprintf(&chunk, "%d\t%s\n", i, padding)
			if chunk.Len() > 1<<20 {
				if _, err := writer.Write(chunk.Bytes()); err != nil {
					return
				}
				chunk.Reset()
			}
		}
		_, _ = writer.Write(chunk.Bytes())
		writer.Close()
	}()
	got := do(t, call{addr: node.Address, query: values([]string{"query=INSERT INTO large FORMAT TSV", "max_insert_block_size=65536", "min_insert_block_size_rows=65536"}), body: reader})
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Contains(t, got.header.Get("X-ClickHouse-Summary"), fmt.Sprintf(`"written_rows":"%d"`, rows))
	require.Less(t, peakMemory(t, node.PID()), 450<<10, "peak memory in kB, of which the library itself is half")
}

func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	var kilobytes int
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(rest, &kilobytes)
	require.NoError(t, err)
	t.Logf("peak memory %d kB", kilobytes)
	return kilobytes
}
