package slice

import (
	"fmt"
	"strings"
)

// Global is the name of all views.
const Global = "global"

// What separates in a name is escaped in its values, and so is what escapes. Nothing else is: names are for people.
var (
	escape   = strings.NewReplacer("%", "%25", ",", "%2C", "|", "%7C")
	unescape = strings.NewReplacer("%25", "%", "%2C", ",", "%7C", "|")
)

// String is the name of the slice: global, country=IN, country=IN,category=music, country=DE|FR|IT. The SQL function
// topk_slices names base slices the same way.
func (s Slice) String() string {
	var name strings.Builder
	for i, values := range s.values() {
		for j, value := range values {
			switch {
			case j > 0:
				name.WriteByte('|')
			case name.Len() > 0:
				name.WriteString("," + dimensions[i].name + "=")
			default:
				name.WriteString(dimensions[i].name + "=")
			}
			name.WriteString(escape.Replace(value))
		}
	}
	if name.Len() == 0 {
		return Global
	}
	return name.String()
}

// Parse is the inverse of String. It refuses what String would write otherwise, so that a slice has one name.
func Parse(name string) (Slice, error) {
	if name == Global {
		return Slice{}, nil
	}
	var values [len(dimensions)][]string
	for part := range strings.SplitSeq(name, ",") {
		dimension, text, found := strings.Cut(part, "=")
		i := dimensionIndex(dimension)
		switch {
		case !found || i < 0:
			return Slice{}, fmt.Errorf("slice %q: %q is not country=, category= or language=", shorten(name), shorten(part))
		case values[i] != nil:
			return Slice{}, fmt.Errorf("slice %q: %s is given more than once", shorten(name), dimension)
		}
		for value := range strings.SplitSeq(text, "|") {
			values[i] = append(values[i], unescape.Replace(value))
		}
	}
	s, err := New(values[0], values[1], values[2])
	if err != nil {
		return Slice{}, fmt.Errorf("slice %q: %w", shorten(name), err)
	}
	if canonical := s.String(); canonical != name {
		return Slice{}, fmt.Errorf("slice %q is written %q", shorten(name), shorten(canonical))
	}
	return s, nil
}

// Parts are the names of the base slices that s is the disjoint union of: one value in each filtered dimension, in the
// order of the values. They are at most MaxParts when s is valid. All views are their own part.
func (s Slice) Parts() []string {
	parts := []string{""}
	for i, values := range s.values() {
		if len(values) == 0 {
			continue
		}
		longer := make([]string, 0, len(parts)*len(values))
		for _, part := range parts {
			if part != "" {
				part += ","
			}
			for _, value := range values {
				longer = append(longer, part+dimensions[i].name+"="+escape.Replace(value))
			}
		}
		parts = longer
	}
	if parts[0] == "" {
		parts[0] = Global
	}
	return parts
}
