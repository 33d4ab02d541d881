// Command wave shows what a wave of new ids changes: views of known items, then the same with a wave of ids that are each
// viewed once beside them, while one real item rises. It says whether the lists still hold, how soon the item that rises
// leads, and what memory and disk became.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"topk/bench/stack"
	"topk/internal/apiclient"
	"topk/internal/event"
	"topk/internal/feed"
)

type options struct {
	*stack.Command
	ids      uint64
	waveRate float64
	rate     float64
	items    uint64
	share    float64
	before   time.Duration
}

// riser is the real item that rises during the wave.
const riser = "riser"

func main() {
	o := options{Command: stack.NewCommand("wave")}
	flag.Uint64Var(&o.ids, "ids", 20_000_000, "new ids in the wave")
	flag.Float64Var(&o.waveRate, "wave-rate", 40_000, "new ids per second")
	flag.Float64Var(&o.rate, "rate", 5_000, "events per second of known items, before and during the wave")
	flag.Uint64Var(&o.items, "items", 100_000, "known items")
	flag.Float64Var(&o.share, "riser-share", 0.3, "share of these events, during the wave, that view the item that rises")
	flag.DurationVar(&o.before, "before", 3*time.Minute, "views of known items alone, before the wave")
	o.Run(func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	if o.ids == 0 || o.waveRate <= 0 || o.rate <= 0 || o.share <= 0 || o.share >= 1 {
		return errors.New("ids, wave-rate and rate must be positive, and riser-share between 0 and 1")
	}
	if o.lasts() < shortest {
		return fmt.Errorf("the wave lasts %s, which is less than %s: its lists would hold views from before", o.lasts(), shortest)
	}
	return o.OnStack(ctx, "stack", func(s *stack.Stack) error {
		r, err := measure(ctx, o, s)
		if err != nil {
			return err
		}
		r.write(os.Stdout)
		return nil
	})
}

// phase is what was sent, and what the stack became by its end.
type phase struct {
	load   *feed.LoadReport
	usage  map[string]stack.Usage
	tables map[string]stack.Table
}

type result struct {
	before, wave phase
	found        time.Duration // from the first view of the item that rises until it led the served 1m list; 0 when it never did
}

// measure sends both phases to one stack. Both lists of each are compared with the truth.
func measure(ctx context.Context, o options, s *stack.Stack) (r result, err error) {
	known := []string{"--verify", "--items", strconv.FormatUint(o.items, 10), "--rate", number(o.rate)}
	if r.before, err = send(ctx, o, s, nil, append(known, "--duration", o.before.String())...); err != nil {
		return r, fmt.Errorf("before the wave: %w", err)
	}
	began := time.Now()
	look := func(ctx context.Context) { r.found = leads(ctx, s, began) }
	r.wave, err = send(ctx, o, s, look, append(known, "--duration", o.lasts().String(), "--spam-rate", number(o.waveRate),
		"--viral-item", riser, "--viral-share", number(o.share))...)
	if err != nil {
		return r, fmt.Errorf("during the wave: %w", err)
	}
	return r, nil
}

// shortest is how long a wave must last so that the longest list that is compared with the truth is within it.
const shortest = 6 * time.Minute

// lasts is how long it takes to send the new ids.
func (o options) lasts() time.Duration {
	return time.Duration(float64(o.ids) / o.waveRate * float64(time.Second))
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func send(ctx context.Context, o options, s *stack.Stack, beside func(context.Context), args ...string) (p phase, err error) {
	if p.load, p.usage, err = o.Watched(ctx, s, beside, args...); err != nil {
		return p, err
	}
	p.tables, err = s.Disk(ctx)
	return p, err
}

// lookEvery is how often the served list is asked who leads.
const lookEvery = 200 * time.Millisecond

// leads waits until the item that rises leads the served 1m list, and returns how long that took.
func leads(ctx context.Context, s *stack.Stack, began time.Time) time.Duration {
	api := apiclient.New(s.API)
	defer api.Close()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return 0
		case <-ticker.C:
		}
		l, err := api.List(ctx, apiclient.Query{ItemType: event.DefaultItemType, Window: "1m", K: 1})
		if err == nil && len(l.Items) == 1 && l.Items[0].ItemID == riser {
			return time.Since(began)
		}
	}
}
