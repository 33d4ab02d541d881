package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"topk/internal/clickhouse"
	"topk/internal/zone"
	"topk/rollups"
	"topk/rollups/charts"
)

func chartCommand() *cobra.Command {
	defaults := rollups.DefaultConfig()
	config, dsn, postgres, zoneName, date := defaults.Charts, defaults.ClickHouse, defaults.Postgres, zone.Default, ""
	command := &cobra.Command{
		Use:   "chart",
		Short: "Make the charts of one day in any time zone",
		Long: `Counts one calendar day in a time zone from raw events, and stores its charts, one an item type. The rollup worker makes those
of its --chart-zones by itself; this makes any other. From then on the worker keeps it like its own: it becomes final when the
day is over and recounted, and is revised when an hour of it is.

A day that has charts already is counted anew; they change only if the counts do.`,
		Example: "  topk chart --day 2026-11-29 --tz Asia/Kolkata",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			day, err := zone.ParseDay(date)
			if err != nil {
				return fmt.Errorf("day: %w", err)
			}
			if err := config.Validate(); err != nil {
				return err
			}
			conn, err := clickhouse.Open(dsn)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close() }() // the answers have been read
			db, err := pgx.Connect(c.Context(), postgres)
			if err != nil {
				return fmt.Errorf("connect to PostgreSQL: %w", err)
			}
			defer func() { _ = db.Close(context.WithoutCancel(c.Context())) }() // what was stored is committed
			quiet := slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			result, err := charts.New(conn, config, quiet, prometheus.NewRegistry()).Make(c.Context(), own(db), zoneName, day)
			if err != nil {
				return err
			}
			tellCharts(c.OutOrStdout(), day, zoneName, &result)
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&dsn, "clickhouse", dsn, "ClickHouse DSN, over HTTP")
	flags.StringVar(&postgres, "postgres", postgres, "PostgreSQL DSN")
	flags.StringVar(&date, "day", "", "date such as 2026-11-29")
	flags.StringVar(&zoneName, "tz", zoneName, "time zone of the tz database")
	chartFlags(command, &config)
	return command
}

// chartFlags are those that worker and command share.
func chartFlags(command *cobra.Command, config *charts.Config) {
	command.Flags().Uint64Var(&config.Cap, "chart-cap", config.Cap,
		"views of a viewer counted for an item in an hour; 0 counts all. Final charts keep the cap they were made with")
}

// own is a connection that nobody else uses.
func own(conn *pgx.Conn) charts.DB {
	return func(ctx context.Context, f func(context.Context, *pgx.Conn) error) error { return f(ctx, conn) }
}

func tellCharts(out io.Writer, day zone.Day, zoneName string, r *charts.Result) {
	state := "final"
	if r.Provisional {
		state = "provisional, as of " + r.AsOf.Format(time.RFC3339)
	}
	fmt.Fprintf(out, "%s in %s, %s to %s: %s\n", day, zoneName, r.From.Format(time.RFC3339), r.Until.Format(time.RFC3339), state)
	for _, c := range r.Charts {
		fmt.Fprintf(out, "%s: revision %d, %d items of %d views\n", c.ItemType, c.Revision, len(c.Items), c.Total)
	}
	switch {
	case r.Types == 0 && r.Provisional:
		fmt.Fprintln(out, "there are no views yet")
	case r.Types == 0:
		fmt.Fprintln(out, "there were no views")
	case len(r.Charts) == 0:
		fmt.Fprintln(out, "nothing has changed")
	}
}
