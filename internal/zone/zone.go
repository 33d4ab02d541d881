// Package zone is calendar days in named time zones: which instants they are.
package zone

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // for machines without the tz database; where there is one, it is used
)

// Default is the zone of whoever names none.
const Default = "UTC"

// names of zones are one to three parts of the tz database's alphabet.
var names = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)

// maxNameBytes is longer than any name there is.
const maxNameBytes = 64

// Load finds a zone of the tz database by its name, exactly as it is written there. A name that depends on the machine (Local), or
// that counts leap seconds (right/...), is none.
func Load(name string) (*time.Location, error) {
	unknown := fmt.Errorf("%q is not a time zone of the tz database, such as UTC or Asia/Kolkata", shorten(name))
	if len(name) > maxNameBytes || !names.MatchString(name) {
		return nil, unknown
	}
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "Local", "localtime", "posixrules", "posix", "right", "Factory":
		return nil, unknown
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, unknown
	}
	return location, nil
}

func shorten(text string) string {
	if len(text) <= maxNameBytes {
		return text
	}
	return text[:maxNameBytes] + "..."
}
