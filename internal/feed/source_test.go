package feed_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/feed"
)

// readAll returns what a source yields: events as JSON values, and the rows it could not read.
func readAll(t *testing.T, input string, cfg feed.SourceConfig) (events []map[string]any, bad []string) {
	t.Helper()
	source, err := feed.NewSource(strings.NewReader(input), cfg)
	require.NoError(t, err)
	for {
		record, err := source.Next()
		var row *feed.RowError
		switch {
		case errors.Is(err, io.EOF):
			return events, bad
		case errors.As(err, &row):
			bad = append(bad, row.Error())
			continue
		}
		require.NoError(t, err)
		var event map[string]any
		require.NoError(t, json.Unmarshal(record.JSON, &event), "%s", record.JSON)
		events = append(events, event)
	}
}

func TestCSVRowsBecomeEvents(t *testing.T) {
	const header = "seq,ts_ms,item,country,category,language,user,weight,kind\n"
	for name, test := range map[string]struct {
		row  string
		want map[string]any
	}{
		"every column": {
			"7,807256804000,/a.html,CA,shuttle,en,v2,1,GET 200",
			map[string]any{"event_id": "f-7", "item_type": "page", "item_id": "/a.html", "event_time": 807256804000.0,
				"country": "CA", "category": "shuttle", "language": "en", "viewer": "v2"},
		},
		"empty columns are left out": {
			"0,1,x,,,,,,",
			map[string]any{"event_id": "f-0", "item_type": "page", "item_id": "x", "event_time": 1.0},
		},
		"commas and quotes in an id": {
			`1,1,"/cgi?a,""b"",c",,,,,1,`,
			map[string]any{"event_id": "f-1", "item_type": "page", "item_id": `/cgi?a,"b",c`, "event_time": 1.0},
		},
		"two quoted fields": {
			`1,1,"a,a",US,"c""c",,,1,`,
			map[string]any{"event_id": "f-1", "item_type": "page", "item_id": "a,a", "event_time": 1.0, "country": "US",
				"category": `c"c`},
		},
		"backslashes, slashes, control characters and other scripts": {
			"1,1,\\a/%2F\t🚀 שלום,,,,,1,",
			map[string]any{"event_id": "f-1", "item_type": "page", "item_id": "\\a/%2F\t🚀 שלום", "event_time": 1.0},
		},
		"a country by name": {
			"1,1,x,EIRE,,,,1,sale",
			map[string]any{"event_id": "f-1", "item_type": "page", "item_id": "x", "event_time": 1.0, "country": "IE"},
		},
		"a country that is none": {
			"1,1,x,European Community,,,,1,sale",
			map[string]any{"event_id": "f-1", "item_type": "page", "item_id": "x", "event_time": 1.0},
		},
		"a line that ends in CRLF": {
			"1,1,x,,,,,1,sale\r",
			map[string]any{"event_id": "f-1", "item_type": "page", "item_id": "x", "event_time": 1.0},
		},
		"an empty item is for the ingestor to judge": {
			"1,1,,,,,,1,sale",
			map[string]any{"event_id": "f-1", "item_type": "page", "item_id": "", "event_time": 1.0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := feed.SourceConfig{ItemType: "page", IDPrefix: "f"}
			for _, end := range []string{"", "\n"} {
				events, bad := readAll(t, header+test.row+end, cfg)
				require.Empty(t, bad)
				require.Equal(t, []map[string]any{test.want}, events)
			}
		})
	}
}

func TestBadRowsCostNothingElse(t *testing.T) {
	good := "2,5,good,,\n"
	for name, test := range map[string]struct{ row, reason string }{
		"too few fields":       {"1,1,x", "line 2: 3 fields where the header has 5"},
		"too many fields":      {"1,1,x,,,,", "line 2: 7 fields where the header has 5"},
		"a time in words":      {"1,today,x,,", "line 2: ts_ms is not a whole number of milliseconds"},
		"a time with a point":  {"1,1.5,x,,", "line 2: ts_ms is not a whole number of milliseconds"},
		"a time without bound": {"1,99999999999999999999,x,,", "line 2: ts_ms is not a whole number of milliseconds"},
		"no seq":               {",1,x,,", "line 2: seq is empty"},
		"a quote left open":    {`1,1,"x,,`, "line 2: a quote is never closed"},
		"a quote in the open":  {`1,1,x"y,,`, "line 2: a quote inside a field that is not quoted"},
		"text after a quote":   {`1,1,"x"y,,`, "line 2: text after a closing quote"},
		"not UTF-8":            {"1,1,\xff,,", "line 2: not valid UTF-8"},
		"a huge line":          {"1,1," + strings.Repeat("x", 3*feed.MaxLineBytes) + ",,", "line 2: longer than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			events, bad := readAll(t, "seq,ts_ms,item,country,user\n"+test.row+"\n"+good, feed.SourceConfig{IDPrefix: "f"})
			require.Equal(t, []string{test.reason}, bad)
			require.Len(t, events, 1)
			require.Equal(t, "good", events[0]["item_id"])
		})
	}
}

func TestUnusableFilesAreErrors(t *testing.T) {
	gzipped := &bytes.Buffer{}
	zip := gzip.NewWriter(gzipped)
	_, err := zip.Write([]byte(strings.Repeat("seq,ts_ms,item\n1,1,x\n", 1000)))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	for name, test := range map[string]struct{ input, reason string }{
		"empty":                 {"", "the input is empty"},
		"only white space":      {" \n", "the input is empty"},
		"columns missing":       {"seq,item_id\n1,x\n", "the header lacks the column ts_ms, item; it must have seq, ts_ms, item"},
		"a header with a quote": {"seq,\"ts_ms,item\n", "read the header: a quote is never closed"},
		"a huge header":         {strings.Repeat("x", 2*feed.MaxLineBytes), "read the header: line 1: longer than 65536 bytes"},
		"gzip in name only":     {"\x1f\x8bnot gzip at all", "gunzip: gzip: invalid header"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := feed.NewSource(strings.NewReader(test.input), feed.SourceConfig{})
			require.EqualError(t, err, test.reason)
		})
	}
	t.Run("gzip cut short", func(t *testing.T) {
		source, err := feed.NewSource(bytes.NewReader(gzipped.Bytes()[:gzipped.Len()-10]), feed.SourceConfig{})
		require.NoError(t, err)
		for err == nil || errors.As(err, new(*feed.RowError)) {
			_, err = source.Next()
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}

func TestNDJSONPassesOnWhatTheIngestorJudges(t *testing.T) {
	events, bad := readAll(t, strings.Join([]string{
		`{"event_id":"1","item_id":"a","event_time":"2026-01-02T03:04:05Z"}`,
		``,
		`{"event_id":"2","item_type":"tag","item_id":"b","event_time":1}`,
		`{"event_id":"3"`,
		`[1]`,
		`null`,
		"{\"event_id\":\"\xff\"}",
		`{}`,
		`{"event_id":"4","item_id":7,"event_time":1.5,"odd":[]}`,
	}, "\r\n"), feed.SourceConfig{ItemType: "page"})
	require.Equal(t, []map[string]any{
		{"event_id": "1", "item_type": "page", "item_id": "a", "event_time": "2026-01-02T03:04:05Z"},
		{"event_id": "2", "item_type": "tag", "item_id": "b", "event_time": 1.0},
		{},
		{"event_id": "4", "item_type": "page", "item_id": 7.0, "event_time": 1.5, "odd": []any{}},
	}, events)
	require.Len(t, bad, 4)
	for i, line := range []string{"line 4: not a JSON object", "line 5: not a JSON object", "line 6: not a JSON object",
		"line 7: not valid UTF-8"} {
		require.Contains(t, bad[i], line)
	}
}

func TestShiftMovesEveryTime(t *testing.T) {
	cfg := feed.SourceConfig{Shift: time.Hour, IDPrefix: "f"}
	events, bad := readAll(t, `{"event_id":"1","event_time":"2026-01-02T03:04:05.5Z"}`+"\n"+`{"event_id":"2","event_time":1000}`, cfg)
	require.Empty(t, bad)
	require.Equal(t, "2026-01-02T04:04:05.5Z", events[0]["event_time"])
	require.Equal(t, "1970-01-01T01:00:01Z", events[1]["event_time"])
	events, _ = readAll(t, "seq,ts_ms,item\n1,1000,x\n", cfg)
	require.InEpsilon(t, 3601000.0, events[0]["event_time"], 0)
}

func FuzzSource(f *testing.F) {
	f.Add([]byte("seq,ts_ms,item\n1,1,x\n"))
	f.Add([]byte("seq,ts_ms,item,country\n1,1,\"a,\"\"b\",DE\r\n"))
	f.Add([]byte(`{"event_id":"1","item_id":"a","event_time":1}`))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, input []byte) {
		source, err := feed.NewSource(bytes.NewReader(input), feed.SourceConfig{ItemType: "page", IDPrefix: "f", Shift: time.Second})
		if err != nil {
			return
		}
		for {
			record, err := source.Next()
			if err != nil && !errors.As(err, new(*feed.RowError)) {
				return
			}
			if err == nil && !json.Valid(record.JSON) {
				t.Fatalf("line %d became %q", record.Line, record.JSON)
			}
		}
	})
}
