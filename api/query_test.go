package api

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/event"
	"topk/internal/list"
)

// FuzzParseQuery: whatever comes, a query without mistakes is one that url.ParseQuery reads the same way, with every
// parameter known, given once and within its bounds.
func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{
		"", "k=10", "item_type=video&window=1h&k=100", "k=0", "k=ten", "window=1d", "%zz", "k=%31%30", "a;b", "&&", "=", "k=1&k=2",
		"country=IN", "item_type=%00", "k=\xff", "window=1h&wndow=1m", "k=+1", "%6b=5", "k=1=2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, mistakes := parseQuery(raw)
		require.LessOrEqual(t, len(mistakes), maxMistakes)
		for _, m := range mistakes {
			require.NotEmpty(t, m.Detail)
		}
		if len(mistakes) > 0 {
			return
		}
		values, err := url.ParseQuery(raw)
		require.NoError(t, err)
		for name, given := range values {
			require.Contains(t, []string{parameterItemType, parameterWindow, parameterK}, name)
			require.Len(t, given, 1)
		}
		require.GreaterOrEqual(t, q.k, list.MinK)
		require.LessOrEqual(t, q.k, list.MaxK)
		require.Regexp(t, event.ItemTypePattern, q.key.ItemType)
		_, err = list.ParseWindow(q.key.Window)
		require.NoError(t, err)
		require.Equal(t, list.GlobalSlice, q.key.Slice)
	})
}

// FuzzConditional: no header of a client's makes matching loop or go out of bounds, and "*" or the tag itself match.
func FuzzConditional(f *testing.F) {
	for _, seed := range []string{``, `*`, `W/"x"`, `"a","b"`, `"`, `,,,`, "gzip;q=0", "*;q=0.1,gzip", ";;=,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		const etag = `"1.a.100"`
		matches(header, etag)
		acceptsGzip(header)
		require.True(t, matches(`"x", `+etag+header, etag))
	})
}
