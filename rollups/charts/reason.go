package charts

import (
	"fmt"
	"strings"
	"time"
)

const (
	// maxReasons bounds the hours that a reason names.
	maxReasons = 5
	// maxWhy bounds what it repeats of the ledger, where people may write what they like.
	maxWhy = 80
)

// reason says what is different since the last final charts: which hours were recounted, and why.
func (j *job) reason() string {
	changed := j.changed()
	var told []string
	for _, i := range changed[:min(len(changed), maxReasons)] {
		text := j.span.hours[i].Format(time.RFC3339)
		if why := j.span.why[i]; why != "" {
			text += " (" + shorten(why) + ")"
		}
		told = append(told, text)
	}
	if more := len(changed) - maxReasons; more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	if len(told) == 0 {
		return "counted again by hand"
	}
	return "recounted: " + strings.Join(told, ", ")
}

func shorten(text string) string {
	if characters := []rune(text); len(characters) > maxWhy {
		return string(characters[:maxWhy]) + "..."
	}
	return text
}
