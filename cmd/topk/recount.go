package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"topk/internal/clickhouse"
	"topk/rollups/recount"
)

const defaultClickHouse = "http://127.0.0.1:18123/topk"

func recountCommand() *cobra.Command {
	var dsn string
	var hours recount.Range
	command := &cobra.Command{
		Use:   "recount",
		Short: "Count closed hours anew from raw events",
		Long: `Counts every closed hour of [--from, --to) anew from raw events, and brings days and all-time totals up to date. Lists
follow by themselves. Each hour changes at once and whole; readers are never in between.

It may be interrupted at any moment: it then says how to go on. --resume also goes on after a kill: it leaves out the hours
that a run over the same range has done within a week. Hours whose events are not all kept any more keep their counts, unless
--force is given.`,
		Example: `  topk recount --from 2026-01-31T10:00:00Z --to 2026-01-31T12:00:00Z
  topk recount --from 2026-01-31 --to 2026-02-01`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			conn, err := clickhouse.Open(dsn)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close() }() // the answers have been read
			quiet := slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			r := recount.New(conn, recount.DefaultConfig(), quiet, prometheus.NewRegistry())
			hours.Progress = counter(c.ErrOrStderr(), "recount")
			report, err := r.Recount(c.Context(), hours)
			return tellRecount(c.Context(), c.OutOrStdout(), hours, report, err)
		},
	}
	flags := command.Flags()
	flags.StringVar(&dsn, "clickhouse", defaultClickHouse, "ClickHouse DSN, over HTTP")
	instantVar(flags, &hours.From, "from", "first hour: a time such as 2026-11-29T15:00:00Z, or a date for its midnight in UTC")
	instantVar(flags, &hours.Until, "to", "end of the last hour, likewise; a date itself is not in it")
	flags.BoolVar(&hours.Resume, "resume", false, "leave out what a run over the same range has done")
	flags.BoolVar(&hours.Force, "force", false, "count hours whose events are not all kept any more from those that are")
	return command
}

// tellRecount says what was done, and how to go on when that was not all.
func tellRecount(ctx context.Context, out io.Writer, g recount.Range, report recount.RangeReport, err error) error {
	if report.Hours > 0 {
		fmt.Fprintf(out, "recounted %d of %d hours\n", report.Done, report.Hours)
		if report.Skipped > 0 {
			fmt.Fprintf(out, "%d had been done before\n", report.Skipped)
		}
		for _, hour := range report.Kept {
			fmt.Fprintf(out, "kept the counts of %s: not all of its events are kept any more\n", hour.Format(time.RFC3339))
		}
	}
	if ctx.Err() != nil && report.Hours > 0 {
		return fmt.Errorf("interrupted; go on with: topk recount --from %s --to %s",
			report.Next.UTC().Format(time.RFC3339), g.Until.UTC().Format(time.RFC3339))
	}
	return err
}

func verifyCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "verify",
		Short: "Work out anew what is kept, and compare",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	command.AddCommand(verifyTotalsCommand())
	return command
}

func verifyTotalsCommand() *cobra.Command {
	var dsn string
	budget := 10 * time.Minute
	command := &cobra.Command{
		Use:   "totals",
		Short: "Check that days are the sums of their hours, and all time that of its days",
		Long: `Adds up every day from its hours and all time from its days, and compares item by item with what is kept. It prints what
differs; the exit status is 1 then. A recount or a fold at the same time changes what is compared: should something differ,
check once more.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			conn, err := clickhouse.Open(dsn)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close() }() // the answers have been read
			check, err := recount.Verify(c.Context(), conn, budget, counter(c.ErrOrStderr(), "verify"))
			if err != nil {
				return err
			}
			for _, drift := range check.Drifts {
				fmt.Fprintln(c.OutOrStdout(), drift)
			}
			fmt.Fprintf(c.OutOrStdout(), "checked %d hours, %d days, and a total of %d days\n", check.Hours, check.Days, check.Folded)
			if len(check.Drifts) > 0 {
				return fmt.Errorf("%d drifts", len(check.Drifts))
			}
			return nil
		},
	}
	command.Flags().StringVar(&dsn, "clickhouse", defaultClickHouse, "ClickHouse DSN, over HTTP")
	command.Flags().DurationVar(&budget, "budget", budget, "what one question may take")
	return command
}

// counter is a bar over a number of steps, or nil when nobody watches.
func counter(stderr io.Writer, what string) func(done, all int) {
	screen, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(screen.Fd())) {
		return nil
	}
	var bar *progressbar.ProgressBar
	return func(done, all int) {
		if bar == nil {
			bar = progressbar.NewOptions(all,
				progressbar.OptionSetWriter(stderr),
				progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(),
				progressbar.OptionSetPredictTime(true),
				progressbar.OptionClearOnFinish(),
			)
		}
		_ = bar.Set(done) // a bar that cannot be drawn stops nothing
	}
}
