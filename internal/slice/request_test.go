package slice

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ask is a request of country, category, language, region; "-" is not given.
func ask(texts ...string) Request {
	pointers := [4]*string{}
	for i := range texts {
		if texts[i] != "-" {
			pointers[i] = &texts[i]
		}
	}
	return Request{Country: pointers[0], Category: pointers[1], Language: pointers[2], Region: pointers[3]}
}

func TestRequests(t *testing.T) {
	kept, err := ParsePairs(DefaultPairs)
	require.NoError(t, err)
	groups, err := ParseGroups([]string{"nordics=SE,DK"})
	require.NoError(t, err)
	for _, test := range []struct {
		request Request
		name    string
	}{
		{ask(), "global"},
		{ask("IN"), "country=IN"},
		{ask(""), "country="},
		{ask("FR,DE,FR"), "country=DE|FR"},
		{ask("IN", "music"), "country=IN,category=music"},
		{ask("IN", "-", "hi"), "country=IN,language=hi"},
		{ask("", ""), "country=,category="},
		{ask("-", "-", "-", "nordics"), "country=DK|SE"},
		{ask("-", "music,news", "-", "nordics"), "country=DK|SE,category=music|news"},
		{ask("-", "a%2Cb%7Cc%25"), "category=a%2Cb%7Cc%25"},
		{ask("-", "100%"), "category=100%25"},
		{ask("-", "%2c"), "category=%252c"},
		{ask("-", "%zz"), "category=%25zz"},
		{ask("-", "%252C"), "category=%252C"},
		{ask("-", "/"), "category=/"},
		{ask("-", "%2F"), "category=%252F"},
		{ask("-", ".."), "category=.."},
		{ask("-", "🎵"), "category=🎵"},
		{ask("-", "موسيقى"), "category=موسيقى"},
		{ask("-", " "), "category= "},
		{ask("-", "a=b"), "category=a=b"},
	} {
		s, mistakes := test.request.Slice(kept, groups)
		require.Empty(t, mistakes, test.name)
		require.Equal(t, test.name, s.String())
		again, err := Parse(test.name)
		require.NoError(t, err)
		require.Equal(t, s, again)
	}
}

func TestRequestsReportEveryMistake(t *testing.T) {
	kept, err := ParsePairs("country+category")
	require.NoError(t, err)
	groups, err := ParseGroups(nil)
	require.NoError(t, err)
	const kinds = "counted are country, category, language, country+category"
	for _, test := range []struct {
		request Request
		want    []string // "parameter: detail begins so"
	}{
		{ask("in"), []string{`country: "in" must be an ISO 3166 alpha-2 code in capital letters`}},
		{ask("EL"), []string{`country: "EL" must be`}},
		{ask("DE,,FR"), []string{"country: a value between commas is empty; country= alone is views whose country is not known"}},
		{ask(","), []string{"country: a value between commas is empty"}},
		{ask("DE|FR"), []string{"country: values are separated by commas"}},
		{ask("-", "a|b"), []string{"category: values are separated by commas; a | that is part of a value is written %7C"}},
		{ask("DE", "-", "-", "eu"), []string{"region: cannot be given together with country"}},
		{ask("-", "-", "-", "EU"), []string{`region: "EU" is not known; known are eu`}},
		{ask("-", "-", "-", ""), []string{`region: "" is not known`}},
		{ask("-", "-", "-", "eu,eu"), []string{`region: "eu,eu" is not known`}},
		{ask("-", "a", "hi"), []string{"category and language together are not counted; " + kinds}},
		{ask("IN", "-", "hi"), []string{"country and language together are not counted; " + kinds}},
		{ask("-", "-", "hi", "eu"), []string{"country and language together are not counted; " + kinds}},
		{ask("IN", "a", "hi"), []string{"country and category and language together are not counted; " + kinds}},
		{ask("in", "a\x00", "EN", "x"), []string{`region: "x" is not known`, "region: cannot be given together", `country: "in"`,
			`category: "a\x00" contains a control character`, `language: "EN"`, "country and category and language together"}},
		{ask("-", "\xff"), []string{`category: "\xff" is not valid UTF-8`}},
		{ask("-", strings.Repeat("é", 33)), []string{"category: "}},
		{ask("-", "a,b,c,d", "-", "eu"), []string{"the union is made of 108 slices, and at most 100 are merged"}},
		{ask("-", strings.Repeat("a", 10_000)), []string{"category: "}},
	} {
		s, mistakes := test.request.Slice(kept, groups)
		require.Equal(t, Slice{}, s)
		require.Len(t, mistakes, len(test.want), "%v", mistakes)
		for i := range mistakes {
			require.True(t, strings.HasPrefix(mistakes[i].Error(), test.want[i]), mistakes[i].Error())
			require.Less(t, len(mistakes[i].Detail), 300)
		}
	}
	s, mistakes := ask("DE,EE,AAA,AAB,AAC,AAD,AAE,AAF,AAG,AAH,AAI,AAJ,AAK,AAL").Slice(kept, groups)
	require.Equal(t, Slice{}, s)
	require.Len(t, mistakes, maxMistakes)
}

// FuzzRequest: what is taken has a name that parses to it; groups are never changed by asking for them.
func FuzzRequest(f *testing.F) {
	for _, value := range odd {
		f.Add("DE,FR", value, "", "-")
		f.Add("-", escape.Replace(value), "hi", "eu")
	}
	kept, err := ParsePairs(DefaultPairs)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, country, category, language, region string) {
		groups, err := ParseGroups(nil)
		require.NoError(t, err)
		s, mistakes := ask(country, category, language, region).Slice(kept, groups)
		require.Equal(t, strings.Fields(euCountries), groups["eu"])
		if len(mistakes) > 0 {
			require.Equal(t, Slice{}, s)
			return
		}
		again, err := Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, s, again)
		require.True(t, kept.Has(s))
		require.LessOrEqual(t, s.PartCount(), MaxParts)
	})
}
