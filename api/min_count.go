package api

import (
	"fmt"
	"strconv"
)

// defaultMinCount leaves nothing out: an item without views is in no list.
const defaultMinCount = 1

// setMinCount reads plain digits: no sign, no leading zero, no space.
func setMinCount(least *uint64, value string) error {
	wrong := fmt.Errorf("%q is not a whole number of 1 or more", shorten(value))
	if value == "" || value[0] < '1' || value[0] > '9' { // ParseUint would take a sign, and zeros before a number
		return wrong
	}
	parsed, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		return wrong
	}
	*least = parsed
	return nil
}
