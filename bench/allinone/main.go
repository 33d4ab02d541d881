// Command allinone measures everything on one machine: it starts `topk dev` with fresh data, drives it at given rates,
// and prints for each the rate achieved, the freshness of the served 1m list, lags, memory and processor time.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"topk/bench/stack"
	"topk/internal/feed"
)

type options struct {
	*stack.Command
	rates    string
	duration time.Duration
	warmUp   time.Duration
	items    uint64
	zipf     float64
}

func main() {
	o := options{Command: stack.NewCommand("allinone")}
	flag.StringVar(&o.rates, "rates", "100000", "events per second, separated by commas: each on a fresh stack")
	flag.DurationVar(&o.duration, "duration", 2*time.Minute, "of each rate")
	flag.DurationVar(&o.warmUp, "warm-up", 15*time.Second, "at the same rate before the clock starts")
	flag.Uint64Var(&o.items, "items", 10_000_000, "distinct items")
	flag.Float64Var(&o.zipf, "zipf", 1.1, "exponent of their popularity")
	o.Run(func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	for _, rate := range strings.Split(o.rates, ",") {
		if _, err := strconv.ParseFloat(rate, 64); err != nil {
			return fmt.Errorf("rates: %w", err)
		}
		var m measurement
		err := o.OnStack(ctx, rate, func(s *stack.Stack) (err error) {
			m, err = measure(ctx, o, s, rate)
			return err
		})
		if err != nil {
			return fmt.Errorf("at %s events/s: %w", rate, err)
		}
		m.write(os.Stdout)
	}
	return nil
}

// measurement is what one rate gave.
type measurement struct {
	load  *feed.LoadReport
	lags  stack.Lags
	usage map[string]stack.Usage
}

// measure drives a fresh stack at one rate.
func measure(ctx context.Context, o options, s *stack.Stack, rate string) (m measurement, err error) {
	shape := []string{"--probe", "--rate", rate, "--items", strconv.FormatUint(o.items, 10), "--zipf", strconv.FormatFloat(o.zipf, 'g', -1, 64)}
	if o.warmUp > 0 {
		if _, err := s.Load(ctx, o.Binary, append(shape, "--seed", "2", "--duration", o.warmUp.String())...); err != nil {
			return m, fmt.Errorf("warm up: %w", err)
		}
	}
	lag := func(ctx context.Context) { m.lags = s.WatchLag(ctx) }
	m.load, m.usage, err = o.Watched(ctx, s, lag, append(shape, "--duration", o.duration.String())...)
	return m, err
}
