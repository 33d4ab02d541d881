package zone

import (
	"fmt"
	"time"
)

// ParseInstant reads a time with its distance from UTC, such as 2026-11-29T15:00:00Z, or a date, which stands for its midnight in UTC.
func ParseInstant(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if day, err := ParseDay(text); err == nil {
		return day.midnight, nil
	}
	return time.Time{}, fmt.Errorf("%q is neither a time such as 2026-11-29T15:00:00Z nor a date such as 2026-11-29", shorten(text))
}
