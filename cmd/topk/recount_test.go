package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is wrong with a range is said before ClickHouse is asked anything: nothing listens at the address here.
func TestRecountSaysWhichTimesItTakes(t *testing.T) {
	const nobody = "http://127.0.0.1:1/topk"
	for name, test := range map[string]struct{ from, to, err string }{
		"not a time": {
			"noon", "2026-11-30",
			`invalid argument "noon" for "--from" flag: "noon" is neither a time such as 2026-11-29T15:00:00Z nor a date such as 2026-11-29`,
		},
		"a date is its midnight": {"2026-11-29", "2026-11-29", "to: 2026-11-29T00:00:00Z is not after 2026-11-29T00:00:00Z"},
		"not an hour":            {"2026-11-29", "2026-11-29T15:30:00Z", "to: 2026-11-29T15:30:00Z is not the start of an hour (UTC)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := topk(t, "", "recount", "--clickhouse", nobody, "--from", test.from, "--to", test.to)
			require.EqualError(t, err, test.err)
		})
	}
}
