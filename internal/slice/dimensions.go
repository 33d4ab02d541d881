package slice

import (
	"errors"
	"fmt"
	"strings"

	"topk/internal/event"
)

// Dimensions is a set of dimensions.
type Dimensions uint8

// The dimensions of a view.
const (
	Country Dimensions = 1 << iota
	Category
	Language
)

// The pairs of dimensions that states can be kept of.
const (
	CountryCategory = Country | Category
	CountryLanguage = Country | Language
)

// dimensions is the order in which they stand in a name.
var dimensions = [...]struct {
	bit   Dimensions
	name  string
	check func([]byte) *event.Problem
}{
	{Country, "country", event.CheckCountry},
	{Category, "category", event.CheckCategory},
	{Language, "language", event.CheckLanguage},
}

// dimensionIndex is the place of a dimension in dimensions, -1 for what is none.
func dimensionIndex(name string) int {
	for i := range dimensions {
		if dimensions[i].name == name {
			return i
		}
	}
	return -1
}

// names are those of the dimensions in the set, in order.
func (d Dimensions) names() []string {
	var names []string
	for i := range dimensions {
		if d&dimensions[i].bit != 0 {
			names = append(names, dimensions[i].name)
		}
	}
	return names
}

// String is such as country+category, and global for none.
func (d Dimensions) String() string {
	if names := d.names(); len(names) > 0 {
		return strings.Join(names, "+")
	}
	return Global
}

// ParseDimensions is the inverse of String. It takes names in their order only.
func ParseDimensions(text string) (Dimensions, error) {
	var d Dimensions
	for name := range strings.SplitSeq(text, "+") {
		if i := dimensionIndex(name); i >= 0 {
			d |= dimensions[i].bit
		}
	}
	if d.String() != text {
		return 0, fmt.Errorf("dimensions %q: must be %s, or some of country, category and language in this order, joined by +",
			shorten(text), Global)
	}
	return d, nil
}

// Kept says which combinations of dimensions states are kept of: each single dimension, and some pairs. The zero value keeps
// no pair.
type Kept struct {
	countryCategory, countryLanguage bool
}

// DefaultPairs are the pairs that are kept when nothing else is configured.
const DefaultPairs = "country+category,country+language"

// ParsePairs reads pairs separated by commas, such as DefaultPairs. An empty text is none. The error joins every mistake.
func ParsePairs(text string) (Kept, error) {
	var kept Kept
	if text == "" {
		return kept, nil
	}
	var mistakes []error
	take := func(pair *bool, name string) {
		if *pair {
			mistakes = append(mistakes, fmt.Errorf("pair %q is given more than once", name))
		}
		*pair = true
	}
	for name := range strings.SplitSeq(text, ",") {
		switch name = strings.TrimSpace(name); name {
		case CountryCategory.String():
			take(&kept.countryCategory, name)
		case CountryLanguage.String():
			take(&kept.countryLanguage, name)
		default:
			mistakes = append(mistakes, fmt.Errorf("pair %q is not %s or %s", shorten(name), CountryCategory, CountryLanguage))
		}
	}
	if len(mistakes) > 0 {
		return Kept{}, errors.Join(mistakes...)
	}
	return kept, nil
}

// Pairs are the names of the pairs, in order.
func (k Kept) Pairs() []string {
	pairs := []string{}
	if k.countryCategory {
		pairs = append(pairs, CountryCategory.String())
	}
	if k.countryLanguage {
		pairs = append(pairs, CountryLanguage.String())
	}
	return pairs
}

// Dimensions are the combinations, single ones first: what SQL functions of slices take, as numbers.
func (k Kept) Dimensions() []Dimensions {
	all := []Dimensions{Country, Category, Language}
	for _, pair := range []Dimensions{CountryCategory, CountryLanguage} {
		if k.hasDimensions(pair) {
			all = append(all, pair)
		}
	}
	return all
}

// Has says whether states are kept of the parts of a slice. Those of all views always are.
func (k Kept) Has(s Slice) bool { return k.hasDimensions(s.Dimensions()) }

func (k Kept) hasDimensions(d Dimensions) bool {
	switch d {
	case 0, Country, Category, Language:
		return true
	case CountryCategory:
		return k.countryCategory
	case CountryLanguage:
		return k.countryLanguage
	}
	return false
}

// String lists the combinations, such as "country, category, language, country+category".
func (k Kept) String() string {
	return strings.Join(append((Country|Category|Language).names(), k.Pairs()...), ", ")
}
