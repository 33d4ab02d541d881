package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/problem"
)

func badRequests(t *testing.T, api *running) {
	for _, test := range []struct {
		method, path string
		status       int
		detail       string
	}{
		{"GET", "/v1/topk?k=0", 400, "whole number from 1 to 1000"},
		{"GET", "/v1/topk?k=-1", 400, "whole number from 1 to 1000"},
		{"GET", "/v1/topk?k=1001", 400, "whole number from 1 to 1000"},
		{"GET", "/v1/topk?k=ten", 400, `k: "ten" is not a whole number`},
		{"GET", "/v1/topk?k=10.5", 400, "whole number"},
		{"GET", "/v1/topk?k=1e2", 400, "whole number"},
		{"GET", "/v1/topk?k=%2B5", 400, "whole number"},
		{"GET", "/v1/topk?k=+5", 400, "whole number"},
		{"GET", "/v1/topk?k=010", 400, "whole number"},
		{"GET", "/v1/topk?k=%D9%A1", 400, "whole number"},
		{"GET", "/v1/topk?k=99999999999999999999", 400, "whole number"},
		{"GET", "/v1/topk?k=", 400, "whole number"},
		{"GET", "/v1/topk?k", 400, "whole number"},
		{"GET", "/v1/topk?k=1&k=1", 400, "k: is given more than once"},
		{"GET", "/v1/topk?window=2h", 400, `window: "2h" is not one of 1m, 5m, 1h, 24h, 7d, 30d, all`},
		{"GET", "/v1/topk?window=", 400, `window: "" is not one of`},
		{"GET", "/v1/topk?window=1H", 400, "is not one of"},
		{"GET", "/v1/topk?require=", 400, `require: "" is not exact or certified`},
		{"GET", "/v1/topk?require=Exact", 400, "is not exact or certified"},
		{"GET", "/v1/topk?require=exact&require=certified", 400, "require: is given more than once"},
		{"GET", "/v1/topk?window=5m&require=exact", 412, "no list of window 5m has been published for video yet"},
		{"GET", "/v1/topk?window=1h&window=1m", 400, "window: is given more than once"},
		{"GET", "/v1/topk?item_type=", 400, "is not an item type"},
		{"GET", "/v1/topk?item_type=Video", 400, "is not an item type"},
		{"GET", "/v1/topk?item_type=a%00b", 400, "is not an item type"},
		{"GET", "/v1/topk?item_type=a%ff", 400, "is not an item type"},
		{"GET", "/v1/topk?item_type=" + strings.Repeat("a", 4000), 400, "is not an item type"},
		{"GET", "/v1/topk?item_type=sound", 404, `unknown item_type "sound"; known: hashtag, video`},
		{"GET", "/v1/topk?country=in", 400, `country: "in" must be an ISO 3166 alpha-2 code in capital letters`},
		{"GET", "/v1/topk?country=EL", 400, `country: "EL" must be`},
		{"GET", "/v1/topk?country=DE,,FR", 400, "country: a value between commas is empty"},
		{"GET", "/v1/topk?country=DE%7CFR", 400, "country: values are separated by commas"},
		{"GET", "/v1/topk?country=DE&country=FR", 400, "country: is given more than once"},
		{"GET", "/v1/topk?country=" + strings.Repeat("DE,", 3333) + "XX", 400, `country: "XX" must be`},
		{"GET", "/v1/topk?category=" + strings.Repeat("a", 10_000), 400, "is longer than 64 bytes"},
		{"GET", "/v1/topk?category=" + strings.Repeat("%F0%9F%8E%B5", 17), 400, "is longer than 64 bytes"},
		{"GET", "/v1/topk?category=a%00", 400, "contains a control character"},
		{"GET", "/v1/topk?category=%ff", 400, "is not valid UTF-8"},
		{"GET", "/v1/topk?category=%zz", 400, "malformed"},
		{"GET", "/v1/topk?language=en-US", 400, `language: "en-US" must be the primary BCP 47 subtag`},
		{"GET", "/v1/topk?region=eu&country=DE", 400, "region: cannot be given together with country"},
		{"GET", "/v1/topk?region=EU", 400, `region: "EU" is not known; known are eu`},
		{"GET", "/v1/topk?category=a&language=hi", 400, "category and language together are not counted; counted are country, category, language, country+category, country+language"},
		{"GET", "/v1/topk?category=a,b,c,d&region=eu", 400, "the union is made of 108 slices, and at most 100 are merged"},
		{"GET", "/v1/topk?country=in&language=EN&category=a&k=0", 400, "(and 3 more, see errors)"},
		{"GET", "/v1/topk?slice=global", 400, "slice: the parameter is not known"},
		{"GET", "/v1/topk?country=IN&require=exact", 412, "no list of window 1h and slice country=IN has been published for video yet"},
		{"GET", "/v1/topk?min_count=0", 400, `min_count: "0" is not a whole number of 1 or more`},
		{"GET", "/v1/topk?min_count=-3", 400, "whole number of 1 or more"},
		{"GET", "/v1/topk?min_count=+3", 400, "whole number of 1 or more"},
		{"GET", "/v1/topk?min_count=%2B3", 400, "whole number of 1 or more"},
		{"GET", "/v1/topk?min_count=03", 400, "whole number of 1 or more"},
		{"GET", "/v1/topk?min_count=3.0", 400, "whole number of 1 or more"},
		{"GET", "/v1/topk?min_count=1_000", 400, "whole number of 1 or more"},
		{"GET", "/v1/topk?min_count=", 400, "whole number of 1 or more"},
		{"GET", "/v1/topk?min_count=18446744073709551616", 400, "whole number of 1 or more"},
		{"GET", "/v1/topk?min_count=2&min_count=2", 400, "min_count: is given more than once"},
		{"GET", "/v1/topk?min_count=0&k=0&country=in", 400, "(and 2 more, see errors)"},
		{"GET", "/v1/topk?windw=1h", 400, "windw: the parameter is not known; known are item_type, window, k, min_count, require, country, category, language, region"},
		{"GET", "/v1/topk?%zz", 400, "malformed"},
		{"GET", "/v1/topk?k=%zz", 400, "malformed"},
		{"GET", "/v1/topk?k=%4", 400, "malformed"},
		{"GET", "/v1/topk?k=5;window=1h", 400, "malformed"},
		{"GET", "/v1/topk?=", 400, "the parameter is not known"},
		{"GET", "/v1/topk?k=0&window=x", 400, "(and 1 more, see errors)"},
		{"HEAD", "/v1/topk?k=0", 400, ""},
		{"GET", "/", 404, "nothing at this path"},
		{"GET", "/v1/topk/", 404, "nothing at this path"},
		{"GET", "/v1/topk%2F", 404, "nothing at this path"},
		{"GET", "/v2/topk", 404, "nothing at this path"},
		{"POST", "/v1/events", 404, "nothing at this path"},
		{"POST", "/v1/topk", 405, "not one of: OPTIONS, GET, HEAD"},
		{"DELETE", "/top", 405, "not one of"},
		{"PUT", "/healthz", 405, "not one of"},
	} {
		t.Run(test.method+" "+test.path[:min(60, len(test.path))], func(t *testing.T) {
			refused(t, api, test.method, test.path, test.status, test.detail)
		})
	}
}

// refused checks that the answer to a request is a problem.
func refused(t *testing.T, api *running, method, path string, status int, detail string) {
	t.Helper()
	got := api.do(method, path, nil)
	require.Equal(t, status, got.status, string(got.body))
	require.Equal(t, problem.ContentType, got.header.Get("Content-Type"))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	if status == http.StatusMethodNotAllowed {
		require.Contains(t, got.header.Get("Allow"), http.MethodGet)
	}
	if method == http.MethodHead {
		require.Empty(t, got.body)
		return
	}
	var p problem.Problem
	require.NoError(t, json.Unmarshal(got.body, &p))
	require.Equal(t, status, p.Status)
	require.Equal(t, http.StatusText(status), p.Title)
	require.Contains(t, p.Detail, detail)
	require.Less(t, len(got.body), 4096)
}
