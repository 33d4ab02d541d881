package api

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
)

// startLoaded starts an API that holds two lists and no database.
func startLoaded(t testing.TB) *running {
	address := enginetest.FreeAddress(t)
	api := startAPI(t, func(c *Config) {
		c.Postgres, c.StaleAfter = "postgres://topk@"+address+"/topk?sslmode=disable", 0
	})
	for _, l := range []struct{ itemType, window, slice string }{
		{"video", "1h", "global"}, {"hashtag", "1m", "global"}, {"video", "1h", "country=IN,category=a%2Cb🎵"}, {"video", "1h", "country="},
		{"video", "1h", "country=DE|FR"},
	} {
		loaded := sample(l.itemType, l.window, 1000, 9000)
		loaded.Slice = l.slice
		loaded.Version, loaded.PublishedAt = 7, time.Date(2026, 3, 1, 12, 0, 1, 0, time.UTC)
		s, err := newServed(loaded, freshness{})
		require.NoError(t, err)
		api.server.memory.put(s)
	}
	return api
}

// exchange sends raw bytes and reads so many answers.
func exchange(t testing.TB, address, raw string, methods ...string) []reply {
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = io.WriteString(conn, raw)
	require.NoError(t, err)
	return answers(t, bufio.NewReader(conn), methods...)
}

func answers(t testing.TB, reader *bufio.Reader, methods ...string) []reply {
	var got []reply
	for _, method := range methods {
		response, err := http.ReadResponse(reader, &http.Request{Method: method})
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		got = append(got, reply{status: response.StatusCode, header: response.Header, body: body})
	}
	return got
}

// However a request is written, the answer is the one that net/http and Echo give.
func TestFrontAnswersAsNetHTTPDoes(t *testing.T) {
	api := startLoaded(t)
	reference := httptest.NewServer(api.server.routes(api.server.metrics.route(topKRoute)))
	defer reference.Close()
	etag := api.get("/v1/topk").header.Get("Etag")
	const host = "Host: a.example:8081\r\n"
	for _, test := range []struct {
		raw   string
		plain bool
	}{
		{"GET /v1/topk HTTP/1.1\r\n" + host + "\r\n", true},
		{"GET /v1/topk?item_type=hashtag&window=1m&k=3 HTTP/1.1\r\n" + host + "\r\n", true},
		{"GET /top?k=%31 HTTP/1.1\r\nhost: [::1]:80\r\nConnection: Keep-Alive\r\n\r\n", true},
		{"GET /topk?country=IN&category=a%252Cb%F0%9F%8E%B5&k=2 HTTP/1.1\r\n" + host + "\r\n", true},
		{"GET /topk?country=&k=2 HTTP/1.1\r\n" + host + "\r\n", true},
		{"GET /topk?country=FR,DE,FR&k=2 HTTP/1.1\r\n" + host + "\r\n", true},
		{"GET /topk?country=US HTTP/1.1\r\n" + host + "\r\n", true}, // plain, and net/http's: there is no list
		{"GET /topk?country=in HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET /topk?country=IN&region=eu HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET /topk?category=🎵 HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET /topk? HTTP/1.1\r\n" + host + "User-Agent: x (y; z) \"q\"\r\nAccept: */*\r\n\r\n", true},
		{"GET /topk HTTP/1.1\r\n" + host + "Accept-Encoding: gzip, br\r\n\r\n", true},
		{"GET /topk HTTP/1.1\r\n" + host + "Accept-Encoding: br\r\nAccept-Encoding:gzip;q=0.1\t \r\n\r\n", true},
		{"GET /topk HTTP/1.1\r\n" + host + "Accept-Encoding: gzip;q=0\r\n\r\n", true},
		{"GET /topk HTTP/1.1\r\n" + host + "If-None-Match: " + etag + "\r\n\r\n", true},
		{"GET /topk HTTP/1.1\r\n" + host + "If-None-Match: \"x\"\r\nIF-NONE-MATCH: W/" + etag + "\r\n\r\n", true},
		{"GET /topk HTTP/1.1\r\n" + host + "If-None-Match: " + etag + "\r\nAccept-Encoding: gzip\r\n\r\n", true},
		{"GET /topk HTTP/1.1\r\n" + host + "If-None-Match:\r\n\r\n", true},
		{"GET /topk HTTP/1.1\r\n" + host + "Range: bytes=0-3\r\nCookie: a=b\r\n\r\n", true},
		{"GET /topk HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\nabc", false},
		{"GET /topk HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\n" + host + "Transfer-Encoding : chunked\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\n" + host + host + "\r\n", false},
		{"GET /topk HTTP/1.1\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\nHost: a b\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\nHost:\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\n" + host + "X: a\x00b\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\n" + host + "X: a\r\n folded\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\n" + host + "no colon\r\n\r\n", false},
		{"GET /topk HTTP/1.1\r\n" + host + ": x\r\n\r\n", false},
		{"GET /topk HTTP/1.1\n" + "Host: a\n\n", false},
		{"GET /topk HTTP/1.0\r\n" + host + "\r\n", false},
		{"GET /topk HTTP/2.0\r\n" + host + "\r\n", false},
		{"GET  /topk HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET /topk#k HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET http://a.example/topk HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET /t%6Fpk HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET /topk?k=0 HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET /topk?%zz HTTP/1.1\r\n" + host + "\r\n", false},
		{"get /topk HTTP/1.1\r\n" + host + "\r\n", false},
		{"HEAD /topk HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET /healthz HTTP/1.1\r\n" + host + "\r\n", false},
		{"GET /topk HTTP/1.1\r\n" + host + "Cookie: " + strings.Repeat("x", 8000) + "\r\n\r\n", true}, // does not fit
		{"GET /topk?item_type=absent HTTP/1.1\r\n" + host + "\r\n", true},                             // plain, and still net/http's: there is no list
	} {
		name := test.raw[:min(len(test.raw), 100)]
		_, plain := api.server.slicing.parsePlain([]byte(test.raw))
		require.Equal(t, test.plain, plain, name)
		method, _, _ := strings.Cut(test.raw, " ")
		got := exchange(t, strings.TrimPrefix(api.url, "http://"), test.raw, method)[0]
		want := exchange(t, strings.TrimPrefix(reference.URL, "http://"), test.raw, method)[0]
		require.Equal(t, want.status, got.status, name)
		got.header.Del("Date")
		want.header.Del("Date")
		require.Equal(t, want.header, got.header, name)
		require.Equal(t, string(want.body), string(got.body), name)
	}
}

// A connection may ask for many things at once, in any pieces, and change its mind.
func TestFrontPipelinesAndHandsOver(t *testing.T) {
	api := startLoaded(t)
	address := strings.TrimPrefix(api.url, "http://")
	get := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n" }
	lists := get("/top?k=1") + get("/top?k=2") + get("/top?k=2") + get("/top?k=3")

	check := func(got []reply, items ...int) {
		for i, n := range items {
			require.Equal(t, http.StatusOK, got[i].status)
			if n > 0 {
				require.Equal(t, n, bytes.Count(got[i].body, []byte(`"position"`)))
			}
		}
	}
	check(exchange(t, address, lists, "GET", "GET", "GET", "GET"), 1, 2, 2, 3)
	check(exchange(t, address, lists+get("/healthz")+lists, "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET"),
		1, 2, 2, 3, 0, 1, 2, 2, 3)

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	for i := range len(lists) {
		_, err = io.WriteString(conn, lists[i:i+1])
		require.NoError(t, err)
	}
	check(answers(t, bufio.NewReader(conn), "GET", "GET", "GET", "GET"), 1, 2, 2, 3)
	require.NoError(t, conn.Close())
}

// What the front answers is counted like everything else.
func TestFrontIsMeasured(t *testing.T) {
	api := startLoaded(t)
	exchange(t, strings.TrimPrefix(api.url, "http://"), "GET /top HTTP/1.1\r\nHost: a\r\n\r\n", "GET")
	require.Eventually(t, func() bool {
		return bytes.Contains(api.get("/metrics").body, []byte(`topk_api_requests_total{route="/v1/topk",status="200"} 1`))
	}, 10*time.Second, 5*time.Millisecond)
}

// Stopping closes connections that wait for a request at once, whoever serves them.
func TestStopClosesIdleConnections(t *testing.T) {
	api := startLoaded(t)
	address := strings.TrimPrefix(api.url, "http://")
	var idle []net.Conn
	for _, raw := range []string{
		"", "GET /top HTTP/1.1\r\nHost: a\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		require.NoError(t, err)
		idle = append(idle, conn)
		if raw != "" {
			_, err = io.WriteString(conn, raw)
			require.NoError(t, err)
			answers(t, bufio.NewReader(conn), "GET")
		}
	}
	start := time.Now()
	api.stop()
	require.Less(t, time.Since(start), shutdownTimeout)
	for _, conn := range idle {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
		_, err := conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.NoError(t, conn.Close())
	}
	_, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.Error(t, err)
}

// FuzzParsePlain: whatever the front takes, net/http reads as the same request: a GET without a body that keeps the
// connection, with this path, query and these headers.
func FuzzParsePlain(f *testing.F) {
	for _, seed := range []string{
		"GET /v1/topk?k=3 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /top?country=DE,FR&category=%2525 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /top HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
		"GET /topk HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nIf-None-Match: \"x\", W/\"y\"\r\n\r\n",
		"GET /topk HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", "POST /topk HTTP/1.1\r\n\r\n", "\r\n\r\n",
		"GET /topk HTTP/1.1\r\nHost:a\r\nA-1:\t b \r\n\r\n", "GET /topk HTTP/1.1\r\nHost: a\r\n\tx\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	slicing, err := DefaultConfig().slicing()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, head []byte) {
		end := bytes.Index(head, endOfHead)
		if end < 0 {
			return
		}
		head = head[:end+len(endOfHead)]
		p, ok := slicing.parsePlain(head)
		if !ok {
			return
		}
		reader := bufio.NewReader(bytes.NewReader(head))
		r, err := http.ReadRequest(reader)
		require.NoError(t, err)
		require.Zero(t, reader.Buffered())
		require.Equal(t, http.MethodGet, r.Method)
		require.Zero(t, r.ContentLength)
		require.False(t, r.Close)
		require.Contains(t, listPaths, r.URL.Path)
		q, mistakes := slicing.parseQuery(r.URL.RawQuery)
		require.Empty(t, mistakes)
		require.Equal(t, q, p.query)
		require.Equal(t, acceptsGzip(joined(r.Header["Accept-Encoding"])), p.gzip)
		require.Equal(t, r.Header["If-None-Match"] != nil, p.conditional)
		require.Equal(t, joined(r.Header["If-None-Match"]), p.ifNoneMatch)
		require.NotEmpty(t, r.Host)
	})
}

// BenchmarkPlain is the front's own work for a request: no system call, and no memory.
func BenchmarkPlain(b *testing.B) {
	api := startLoaded(b)
	c := &frontConn{front: &front{slicing: api.server.slicing, answer: api.server.plain}}
	c.filled = copy(c.buffer[:], "GET /v1/topk?item_type=video&window=1h&k=100 HTTP/1.1\r\nHost: 127.0.0.1:8081\r\n\r\n")
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		_, request := c.parse()
		if _, body, _, ok := c.front.answer(request, now); !ok || len(body) == 0 {
			b.Fatal(fmt.Sprint("no answer: ", ok))
		}
	}
}
