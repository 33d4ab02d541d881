package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/slice"
)

// Whatever a slice is called, asking for it gives its list: over the front, and over net/http.
func TestServesSlices(t *testing.T) {
	api := startLoaded(t)
	for path, name := range map[string]string{
		"country=IN": "country=IN", "country=": "country=", "country": "country=", "country=IT,DE,FR,DE": "country=DE|FR|IT",
		"country=IN&category=music":         "country=IN,category=music",
		"category=music&country=IN":         "country=IN,category=music",
		"language=hi&country=IN":            "country=IN,language=hi",
		"region=eu":                         "country=" + strings.Join(api.server.slicing.groups["eu"], "|"),
		"region=eu&category=a":              "country=" + strings.Join(api.server.slicing.groups["eu"], "|") + ",category=a",
		"category=%F0%9F%8E%B5":             "category=🎵",
		"category=%D9%85%D9%88%D8%B3%D9%82": "category=موسق",
		"category=a/b":                      "category=a/b",
		"category=a%2Fb":                    "category=a/b",
		"category=%252F":                    "category=%252F",
		"category=..":                       "category=..",
		"category=../..":                    "category=../..",
		"category=a+b":                      "category=a b",
		"category=a%2Cb":                    "category=a|b", // a comma in the URL is a comma, however it is written
		"category=a%252Cb":                  "category=a%2Cb",
		"category=a%257Cb":                  "category=a%7Cb",
		"category=100%25":                   "category=100%25",
		"category=100%2525":                 "category=100%25",
		"category=global":                   "category=global",
	} {
		missing := api.list("/v1/topk?window=1m&" + path)
		require.Equal(t, name, missing.Slice, path)
		require.Empty(t, missing.Items)
		require.Equal(t, "no list of window 1m and slice "+name+" has been published for video yet", missing.Reason)

		loaded := sample("video", "1h", 3, 30)
		loaded.Slice = name
		s, err := newServed(loaded, freshness{})
		require.NoError(t, err)
		api.server.memory.put(s)
		found := api.list("/v1/topk?" + path)
		require.Equal(t, name, found.Slice, path)
		require.Len(t, found.Items, 3)
	}
	require.Equal(t, list.GlobalSlice, api.list("/v1/topk").Slice)
}

// Which pairs and groups there are is the configuration's.
func TestSlicesFollowTheConfiguration(t *testing.T) {
	config := DefaultConfig()
	config.Pairs, config.Groups = "country+language", []string{"eu=DE,FR", "nordics=DK,FI,IS,NO,SE"}
	slicing, err := config.slicing()
	require.NoError(t, err)
	q, mistakes := slicing.parseQuery("region=eu&language=de")
	require.Empty(t, mistakes)
	require.Equal(t, "country=DE|FR,language=de", q.key.Slice)
	_, mistakes = slicing.parseQuery("country=DE&category=a")
	require.Len(t, mistakes, 1)
	require.Equal(t, "country and category together are not counted; counted are country, category, language, country+language", mistakes[0].Detail)
	_, mistakes = slicing.parseQuery("region=dach")
	require.Len(t, mistakes, 1)
	require.Equal(t, `"dach" is not known; known are eu, nordics`, mistakes[0].Detail)
	require.Equal(t, slice.Groups{"eu": {"DE", "FR"}, "nordics": {"DK", "FI", "IS", "NO", "SE"}}, slicing.groups)
}

// Asking for slices that nobody has ever seen leaves nothing behind.
func TestUnknownSlicesCostNoMemory(t *testing.T) {
	api := startLoaded(t)
	before := len(api.server.memory.load().lists)
	for i := range 200 {
		got := api.get(fmt.Sprintf("/v1/topk?category=made-up-%d", i))
		require.Equal(t, http.StatusOK, got.status)
		var l list.List
		require.NoError(t, json.Unmarshal(got.body, &l))
		require.Empty(t, l.Items)
		require.NotEmpty(t, l.Reason)
	}
	require.Len(t, api.server.memory.load().lists, before)
}
