package slice

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"topk/internal/event"
)

// Groups are unions of countries by name, their codes sorted and distinct.
type Groups map[string][]string

// euCountries are the members of the European Union since 2020, as ISO 3166 writes them: Greece is GR, which the EU itself
// abbreviates EL. Source: https://european-union.europa.eu/principles-countries-history/eu-countries_en
const euCountries = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"

// groupName is what a group may be called.
var groupName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// ParseGroups reads definitions such as nordics=DK,FI,IS,NO,SE. The group eu is there without one, and one may replace it.
// The error joins every mistake.
func ParseGroups(definitions []string) (Groups, error) {
	groups := Groups{}
	var mistakes []error
	for _, definition := range definitions {
		name, text, found := strings.Cut(definition, "=")
		bad := func(format string, a ...any) {
			mistakes = append(mistakes, fmt.Errorf("group %q: "+format, append([]any{shorten(definition)}, a...)...))
		}
		if !found {
			bad("must be a name and its countries, such as nordics=DK,FI,IS,NO,SE")
			continue
		}
		if !groupName.MatchString(name) {
			bad("the name must match %s", groupName)
		}
		if _, twice := groups[name]; twice {
			bad("the name is given more than once")
		}
		countries, wrong := parseMembers(text)
		for _, err := range wrong {
			bad("%w", err)
		}
		groups[name] = countries
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	if _, replaced := groups["eu"]; !replaced {
		groups["eu"] = strings.Fields(euCountries)
	}
	return groups, nil
}

// parseMembers reads the countries of a group.
func parseMembers(text string) (countries []string, mistakes []error) {
	for country := range strings.SplitSeq(text, ",") {
		country = strings.TrimSpace(country)
		switch p := event.CheckCountry([]byte(country)); {
		case country == "":
			mistakes = append(mistakes, errors.New("a country is empty"))
		case p != nil:
			mistakes = append(mistakes, wrongValue("country", country, p))
		case slices.Contains(countries, country):
			mistakes = append(mistakes, fmt.Errorf("%s is given more than once", country))
		default:
			countries = append(countries, country)
		}
	}
	if len(countries) > MaxParts {
		mistakes = append(mistakes, fmt.Errorf("%d countries are more than the %d that are merged", len(countries), MaxParts))
	}
	slices.Sort(countries)
	return countries, mistakes
}

// maxNamedGroups bounds how many groups an error lists.
const maxNamedGroups = 20

// String lists the names in order, those of the first 20.
func (g Groups) String() string {
	names := slices.Sorted(maps.Keys(g))
	if len(names) > maxNamedGroups {
		names = append(names[:maxNamedGroups], "...")
	}
	return strings.Join(names, ", ")
}
