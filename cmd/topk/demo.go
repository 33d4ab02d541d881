package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"topk/embedded"
	"topk/internal/apiclient"
	"topk/internal/list"
	"topk/internal/truth"
)

// demoItemType is what the recorded day's items are: pages of a web server.
const demoItemType = "page"

// demoPublishTimeout bounds the wait for the list of the last hour: every window is published within seconds of the final
// watermark.
const demoPublishTimeout = time.Minute

type demo struct {
	data       string // directory of the recorded day
	portOffset int
	once       bool
	out        io.Writer
}

func demoCommand() *cobra.Command {
	d := demo{}
	command := &cobra.Command{
		Use:   "demo",
		Short: "Replay a recorded day on the embedded engines, compare with the known answer, then go on with live traffic",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			d.out = command.OutOrStdout()
			return d.run(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVar(&d.data, "data", "test/testdata/nasa_http", "directory with events.csv.gz and its truth files")
	flags.IntVar(&d.portOffset, "port-offset", 0, "added to every default port")
	flags.BoolVar(&d.once, "once", false, "stop after the comparison instead of going on with live traffic")
	return command
}

func (d *demo) run(ctx context.Context) error {
	windows, err := truth.ReadSliding(filepath.Join(d.data, "truth_sliding_3600s_step900s.csv"))
	if err != nil {
		return err
	}
	last, err := lastHour(windows)
	if err != nil {
		return err
	}
	fmt.Fprintln(d.out, "Starting ClickHouse, Kafka, PostgreSQL, the ingestor, the rollup worker and the API ...")
	stack, err := embedded.Start(ctx, embedded.Options{
		Clock: embedded.ClockEvent,
		Ports: embedded.DefaultPorts(d.portOffset),
		Log:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	err = d.drive(ctx, stack, last)
	if stopErr := stack.Stop(); err == nil {
		err = stopErr
	}
	return err
}

// lastHour is the newest published window that ends with an hour: what the final watermark of a replay makes the 1h list.
func lastHour(windows []truth.Window) (truth.Window, error) {
	for i := len(windows) - 1; i >= 0; i-- {
		if windows[i].To.Equal(windows[i].To.Truncate(time.Hour)) {
			return windows[i], nil
		}
	}
	return truth.Window{}, fmt.Errorf("no published window ends with an hour")
}

func (d *demo) drive(ctx context.Context, stack *embedded.Stack, last truth.Window) error {
	ends := stack.Endpoints()
	begin := time.Now()
	if err := d.self(ctx, "replay", filepath.Join(d.data, "events.csv.gz"), "--ingest", ends.Ingest,
		"--item-type", demoItemType, "--clock", "event", "--finish"); err != nil {
		return fmt.Errorf("replay the recorded day: %w", err)
	}
	got, err := awaitAsOf(ctx, ends.API, last.To)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\nThe last hour of the recorded day, served %.1f s after its first event was sent:\n\n", time.Since(begin).Seconds())
	if err := d.compare(got, last); err != nil {
		return err
	}
	if d.once {
		return nil
	}
	fmt.Fprintf(d.out, `
Now live traffic (200 views/s of item type video) until Ctrl-C. In another terminal:

  curl '%[1]s/v1/topk?item_type=video&window=1m&k=10'
  bin/topk top --api %[1]s --window 1m --watch

`, ends.API)
	return d.goOn(ctx, stack)
}

// goOn generates traffic until the context ends or a service dies.
func (d *demo) goOn(ctx context.Context, stack *embedded.Stack) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	traffic := make(chan error, 1)
	go func() {
		traffic <- d.self(ctx, "load", "--ingest", stack.Endpoints().Ingest, "--rate", "200", "--items", "10000", "--duration", "24h")
	}()
	select {
	case err := <-stack.Done():
		cancel()
		if end := <-traffic; !errors.Is(end, context.Canceled) {
			err = errors.Join(err, end)
		}
		return err
	case err := <-traffic:
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
}

// self runs another command of this binary. It is interrupted, not killed, when the context ends.
func (d *demo) self(ctx context.Context, args ...string) error {
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, binary, args...)
	command.Stdout, command.Stderr = d.out, os.Stderr
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 5 * time.Second
	return command.Run()
}

// awaitAsOf polls the API until its 1h list counts up to asOf.
func awaitAsOf(ctx context.Context, api string, asOf time.Time) (*list.List, error) {
	ctx, cancel := context.WithTimeout(ctx, demoPublishTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	client := apiclient.New(api)
	defer client.Close()
	for {
		got, err := client.List(ctx, apiclient.Query{ItemType: demoItemType, Window: "1h", K: 10})
		if err == nil && got.AsOf.Equal(asOf) {
			return got, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the 1h list as of %s was not published in time: %w", asOf.Format(time.RFC3339), ctx.Err())
		case <-tick.C:
		}
	}
}

// compare prints the served list beside the published truth, and fails when they differ.
func (d *demo) compare(got *list.List, want truth.Window) error {
	table := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "position\tserved\tcount\tknown truth\tcount\n")
	equal := len(got.Items) == len(want.Top)
	for i, known := range want.Top {
		if i >= len(got.Items) {
			break
		}
		item := got.Items[i]
		fmt.Fprintf(table, "%d\t%s\t%d\t%s\t%d\n", item.Position, item.ItemID, item.Count, known.ID, known.Count)
		equal = equal && item.ItemID == known.ID && item.Count == uint64(known.Count)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\n%s to %s, %d views, method %s, certified %t, max_overcount %d\n",
		got.From.Format(time.RFC3339), got.AsOf.Format(time.RFC3339), got.Total, got.Method, got.Certified, got.MaxOvercount)
	if !equal {
		return fmt.Errorf("the served list is not the known truth")
	}
	fmt.Fprintln(d.out, "Equal, position for position.")
	return nil
}
