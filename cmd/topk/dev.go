package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"topk/embedded"
)

// devOptions are the flags of `topk dev`.
type devOptions struct {
	stack     embedded.Options
	offset    int
	ports     embedded.Ports // as given by the flags of single ports; 0 = by the offset
	readyFile string
	verbose   bool
}

func devCommand() *cobra.Command {
	var o devOptions
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Everything on this machine: the engines, ingestor, rollup worker and API",
		Long: "Everything on this machine: ClickHouse, Kafka and PostgreSQL without servers, and the ingestor, rollup\n" +
			"worker and API on top. It listens on loopback only, and nothing asks for a password. Ctrl-C stops it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDev(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.stack.DataDir, "data-dir", "", "keep the data here (default: a fresh temporary folder, removed at the end)")
	flags.StringVar(&o.stack.Clock, "clock", embedded.ClockWall, "wall, or event for recorded data")
	flags.StringSliceVar(&o.stack.Services, "services", embedded.Services(), "which to start")
	flags.IntVar(&o.offset, "port-offset", 0, "move every default port by this, to run two side by side")
	flags.StringVar(&o.readyFile, "ready-file", "", "write the endpoints here as JSON when everything is ready")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "say what is started and when it is ready")
	defaults := embedded.DefaultPorts(0)
	for _, service := range embedded.Services() {
		flags.IntVar(o.ports.Of(service), service+"-port", 0, fmt.Sprintf("port of %s (default %d, moved by --port-offset)",
			service, *defaults.Of(service)))
	}
	cmd.AddCommand(devClickHouseCommand(), devKafkaCommand(), devPostgresCommand())
	return cmd
}

// runDev starts everything, and stops it when ctx ends or a child does.
func runDev(ctx context.Context, o devOptions, out, logs io.Writer) error {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelInfo
	}
	o.stack.Log = slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: level}))
	o.stack.Ports = embedded.DefaultPorts(o.offset)
	for _, service := range embedded.Services() {
		if port := *o.ports.Of(service); port != 0 {
			*o.stack.Ports.Of(service) = port
		}
	}
	fmt.Fprintln(out, "topk starts ...")
	stack, err := embedded.Start(ctx, o.stack)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			fmt.Fprintln(out, "topk stopped before it was ready")
			return nil
		}
		return err
	}
	err = serveDev(ctx, o, stack, out)
	fmt.Fprintln(out, "topk stops ...")
	return errors.Join(err, stack.Stop())
}

// serveDev tells that the stack is ready and waits for its end.
func serveDev(ctx context.Context, o devOptions, stack *embedded.Stack, out io.Writer) error {
	fmt.Fprint(out, banner(o, stack))
	if o.readyFile != "" {
		if err := writeReadyFile(o.readyFile, stack); err != nil {
			return err
		}
		defer func() { _ = os.Remove(o.readyFile) }() // whoever waited for it has read it
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-stack.Done():
		return err
	}
}

// banner is what a newcomer needs to go on.
func banner(o devOptions, stack *embedded.Stack) string {
	e := stack.Endpoints()
	lines := map[string]string{
		embedded.API:        "API         " + e.API,
		embedded.Ingest:     "ingestor    " + e.Ingest,
		embedded.Rollup:     "rollup      " + e.Rollup + "/metrics",
		embedded.ClickHouse: "ClickHouse  " + e.ClickHouse,
		embedded.Kafka:      "Kafka       " + e.Kafka,
		embedded.Postgres:   "PostgreSQL  " + e.Postgres,
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\ntopk is ready, %s clock\n\n", o.stack.Clock)
	for _, service := range []string{
		embedded.API, embedded.Ingest, embedded.Rollup, embedded.ClickHouse, embedded.Kafka, embedded.Postgres,
	} {
		if stack.PID(service) != 0 {
			fmt.Fprintln(&b, "  "+lines[service])
		}
	}
	kept := "kept for the next start with the same --data-dir"
	if stack.Temporary() {
		kept = "removed at the end; keep it with --data-dir"
	}
	fmt.Fprintf(&b, "  data        %s (%s)\n", stack.DataDir(), kept)
	fmt.Fprintf(&b, "  logs        %s\n", filepath.Join(stack.DataDir(), "log"))
	if stack.PID(embedded.Ingest) == 0 {
		e.Ingest = ""
	}
	if stack.PID(embedded.API) == 0 {
		e.API = ""
	}
	b.WriteString(hints(o.stack.Clock, e))
	fmt.Fprintln(&b, "\nCtrl-C stops everything.")
	return b.String()
}

// hints say what to try first on either clock, as far as there are an ingestor and an API. On the event clock time moves with the
// events alone: a single one of now would make no list, and recorded ones that follow it would be too old.
func hints(clock string, e embedded.Endpoints) string {
	send, read := "Send an event:\n  "+curlEvent(e.Ingest), "1m&k=10"
	if clock == embedded.ClockEvent {
		send = "Replay recorded events, such as those in a checkout of topk:\n" +
			"  bin/topk replay test/testdata/nasa_http/events.csv.gz --ingest " + e.Ingest + " --clock event --finish"
		read = "1h&k=10"
	}
	var b strings.Builder
	if e.Ingest != "" {
		fmt.Fprintf(&b, "\n%s\n", send)
	}
	if e.API != "" {
		fmt.Fprintf(&b, "Read the list a moment later:\n  curl '%s/v1/topk?window=%s'\n", e.API, read)
	}
	return b.String()
}

func curlEvent(ingest string) string {
	return `curl -H 'Content-Type: application/json' ` + ingest + `/v1/events -d ` +
		`'{"events":[{"event_id":"'$(date +%s%N)'","item_id":"v_9HJw3SB","event_time":"'$(date -u +%FT%TZ)'"}]}'`
}

// readyFile is what scripts read.
type readyFile struct {
	embedded.Endpoints
	DataDir string         `json:"data_dir"`
	PID     int            `json:"pid"`
	PIDs    map[string]int `json:"pids"` // by service
}

// writeReadyFile writes it whole or not at all, since a script waits for it to appear.
func writeReadyFile(path string, stack *embedded.Stack) error {
	ready := readyFile{Endpoints: stack.Endpoints(), DataDir: stack.DataDir(), PID: os.Getpid(), PIDs: map[string]int{}}
	for _, service := range embedded.Services() {
		if pid := stack.PID(service); pid != 0 {
			ready.PIDs[service] = pid
		}
	}
	text, err := json.MarshalIndent(ready, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	return nil
}
