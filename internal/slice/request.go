package slice

import (
	"fmt"
	"slices"
	"strings"
)

// Request is a slice as a caller asks for it, each text decoded from its query string. One that was not given is nil.
//
// Commas separate the values of a union. A text that is wholly empty is the unknown value. Within a value, comma, pipe and
// percent are written as in a name: %2C, %7C, %25; any other percent is itself.
type Request struct {
	Country  *string
	Category *string
	Language *string
	Region   *string // a group of countries, instead of Country
}

// Slice returns what is asked for, or every mistake.
func (r Request) Slice(kept Kept, groups Groups) (Slice, []Mistake) {
	if r == (Request{}) {
		return Slice{}, nil
	}
	var mistakes []Mistake
	var values [len(dimensions)][]string
	var filtered Dimensions
	for i, text := range [...]*string{r.Country, r.Category, r.Language} {
		if text == nil {
			continue
		}
		filtered |= dimensions[i].bit
		var wrong []Mistake
		values[i], wrong = readValues(dimensions[i].name, *text)
		mistakes = append(mistakes, wrong...)
	}
	if r.Region != nil {
		filtered |= Country
		members, known := groups[*r.Region]
		if !known {
			mistakes = append(mistakes, Mistake{"region", fmt.Sprintf("%q is not known; known are %s", shorten(*r.Region), groups)})
		}
		if r.Country != nil {
			mistakes = append(mistakes, Mistake{"region", "cannot be given together with country: both say which countries are counted"})
		} else {
			values[0] = members
		}
	}
	s := fromValues(values)
	mistakes = append(mistakes, s.check()...)
	if !kept.hasDimensions(filtered) {
		mistakes = append(mistakes, Mistake{Detail: fmt.Sprintf(
			"%s together are not counted; counted are %s", strings.Join(filtered.names(), " and "), kept)})
	}
	if len(mistakes) > 0 {
		return Slice{}, mistakes
	}
	return s, nil
}

// readValues splits a text into values. It judges how they are written, not what they are; a value that is written wrongly is
// left out, so that it is not reported twice.
func readValues(parameter, text string) ([]string, []Mistake) {
	if text == "" {
		return []string{""}, nil
	}
	var mistakes []Mistake
	values := strings.Split(text, ",")
	if slices.Contains(values, "") {
		mistakes = append(mistakes, Mistake{parameter, fmt.Sprintf(
			"a value between commas is empty; %s= alone is views whose %s is not known", parameter, parameter)})
	}
	if strings.Contains(text, "|") {
		mistakes = append(mistakes, Mistake{parameter,
			"values are separated by commas; a | that is part of a value is written %7C, which is %257C in a URL"})
	}
	values = slices.DeleteFunc(values, func(value string) bool { return value == "" || strings.Contains(value, "|") })
	for i, value := range values {
		values[i] = unescape.Replace(value)
	}
	return values, mistakes
}
