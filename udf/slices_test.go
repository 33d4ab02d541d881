package udf

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/internal/slice"
)

// SQL and Go name slices alike, whatever the values are: what is stored under one name is asked for under the same.
func TestSlicesAreNamedAsInGo(t *testing.T) {
	engine := enginetest.StartClickHouse(t, "")
	functions, err := Functions()
	require.NoError(t, err)
	for _, f := range functions {
		engine.Query(t, f.Create)
	}
	countries, languages := []string{"", "IN", "DE", "XK"}, []string{"", "hi", "yue"}
	categories := []string{
		"", " ", "music", "=", "a=b", "country=IN", "%", "%%", "%2C", "%25", "%252C", "%2c", "%zz", ",", ",,", "|", "a,b|c%", "/", "..", "%2F",
		"+", "global", "Музыка", "موسيقى", "🎵", "👩‍👩‍👧‍👦", "e\u0301", "\u00e9", `"'\`, strings.Repeat("%", 64), strings.Repeat("|", 64),
	}
	rows := []string{}
	want := map[string][]string{slice.DefaultPairs: {}, "country+category": {}, "country+language": {}, "": {}}
	for i, category := range categories {
		country, language := countries[i%len(countries)], languages[i%len(languages)]
		rows = append(rows, fmt.Sprintf("(%s, %s, %s)", quoted(country), quoted(category), quoted(language)))
		for pairs, names := range want {
			want[pairs] = append(names, goNames(t, country, category, language, pairs)...)
		}
	}
	for pairs, names := range want {
		kept, err := slice.ParsePairs(pairs)
		require.NoError(t, err)
		list := []string{}
		for _, d := range kept.Dimensions() {
			list = append(list, strconv.Itoa(int(d)))
		}
		for _, columnType := range []string{"String", "LowCardinality(String)"} {
			answer := engine.Query(t, fmt.Sprintf(
				"SELECT arrayFlatten(groupArray(topk_slices(country, category, language, [%s]))) AS names "+
					"FROM values('country %[2]s, category %[2]s, language %[2]s', %[3]s) FORMAT JSONEachRow",
				strings.Join(list, ", "), columnType, strings.Join(rows, ", ")))
			var got struct {
				Names []string `json:"names"`
			}
			require.NoError(t, json.Unmarshal([]byte(answer), &got))
			require.Equal(t, names, got.Names, "%s of %s", pairs, columnType)
		}
	}
}

// goNames are the names of the base slices of a view as Go writes them.
func goNames(t *testing.T, country, category, language, pairs string) []string {
	t.Helper()
	filters := [][3][]string{{{country}}, {nil, {category}}, {nil, nil, {language}}}
	if strings.Contains(pairs, "country+category") {
		filters = append(filters, [3][]string{{country}, {category}})
	}
	if strings.Contains(pairs, "country+language") {
		filters = append(filters, [3][]string{{country}, nil, {language}})
	}
	names := make([]string, len(filters))
	for i, filter := range filters {
		s, err := slice.New(filter[0], filter[1], filter[2])
		require.NoError(t, err)
		names[i] = s.String()
	}
	return names
}

// quoted is a literal of ClickHouse's SQL.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
