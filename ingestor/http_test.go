package ingestor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err := w.Write([]byte(s))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.String()
}

// zstandard compresses as a stream, whose frames do not say their size, or at once, whose do.
func zstandard(t testing.TB, s string, stream bool) string {
	t.Helper()
	var buf bytes.Buffer
	w, err := zstd.NewWriter(&buf)
	require.NoError(t, err)
	if !stream {
		return string(w.EncodeAll([]byte(s), nil))
	}
	_, err = w.Write([]byte(s))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.String()
}

func encoded(with string) http.Header { return http.Header{"Content-Encoding": {with}} }

func TestBodiesInEveryForm(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	n := 0
	for _, path := range []string{"/v1/events", "/views"} {
		for media, body := range map[string]string{
			"application/json":                `{"events":[{"event_id":"%[1]d","item_id":"a"},{"event_id":"%[1]d"}]}`,
			"application/json; charset=utf-8": `[{"event_id":"%[1]d","item_id":"a"},{"event_id":"%[1]d"}]`,
			"application/x-ndjson":            "{\"event_id\":\"%[1]d\",\"item_id\":\"a\"}\n{\"event_id\":\"%[1]d\"}",
			"":                                `{"events":[{"event_id":"%[1]d","item_id":"a"},{"event_id":"%[1]d"}]}`,
		} {
			for _, encoding := range []string{"", "identity", "gzip", "zstd", "zstd stream"} {
				if path == "/views" && encoding != "gzip" {
					continue // an alias: one form of each type shows it
				}
				n++
				text := fmt.Sprintf(body, n)
				header := encoded(strings.TrimSuffix(encoding, " stream"))
				switch encoding {
				case "":
					header = nil
				case "gzip":
					text = gzipped(t, text)
				case "zstd", "zstd stream":
					text = zstandard(t, text, encoding != "zstd")
				}
				status, answer := r.do(http.MethodPost, path, media, text, header)
				require.Equal(t, http.StatusAccepted, status, "%s %s %s: %s", path, media, encoding, answer)
				require.JSONEq(t, `{"accepted":1,"rejected":[{"index":1,"field":"item_id","reason":"item_id is required"}]}`, answer)
			}
		}
	}
	l := openLog(t, kafka.ListenAddrs())
	l.until("every form", func() bool { return l.total()["a"] == uint64(n) && len(l.ids()) == n })
}

func TestRequestsRefusedAsAWhole(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	big := `{"events":[{"event_id":"e","item_id":"a","x":"` + strings.Repeat("x", MaxBodyBytes) + `"}]}`
	noise := make([]byte, MaxCompressedBytes+1)
	for i := range noise { // does not compress
		noise[i] = byte(i*2654435761>>13) | 1
	}
	const media = "application/json"
	for name, test := range map[string]struct {
		path, media, body string
		header            http.Header
		status            int
		detail            string
	}{
		"not JSON":           {"/v1/events", media, "hello", nil, 400, "events"},
		"cut short":          {"/v1/events", media, `{"events":[` + goodEvent, nil, 400, "not JSON"},
		"no events":          {"/v1/events", media, `{}`, nil, 400, `{"events":[...]}`},
		"form":               {"/v1/events", "application/x-www-form-urlencoded", "a=b", nil, 415, "application/json"},
		"bad media type":     {"/v1/events", ";;", "a=b", nil, 415, "application/json"},
		"brotli":             {"/v1/events", media, "x", encoded("br"), 415, "gzip"},
		"two encodings":      {"/v1/events", media, "x", encoded("gzip, zstd"), 415, "gzip"},
		"not gzip":           {"/v1/events", media, "{}", encoded("gzip"), 400, "decompress"},
		"gzip cut short":     {"/v1/events", media, gzipped(t, goodEvent)[:30], encoded("gzip"), 400, "decompress"},
		"not zstd":           {"/v1/events", media, "{}", encoded("zstd"), 400, "decompress"},
		"zstd cut short":     {"/v1/events", media, zstandard(t, goodEvent, true)[:30], encoded("zstd"), 400, "decompress"},
		"too large":          {"/v1/events", media, big, nil, 413, "larger"},
		"gzip bomb":          {"/v1/events", media, gzipped(t, big), encoded("gzip"), 413, "larger"},
		"zstd bomb":          {"/v1/events", media, zstandard(t, big, true), encoded("zstd"), 413, "larger"},
		"zstd bomb, sized":   {"/v1/events", media, zstandard(t, big, false), encoded("zstd"), 413, "larger"},
		"compressed noise":   {"/v1/events", media, string(noise), encoded("zstd"), 413, "larger"},
		"too many events":    {"/v1/events", media, "[" + strings.Repeat("{},", MaxEvents) + "{}]", nil, 413, "too many"},
		"watermark on wall":  {"/v1/watermark", media, `{"watermark":"2026-01-01T00:00:00Z"}`, nil, 409, "--clock event"},
		"no such page":       {"/v2/events", media, "", nil, 404, ""},
		"infinite gzip":      {"/v1/events", media, gzipped(t, strings.Repeat("\x00", 64<<20)), encoded("gzip"), 413, "larger"},
		"unreadable as line": {"/v1/events", "application/json", "{\"event_id\":\"e\",\"item_id\":\"a\"}\n{}", nil, 400, "events"},
	} {
		status, answer := r.do(http.MethodPost, test.path, test.media, test.body, test.header)
		require.Equal(t, test.status, status, "%s: %s", name, answer)
		var problem struct {
			Title, Detail string
			Status        int
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &problem), name)
		require.Equal(t, test.status, problem.Status, name)
		require.Contains(t, problem.Detail, test.detail, name)
	}
	status, answer := r.get("/v1/events")
	require.Equal(t, http.StatusMethodNotAllowed, status, answer)
	status, answer = r.post(`{"events":[]}`)
	require.Equal(t, http.StatusAccepted, status)
	require.JSONEq(t, `{"accepted":0,"rejected":[]}`, answer)
	require.Zero(t, r.in.bodies.inFlight.Load(), "the memory of every body is free again")
	status, answer = r.get("/healthz")
	require.Equal(t, http.StatusOK, status, answer)
	_, metrics := r.get("/metrics")
	require.Contains(t, metrics, `topk_ingest_refused_requests_total{status="415"} 4`)
	require.Contains(t, metrics, "topk_ingest_watermark_seconds")
}

func TestBodiesShareABudget(t *testing.T) {
	s, err := newBodies()
	require.NoError(t, err)
	var held []*body
	for err == nil {
		b := s.newBody()
		err = b.reserve(MaxBodyBytes)
		held = append(held, b)
	}
	require.ErrorIs(t, err, errBusy)
	require.Len(t, held, maxInFlightBytes/MaxBodyBytes+1)
	for _, b := range held {
		b.release()
	}
	require.Zero(t, s.inFlight.Load())
}

// TestEveryBadEventThroughTheDoor sends all bad events in one request, a good one beside each.
func TestEveryBadEventThroughTheDoor(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	var lines, fields []string
	for _, bad := range badEvents {
		lines = append(lines, fmt.Sprintf(`{"event_id":"g%d","item_id":"good"}`, len(fields)), bad.event)
		fields = append(fields, bad.field)
	}
	status, answer := r.do(http.MethodPost, "/v1/events", "application/x-ndjson", strings.Join(lines, "\n"), nil)
	require.Equal(t, http.StatusAccepted, status, answer)
	var verdict struct {
		Accepted int
		Rejected []struct {
			Index         int
			Field, Reason string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &verdict))
	require.Equal(t, len(fields), verdict.Accepted)
	require.Len(t, verdict.Rejected, len(fields))
	for i, rejected := range verdict.Rejected {
		require.Equal(t, 2*i+1, rejected.Index)
		require.Equal(t, fields[i], rejected.Field, rejected.Reason)
	}
	l := openLog(t, kafka.ListenAddrs())
	l.until("the good ones", func() bool { return l.total()["good"] == uint64(len(fields)) })
	require.Len(t, l.total(), 1)
}
