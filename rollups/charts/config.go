package charts

import (
	"errors"
	"fmt"
	"time"

	"topk/internal/zone"
)

// Config is which charts are made, and how.
type Config struct {
	Zones []string // names of the tz database whose every day is charted
	// Cap is how many views of a viewer count for an item in a UTC hour; 0 is all. A day keeps the cap of its first final chart.
	Cap   uint64
	Every time.Duration // least time between two revisions of a chart: on the event clock while its day is open, else on the wall
}

// maxZones bounds what is counted: every zone counts each day once more.
const maxZones = 50

// maxCap is more than anybody can view in an hour.
const maxCap = 1_000_000

// DefaultConfig charts UTC days. Ten views in an hour are what one person can make of a video of six minutes who watches nothing
// else; of more, a script is the likelier cause. So a viewer adds at most 250 to an item's day.
func DefaultConfig() Config {
	return Config{Zones: []string{zone.Default}, Cap: 10, Every: 15 * time.Minute}
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var mistakes []error
	wrong := func(format string, a ...any) { mistakes = append(mistakes, fmt.Errorf(format, a...)) }
	seen := map[string]bool{}
	for _, name := range c.Zones {
		if _, err := zone.Load(name); err != nil {
			wrong("chart-zones: %w", err)
		}
		if seen[name] {
			wrong("chart-zones: %s is given more than once", name)
		}
		seen[name] = true
	}
	if c.Cap > maxCap {
		wrong("chart-cap: %d is more than %d; 0 counts all views", c.Cap, maxCap)
	}
	if len(c.Zones) > maxZones {
		wrong("chart-zones: %d are more than %d", len(c.Zones), maxZones)
	}
	if c.Every < 0 {
		wrong("chart-every: %s is negative", c.Every)
	}
	return errors.Join(mistakes...)
}
