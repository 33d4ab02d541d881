// Command memory shows what the services take while the number of distinct items grows: the same number of events, at
// the same rate, over few and over many items, each on a fresh stack, side by side.
package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"topk/bench/stack"
)

type options struct {
	*stack.Command
	distinct string
	rate     float64
}

// services whose memory must not follow the number of items.
var services = []string{"ingest", "rollup", "api"}

func main() {
	o := options{Command: stack.NewCommand("memory")}
	flag.StringVar(&o.distinct, "distinct", "1000000,50000000", "numbers of distinct items, separated by commas")
	flag.Float64Var(&o.rate, "rate", 100_000, "events per second")
	o.Run(func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	var counts []uint64
	events := uint64(0)
	for _, text := range strings.Split(o.distinct, ",") {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n == 0 {
			return fmt.Errorf("distinct: %q is not a number of items", text)
		}
		counts = append(counts, n)
		events = max(events, n)
	}
	var runs []outcome
	for _, n := range counts {
		err := o.OnStack(ctx, strconv.FormatUint(n, 10), func(s *stack.Stack) error {
			run, err := measure(ctx, o, s, n, events)
			runs = append(runs, run)
			return err
		})
		if err != nil {
			return fmt.Errorf("with %d distinct items: %w", n, err)
		}
	}
	write(counts, events, o.rate, runs)
	return nil
}

// outcome is what the services took, and for how many events.
type outcome struct {
	usage    map[string]stack.Usage
	accepted uint64
}

// least of the events must be accepted: a machine with other work to do may not keep up with the rate all the time.
const least = 0.95

// measure sends the events over n distinct items: evenly when there are more events than items, and each of its own item
// otherwise, because even draws would leave a third of the items out.
func measure(ctx context.Context, o options, s *stack.Stack, n, events uint64) (outcome, error) {
	rate := strconv.FormatFloat(o.rate, 'f', -1, 64)
	args := []string{"--events", strconv.FormatUint(events, 10)}
	if n < events {
		args = append(args, "--rate", rate, "--zipf", "0", "--items", strconv.FormatUint(n, 10))
	} else {
		args = append(args, "--rate", "0", "--spam-rate", rate)
	}
	report, usage, err := o.Watched(ctx, s, nil, args...)
	if err != nil {
		return outcome{}, err
	}
	if float64(report.Accepted) < least*float64(events) {
		return outcome{}, fmt.Errorf("%d of %d events were accepted", report.Accepted, events)
	}
	return outcome{usage, report.Accepted}, nil
}

// write prints the runs side by side as Markdown.
func write(counts []uint64, events uint64, rate float64, runs []outcome) {
	fmt.Printf("\nRSS in MB, peak (last), after about %d events at %.0f/s\n\n| service |", events, rate)
	for _, n := range counts {
		fmt.Printf(" %d distinct items |", n)
	}
	fmt.Printf("\n|---|%s\n", strings.Repeat("---|", len(counts)))
	for _, service := range append(services, "clickhouse", "kafka", "postgres") {
		fmt.Printf("| %s |", service)
		for _, run := range runs {
			fmt.Printf(" %d (%d) |", run.usage[service].PeakRSS>>20, run.usage[service].LastRSS>>20)
		}
		fmt.Println()
	}
	fmt.Print("| events accepted |")
	for _, run := range runs {
		fmt.Printf(" %d |", run.accepted)
	}
	fmt.Println()
}
