// Package slice names what a list is counted over: all views, or those of some countries, categories and languages.
package slice

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"topk/internal/event"
)

// MaxParts is how many base slices a union may be made of. One request merges so many summaries for each bucket of time:
// the 27 countries of the EU with three categories are 81, and a second is what merging may take.
const MaxParts = 100

// Slice is a filter on the dimensions of a view. A dimension that is nil filters nothing; otherwise its values are sorted and
// distinct, and the views counted are those whose value is any of them. The value "" is of views whose dimension is not
// known. The zero value is all views.
type Slice struct {
	Country  []string // ISO 3166 alpha-2
	Category []string // up to 64 bytes of any text
	Language []string // primary BCP 47 subtags
}

// New returns the slice of some values in any order. Values given twice count once; no values filter nothing. The error
// joins every Mistake.
func New(country, category, language []string) (Slice, error) {
	s := fromValues([...][]string{country, category, language})
	if mistakes := s.check(); len(mistakes) > 0 {
		return Slice{}, join(mistakes)
	}
	return s, nil
}

// Dimensions returns which dimensions are filtered.
func (s Slice) Dimensions() Dimensions {
	var filtered Dimensions
	for i, values := range s.values() {
		if len(values) > 0 {
			filtered |= dimensions[i].bit
		}
	}
	return filtered
}

// PartCount is the number of base slices that s is the union of: 1 for all views and for a base slice.
func (s Slice) PartCount() int {
	count := 1
	for _, values := range s.values() {
		count *= max(1, len(values))
	}
	return count
}

// values are those of each dimension, in the order of dimensions.
func (s Slice) values() [len(dimensions)][]string {
	return [...][]string{s.Country, s.Category, s.Language}
}

// fromValues is the slice of values in any order, unchecked.
func fromValues(values [len(dimensions)][]string) Slice {
	for i := range values {
		if len(values[i]) == 0 {
			values[i] = nil
			continue
		}
		values[i] = slices.Clone(values[i])
		slices.Sort(values[i])
		values[i] = slices.Compact(values[i])
	}
	return Slice{Country: values[0], Category: values[1], Language: values[2]}
}

// check returns what is wrong with the values, at most maxMistakes.
func (s Slice) check() []Mistake {
	var mistakes []Mistake
	for i, values := range s.values() {
		for _, value := range values {
			if p := dimensions[i].check([]byte(value)); p != nil && len(mistakes) < maxMistakes {
				mistakes = append(mistakes, wrongValue(dimensions[i].name, value, p))
			}
		}
	}
	if count := s.PartCount(); count > MaxParts {
		mistakes = append(mistakes, Mistake{Detail: fmt.Sprintf(
			"the union is made of %d slices, and at most %d are merged: ask for fewer values", count, MaxParts)})
	}
	return mistakes
}

// Mistake is one thing that is wrong with a slice that was asked for.
type Mistake struct {
	Parameter string // the dimension or "region"; empty where several do not go together
	Detail    string // what is wrong, and what would be right
}

func (m Mistake) Error() string {
	if m.Parameter == "" {
		return m.Detail
	}
	return m.Parameter + ": " + m.Detail
}

// maxMistakes bounds how many wrong values are listed, however many there are.
const maxMistakes = 10

func wrongValue(parameter, value string, p *event.Problem) Mistake {
	reason := strings.TrimPrefix(p.Reason, p.Field+" ") // the parameter is named before it anyway
	return Mistake{Parameter: parameter, Detail: fmt.Sprintf("%q %s", shorten(value), reason)}
}

func join(mistakes []Mistake) error {
	errs := make([]error, len(mistakes))
	for i, m := range mistakes {
		errs[i] = m
	}
	return errors.Join(errs...)
}

// maxQuotedBytes is how much of a caller's text an error repeats.
const maxQuotedBytes = 40

func shorten(text string) string {
	if len(text) <= maxQuotedBytes {
		return text
	}
	return text[:maxQuotedBytes] + "..."
}
