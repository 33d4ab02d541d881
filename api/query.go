package api

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"topk/internal/event"
	"topk/internal/list"
	"topk/internal/problem"
	"topk/internal/slice"
)

// query is what a request for a list asks for.
type query struct {
	key     list.Key
	k       int
	least   uint64 // entries of fewer views are left out
	require string // what the list must be: requireExact, requireCertified, or nothing
}

// Query parameters of a list.
const (
	parameterItemType = "item_type"
	parameterWindow   = "window"
	parameterK        = "k"
	parameterMinCount = "min_count"
	parameterRequire  = "require"
	parameterCountry  = "country"
	parameterCategory = "category"
	parameterLanguage = "language"
	parameterRegion   = "region"
)

// listParameters are all of them, as an error names them.
var listParameters = strings.Join([]string{parameterItemType, parameterWindow, parameterK, parameterMinCount, parameterRequire,
	parameterCountry, parameterCategory, parameterLanguage, parameterRegion}, ", ")

// maxMistakes bounds what an answer lists, however many mistakes a request makes.
const maxMistakes = 10

// slicing says which slices can be asked for. It does not change.
type slicing struct {
	kept   slice.Kept
	groups slice.Groups
}

// parseQuery reads a raw query string. It returns every mistake, or none.
func (s slicing) parseQuery(raw string) (query, []problem.Error) {
	return s.parse(raw, list.DefaultWindow, func(string) error { return nil })
}

// parse reads a raw query string of parameters that known has no error for.
func (s slicing) parse(raw, window string, known func(name string) error) (query, []problem.Error) {
	q := query{key: list.Key{ItemType: event.DefaultItemType, Window: window, Slice: list.GlobalSlice}, k: list.DefaultK, least: defaultMinCount}
	var asked slice.Request
	mistakes := parseParameters(raw, func(name, value string) error {
		if err := known(name); err != nil {
			return err
		}
		return q.set(&asked, name, value)
	})
	found, wrong := asked.Slice(s.kept, s.groups)
	q.key.Slice = found.String()
	for _, m := range wrong[:min(len(wrong), maxMistakes-len(mistakes))] {
		mistakes = append(mistakes, problem.Error{Parameter: m.Parameter, Detail: m.Detail})
	}
	return q, mistakes
}

// parseParameters calls set for each parameter of a raw query string. It is strict, because a misspelled parameter that is passed
// over would answer another question than the one asked. It returns every mistake, or none.
func parseParameters(raw string, set func(name, value string) error) []problem.Error {
	var mistakes []problem.Error
	var seen []string
	for raw != "" && len(mistakes) < maxMistakes {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		name, value, err := parsePair(pair)
		switch {
		case err != nil:
			mistakes = append(mistakes, problem.Error{Detail: err.Error()})
			continue
		case slices.Contains(seen, name):
			err = fmt.Errorf("is given more than once")
		default:
			seen = append(seen, name)
			err = set(name, value)
		}
		if err != nil {
			mistakes = append(mistakes, problem.Error{Parameter: shorten(name), Detail: err.Error()})
		}
	}
	return mistakes
}

// parsePair decodes name=value.
func parsePair(pair string) (name, value string, err error) {
	if strings.ContainsRune(pair, ';') {
		return "", "", fmt.Errorf("the query string is malformed: a semicolon in %q must be written %%3B", shorten(pair))
	}
	name, value, _ = strings.Cut(pair, "=")
	if strings.ContainsAny(pair, "%+") {
		if name, err = url.QueryUnescape(name); err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err != nil {
			return "", "", fmt.Errorf("the query string is malformed: %w", err)
		}
	}
	return name, value, nil
}

// set takes one parameter. What makes the slice is judged together, once all are read.
func (q *query) set(asked *slice.Request, name, value string) error {
	switch name {
	case parameterItemType:
		return setItemType(&q.key.ItemType, value)
	case parameterWindow:
		window, err := list.ParseWindow(value)
		if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "window ")) // the parameter is named before it anyway
		}
		q.key.Window = window.Name
	case parameterK:
		return setK(&q.k, value)
	case parameterMinCount:
		return setMinCount(&q.least, value)
	case parameterRequire:
		if value != requireExact && value != requireCertified {
			return fmt.Errorf("%q is not %s or %s", shorten(value), requireExact, requireCertified)
		}
		q.require = value
	case parameterCountry:
		asked.Country = given(value)
	case parameterCategory:
		asked.Category = given(value)
	case parameterLanguage:
		asked.Language = given(value)
	case parameterRegion:
		asked.Region = given(value)
	default:
		return fmt.Errorf("the parameter is not known; known are %s", listParameters)
	}
	return nil
}

// given tells an empty text from none.
func given(text string) *string { return &text }

func setItemType(itemType *string, value string) error {
	if !isItemType(value) {
		return fmt.Errorf("%q is not an item type: 1 to 32 of a-z, 0-9 and _, starting with a letter", shorten(value))
	}
	*itemType = value
	return nil
}

func setK(k *int, value string) error {
	parsed, ok := parseK(value)
	if !ok {
		return fmt.Errorf("%q is not a whole number from %d to %d", shorten(value), list.MinK, list.MaxK)
	}
	*k = parsed
	return nil
}

// parseK reads plain digits: no sign, no leading zero, no space.
func parseK(value string) (int, bool) {
	if len(value) == 0 || len(value) > len(strconv.Itoa(list.MaxK)) || value[0] == '0' {
		return 0, false
	}
	k := 0
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			return 0, false
		}
		k = 10*k + int(value[i]-'0')
	}
	return k, k >= list.MinK && k <= list.MaxK
}

// isItemType spares the common case the regular expression.
func isItemType(value string) bool {
	return value == event.DefaultItemType || event.ItemTypePattern.MatchString(value)
}

// maxQuotedBytes is how much of a caller's text an error repeats.
const maxQuotedBytes = 40

func shorten(text string) string {
	if len(text) <= maxQuotedBytes {
		return text
	}
	return text[:maxQuotedBytes] + "..."
}
