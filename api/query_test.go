package api

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/event"
	"topk/internal/list"
	"topk/internal/slice"
)

// FuzzParseQuery: whatever comes, a query without mistakes is one that url.ParseQuery reads the same way, with every
// parameter known, given once and within its bounds.
func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{
		"", "k=10", "item_type=video&window=1h&k=100", "k=0", "k=ten", "window=1d", "%zz", "k=%31%30", "a;b", "&&", "=", "k=1&k=2",
		"country=IN", "item_type=%00", "country=DE,FR&category=%252C", "region=eu", "country=&language=", "category=%F0%9F%8E%B5&language=ar", "k=\xff", "window=1h&wndow=1m", "k=+1", "%6b=5", "k=1=2",
	} {
		f.Add(seed)
	}
	slicing, err := DefaultConfig().slicing()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, raw string) {
		q, mistakes := slicing.parseQuery(raw)
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
			require.Contains(t, strings.Split(listParameters, ", "), name)
			require.Len(t, given, 1)
		}
		require.Positive(t, q.least)
		require.GreaterOrEqual(t, q.k, list.MinK)
		require.LessOrEqual(t, q.k, list.MaxK)
		require.Regexp(t, event.ItemTypePattern, q.key.ItemType)
		_, err = list.ParseWindow(q.key.Window)
		require.NoError(t, err)
		asked, err := slice.Parse(q.key.Slice)
		require.NoError(t, err)
		require.True(t, slicing.kept.Has(asked))
		require.Equal(t, values.Has("country") || values.Has("region"), asked.Country != nil)
		require.Equal(t, values.Has("category"), asked.Category != nil)
		require.Equal(t, values.Has("language"), asked.Language != nil)
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
