// Command allinone measures everything on one machine: it starts `topk dev` with fresh data, drives it at given rates,
// and prints for each the rate achieved, the freshness of the served 1m list, lags, memory and processor time.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"topk/bench/stack"
	"topk/internal/feed"
)

type options struct {
	binary   string
	rates    string
	duration time.Duration
	warmUp   time.Duration
	items    uint64
	zipf     float64
	offset   int
	dir      string
	keep     bool
}

func main() {
	o := options{}
	flag.StringVar(&o.binary, "topk", "bin/topk", "the binary")
	flag.StringVar(&o.rates, "rates", "100000", "events per second, separated by commas: each on a fresh stack")
	flag.DurationVar(&o.duration, "duration", 2*time.Minute, "of each rate")
	flag.DurationVar(&o.warmUp, "warm-up", 15*time.Second, "at the same rate before the clock starts")
	flag.Uint64Var(&o.items, "items", 10_000_000, "distinct items")
	flag.Float64Var(&o.zipf, "zipf", 1.1, "exponent of their popularity")
	flag.IntVar(&o.offset, "port-offset", 3000, "moves the default ports")
	flag.StringVar(&o.dir, "dir", "", "folder for data and logs (default a temporary one)")
	flag.BoolVar(&o.keep, "keep", false, "keep the temporary folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "allinone:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	dir := o.dir
	if dir == "" {
		temporary, err := os.MkdirTemp("", "topk-allinone-")
		if err != nil {
			return err
		}
		if !o.keep {
			defer func() { _ = os.RemoveAll(temporary) }()
		}
		dir = temporary
	}
	for _, rate := range strings.Split(o.rates, ",") {
		if _, err := strconv.ParseFloat(rate, 64); err != nil {
			return fmt.Errorf("rates: %w", err)
		}
		m, err := measure(ctx, o, rate, filepath.Join(dir, rate))
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
func measure(ctx context.Context, o options, rate, dir string) (m measurement, err error) {
	s, err := stack.Start(ctx, stack.Config{Binary: o.binary, Dir: dir, PortOffset: o.offset})
	if err != nil {
		return m, err
	}
	defer func() {
		if stopErr := s.Stop(); err == nil {
			err = stopErr
		}
	}()
	shape := []string{"--rate", rate, "--items", strconv.FormatUint(o.items, 10), "--zipf", strconv.FormatFloat(o.zipf, 'g', -1, 64)}
	if o.warmUp > 0 {
		if _, err := s.Load(ctx, o.binary, append(shape, "--seed", "2", "--duration", o.warmUp.String(), "--probe")...); err != nil {
			return m, fmt.Errorf("warm up: %w", err)
		}
	}
	watcher, err := s.Watch()
	if err != nil {
		return m, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var watchErr error
	group.Go(func() { watchErr = watcher.Run(watching) })
	group.Go(func() { m.lags = s.WatchLag(watching) })
	m.load, err = s.Load(ctx, o.binary, append(shape, "--duration", o.duration.String(), "--probe")...)
	stop()
	group.Wait()
	if err == nil {
		err = watchErr
	}
	m.usage = watcher.Usage()
	return m, err
}
