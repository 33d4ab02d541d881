package grades

import (
	"errors"
	"fmt"
	"time"
)

// Config is for how long grading looks back, in event time.
type Config struct {
	KeepLists  time.Duration // life of the lists that are graded: late events make an hour exact anew, and it is graded again
	KeepGrades time.Duration // life of grades
}

// DefaultConfig covers late events (48 hours), recounts that are a day behind, and comparing with last year.
func DefaultConfig() Config {
	return Config{KeepLists: 72 * time.Hour, KeepGrades: 400 * 24 * time.Hour}
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var mistakes []error
	if c.KeepLists < 2*time.Hour || c.KeepLists > 30*24*time.Hour {
		mistakes = append(mistakes, fmt.Errorf("keep-graded-lists: %s is not between 2h, when an hour is surely exact, and 30 days, when there are 720 of them", c.KeepLists))
	}
	if c.KeepGrades < c.KeepLists {
		mistakes = append(mistakes, fmt.Errorf("keep-grades: %s is shorter than keep-graded-lists, %s: what has no grade is graded again", c.KeepGrades, c.KeepLists))
	}
	return errors.Join(mistakes...)
}
