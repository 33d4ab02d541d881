package zone

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseInstant(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-29T15:00:00Z":         "2026-11-29T15:00:00Z",
		"2026-11-29T15:00:00.25+05:30": "2026-11-29T09:30:00.25Z",
		"2026-11-29":                   "2026-11-29T00:00:00Z",
		"1995-08-01":                   "1995-08-01T00:00:00Z",
	} {
		at, err := ParseInstant(text)
		require.NoError(t, err, text)
		require.Equal(t, want, at.UTC().Format(time.RFC3339Nano), text)
	}
	for _, text := range []string{"", "noon", "15:00", "2026-11-29T15:00", "2026-11-29 15:00:00", "2026-02-30", "0001-01-01"} {
		_, err := ParseInstant(text)
		require.EqualError(t, err, `"`+text+`" is neither a time such as 2026-11-29T15:00:00Z nor a date such as 2026-11-29`)
	}
}
