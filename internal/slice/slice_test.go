package slice

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// odd are values of a category that a name must carry.
var odd = []string{
	"", " ", "=", "a=b", "country=IN", "%", "%2C", "%25", "%252C", "%2c", "%zz", ",", "|", "a,b|c%", "/", "..", "a/../b", "%2F", "+",
	"global", "music", "Музыка", "موسيقى", "🎵", "👩‍👩‍👧‍👦", "e\u0301", "\u00e9", strings.Repeat("%", 64), `"\`,
}

func TestNames(t *testing.T) {
	for _, test := range []struct {
		country, category, language []string
		name                        string
	}{
		{nil, nil, nil, "global"},
		{[]string{}, nil, nil, "global"},
		{[]string{"IN"}, nil, nil, "country=IN"},
		{[]string{"IN"}, []string{"music"}, nil, "country=IN,category=music"},
		{[]string{"IT", "DE", "FR", "DE"}, nil, nil, "country=DE|FR|IT"},
		{nil, nil, []string{"hi"}, "language=hi"},
		{[]string{"IN"}, []string{"music"}, []string{"hi"}, "country=IN,category=music,language=hi"},
		{[]string{""}, nil, nil, "country="},
		{[]string{"DE", ""}, []string{""}, nil, "country=|DE,category="},
		{nil, []string{"a,b|c%"}, nil, "category=a%2Cb%7Cc%25"},
		{nil, []string{"country=IN"}, nil, "category=country=IN"},
	} {
		s, err := New(test.country, test.category, test.language)
		require.NoError(t, err)
		require.Equal(t, test.name, s.String())
		again, err := Parse(test.name)
		require.NoError(t, err)
		require.Equal(t, s, again)
	}
}

func TestOddValuesKeepTheirNames(t *testing.T) {
	seen := map[string]string{}
	for _, value := range odd {
		s, err := New(nil, []string{value}, nil)
		require.NoError(t, err)
		name := s.String()
		require.NotContains(t, seen, name, "of %q", value)
		seen[name] = value
		require.Equal(t, []string{name}, s.Parts())
		again, err := Parse(name)
		require.NoError(t, err)
		require.Equal(t, s, again)
	}
	s, err := New([]string{"IN", ""}, odd, nil)
	require.NoError(t, err)
	again, err := Parse(s.String())
	require.NoError(t, err)
	require.Equal(t, s, again)
}

func TestParseRefusesOtherSpellings(t *testing.T) {
	for name, reason := range map[string]string{
		"":                          `"" is not country=, category= or language=`,
		"Global":                    "is not country=",
		"country":                   "is not country=",
		"country=in":                `country: "in" must be an ISO 3166`,
		"country=EL":                `country: "EL" must be an ISO 3166`,
		"country=FR|DE":             `is written "country=DE|FR"`,
		"country=DE|DE":             `is written "country=DE"`,
		"country=DE,country=FR":     "country is given more than once",
		"category=a,country=DE":     `is written "country=DE,category=a"`,
		"country=DE,":               `"" is not country=`,
		" country=DE":               "is not country=",
		"country=DE ":               "must be an ISO 3166",
		"viewer=x":                  `"viewer=x" is not country=`,
		"category=%":                `is written "category=%25"`,
		"category=%2c":              `is written "category=%252c"`,
		"category=%zz":              `is written "category=%25zz"`,
		"category=a\x00":            "contains a control character",
		"category=\xff":             "is not valid UTF-8",
		"language=en-US":            "must be the primary BCP 47 subtag",
		"language=EN":               "must be the primary BCP 47 subtag",
		"category=" + long(65, "a"): "is longer than 64 bytes",
		unionOf(MaxParts + 1):       "the union is made of 101 slices, and at most 100 are merged",
		"country=DE|FR,language=" + strings.Join(languages(51), "|"): "made of 102 slices",
	} {
		_, err := Parse(name)
		require.ErrorContains(t, err, reason, name)
		require.Less(t, len(err.Error()), 400)
	}
	_, err := Parse(unionOf(MaxParts))
	require.NoError(t, err)
}

func long(n int, text string) string { return strings.Repeat(text, n) }

// languages are n subtags, sorted.
func languages(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("a%c%c", 'a'+i/26, 'a'+i%26)
	}
	return all
}

func unionOf(n int) string { return "language=" + strings.Join(languages(n), "|") }

func TestEveryMistakeIsReported(t *testing.T) {
	_, err := New([]string{"in", "XX", "DE"}, []string{"a\n"}, []string{"x"})
	var m Mistake
	require.ErrorAs(t, err, &m)
	require.Equal(t, "country", m.Parameter)
	for _, part := range []string{`country: "XX"`, `country: "in"`, `category: "a\n" contains a control character`, `language: "x"`} {
		require.ErrorContains(t, err, part)
	}
	_, err = New(strings.Split(strings.Repeat("x,y,z,", 2000)+"v", ","), nil, nil)
	require.Error(t, err)
	require.Less(t, len(err.Error()), 2000)
}

// The parts of a union are base slices, each once, and each is its own part.
func TestParts(t *testing.T) {
	s, err := New([]string{"FR", "DE"}, []string{"a,b", ""}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{
		"country=DE,category=", "country=DE,category=a%2Cb", "country=FR,category=", "country=FR,category=a%2Cb",
	}, s.Parts())
	require.Equal(t, 4, s.PartCount())
	for _, name := range s.Parts() {
		part, err := Parse(name)
		require.NoError(t, err)
		require.Equal(t, []string{name}, part.Parts())
		require.Equal(t, s.Dimensions(), part.Dimensions())
	}
	require.Equal(t, []string{"global"}, Slice{}.Parts())
	require.Equal(t, 1, Slice{}.PartCount())
	all, err := Parse("country=DE,category=x,language=de")
	require.NoError(t, err)
	require.Equal(t, []string{"country=DE,category=x,language=de"}, all.Parts())
}

func TestDimensions(t *testing.T) {
	for d, text := range map[Dimensions]string{
		0: "global", Country: "country", Language: "language", CountryCategory: "country+category", CountryLanguage: "country+language",
		Category | Language: "category+language", Country | Category | Language: "country+category+language",
	} {
		require.Equal(t, text, d.String())
		again, err := ParseDimensions(text)
		require.NoError(t, err)
		require.Equal(t, d, again)
	}
	for _, text := range []string{"", "Country", "category+country", "country+country", "country+", "global+country", "viewer"} {
		_, err := ParseDimensions(text)
		require.Error(t, err, text)
	}
}

func TestKept(t *testing.T) {
	kept, err := ParsePairs("country+language")
	require.NoError(t, err)
	for name, has := range map[string]bool{
		"global": true, "country=DE|FR": true, "category=": true, "language=hi": true, "country=IN,language=hi": true,
		"country=IN,category=a": false, "category=a,language=hi": false, "country=IN,category=a,language=hi": false,
	} {
		s, err := Parse(name)
		require.NoError(t, err)
		require.Equal(t, has, kept.Has(s), name)
	}
	require.Equal(t, "country, category, language, country+language", kept.String())
	require.Equal(t, []string{"country+language"}, kept.Pairs())

	kept, err = ParsePairs("")
	require.NoError(t, err)
	require.Equal(t, Kept{}, kept)
	require.Equal(t, "country, category, language", kept.String())
	require.Empty(t, kept.Pairs())
	require.NotNil(t, kept.Pairs())

	kept, err = ParsePairs(DefaultPairs)
	require.NoError(t, err)
	again, err := ParsePairs("country+language, country+category")
	require.NoError(t, err)
	require.Equal(t, kept, again)
	require.Equal(t, DefaultPairs, strings.Join(kept.Pairs(), ","))

	_, err = ParsePairs("country+category,,category+language,country,country+category")
	for _, part := range []string{`pair "" is not country+category or country+language`, `"category+language" is not`, `"country" is not`,
		`"country+category" is given more than once`} {
		require.ErrorContains(t, err, part)
	}
}

func TestGroups(t *testing.T) {
	groups, err := ParseGroups(nil)
	require.NoError(t, err)
	require.Len(t, groups["eu"], 27)
	require.Contains(t, groups["eu"], "GR")
	require.NotContains(t, groups["eu"], "GB")
	s, err := New(groups["eu"], nil, nil)
	require.NoError(t, err)
	require.Equal(t, groups["eu"], s.Country, "sorted and distinct")

	groups, err = ParseGroups([]string{"nordics=SE,DK,FI, IS,NO", "eu=DE,FR"})
	require.NoError(t, err)
	require.Equal(t, Groups{"nordics": {"DK", "FI", "IS", "NO", "SE"}, "eu": {"DE", "FR"}}, groups)
	require.Equal(t, "eu, nordics", groups.String())

	_, err = ParseGroups([]string{"Nordics=DK", "a", "b=", "c=DE,EL,DE", "d=DE", "d=FR", "=DE"})
	for _, part := range []string{
		`group "Nordics=DK": the name must match`, `group "a": must be a name and its countries`, `group "b=": a country is empty`,
		`group "c=DE,EL,DE": country: "EL" must be`, `group "c=DE,EL,DE": DE is given more than once`,
		`group "d=FR": the name is given more than once`, `group "=DE": the name must match`,
	} {
		require.ErrorContains(t, err, part)
	}
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf("g%02d=DE", i)
	}
	groups, err = ParseGroups(many)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(groups.String(), "g18, ..."), groups.String())
}

// FuzzParse: a name is the name of what it is parsed to, and of its parts.
func FuzzParse(f *testing.F) {
	for _, value := range odd {
		f.Add("category=" + value)
		f.Add("country=DE|FR,category=" + escape.Replace(value))
	}
	f.Add("global")
	f.Fuzz(func(t *testing.T, name string) {
		s, err := Parse(name)
		if err != nil {
			require.Equal(t, Slice{}, s)
			require.Less(t, len(err.Error()), 4000)
			return
		}
		require.Equal(t, name, s.String())
		parts := s.Parts()
		require.Len(t, parts, s.PartCount())
		require.LessOrEqual(t, len(parts), MaxParts)
		for _, part := range parts {
			p, err := Parse(part)
			require.NoError(t, err)
			require.Equal(t, 1, p.PartCount())
		}
	})
}

// Errors of New keep their kind when they are wrapped by Parse.
func TestParseKeepsTheMistake(t *testing.T) {
	_, err := Parse("language=EN")
	var m Mistake
	require.True(t, errors.As(err, &m))
	require.Equal(t, "language", m.Parameter)
}
