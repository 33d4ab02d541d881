// Package embedded runs the whole of topk on one machine: the engines and the services as child processes of the
// caller. `topk dev` and the end-to-end tests use the same stack.
package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
)

// The services of a stack. Migrate is a step, not a service; it has a name for Options.Args and its log file.
const (
	ClickHouse = "clickhouse"
	Kafka      = "kafka"
	Postgres   = "postgres"
	Migrate    = "migrate"
	Ingest     = "ingest"
	Rollup     = "rollup"
	API        = "api"
)

// The clocks that ingestor and rollup worker know.
const (
	ClockWall  = "wall"
	ClockEvent = "event"
)

// Options of a stack. The zero value starts everything on free ports in a fresh temporary directory.
type Options struct {
	Binary   string              // path of the topk binary; "" = this very program
	DataDir  string              // "" = a fresh temporary directory, removed at Stop unless Keep
	Keep     bool                // leave the temporary directory
	Clock    string              // ClockWall or ClockEvent; "" = ClockWall
	Ports    Ports               // 0 = a free one
	Services []string            // which to start; none = all. The migrate step runs when both its engines do
	Args     map[string][]string // extra arguments by service
	Log      *slog.Logger        // nil = silence
}

// Services returns the names of all services, in the order of their start.
func Services() []string {
	names := make([]string, len(services))
	for i, s := range services {
		names[i] = s.name
	}
	return names
}

// Validate reports every mistake at once.
func (o Options) Validate() error {
	var errs []error
	if o.Clock != ClockWall && o.Clock != ClockEvent {
		errs = append(errs, fmt.Errorf("clock: %q is neither %s nor %s", o.Clock, ClockWall, ClockEvent))
	}
	known := Services()
	for _, name := range o.Services {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("services: %q is not one of %s", name, strings.Join(known, ", ")))
		}
	}
	for name := range o.Args {
		if name != Migrate && !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("args: %q is not a service", name))
		}
	}
	return errors.Join(errs...)
}

// withDefaults fills in what was left out.
func (o Options) withDefaults() (Options, error) {
	if o.Clock == "" {
		o.Clock = ClockWall
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Services) == 0 {
		o.Services = Services()
	}
	if o.Binary == "" {
		binary, err := os.Executable()
		if err != nil {
			return o, fmt.Errorf("find this program: %w", err)
		}
		o.Binary = binary
	}
	return o, o.Validate()
}

func (o Options) has(service string) bool { return slices.Contains(o.Services, service) }
