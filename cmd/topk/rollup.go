package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"topk/internal/list"
	"topk/internal/slice"
	"topk/rollups"
)

func rollupCommand() *cobra.Command {
	config := rollups.DefaultConfig()
	command := &cobra.Command{
		Use:   "rollup",
		Short: "Make the lists and publish them to PostgreSQL",
		Long: "Follows the watermark of the ingestors, counts the most viewed items of every window, and publishes the lists.\n" +
			"Several may run: one works, the others stand by for its lock.",
		Args: cobra.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&config.ClickHouse, "clickhouse", config.ClickHouse, "ClickHouse DSN, over HTTP")
	flags.StringVar(&config.Postgres, "postgres", config.Postgres, "PostgreSQL DSN")
	flags.StringSliceVar(&config.Brokers, "kafka", config.Brokers, "Kafka brokers, host:port, separated by commas")
	flags.StringVar(&config.Listen, "listen", config.Listen, "host:port of /healthz, /readyz and /metrics")
	flags.StringVar(&config.Clock, "clock", config.Clock, "wall, or event to follow recorded data")
	flags.DurationVar(&config.IngestorTimeout, "ingestor-timeout", config.IngestorTimeout, "silence after which an ingestor is taken for dead")
	flags.DurationVar(&config.Builder.VerifyTimeout, "verify-timeout", config.Builder.VerifyTimeout,
		"what counting the candidates may take, before they are estimated")
	flags.Uint64Var(&config.Builder.DuplicateRows, "duplicate-rows", config.Builder.DuplicateRows,
		"events in a window up to which duplicates are looked for across seconds")
	flags.DurationVar(&config.KeepCounts, "keep-counts", config.KeepCounts, "life of landed counts, in event time")
	flags.DurationVar(&config.KeepSketches, "keep-sketches", config.KeepSketches, "life of the summaries of minutes, in event time")
	flags.DurationVar(&config.KeepEvents, "keep-events", config.KeepEvents, "life of raw events, in event time")
	exact := &config.Recount
	flags.DurationVar(&exact.Settle, "recount-settle", exact.Settle, "how long after its end an hour is closed and recounted, in event time")
	flags.DurationVar(&exact.Debounce, "recount-debounce", exact.Debounce, "how long an hour that changed must be quiet before it is recounted")
	flags.DurationVar(&exact.MaxDebounce, "recount-max-debounce", exact.MaxDebounce, "how long an hour that is never quiet waits for its recount")
	flags.DurationVar(&exact.KeepHours, "keep-hours", exact.KeepHours, "life of exact hours, in event time; days are kept for ever")
	flags.DurationVar(&exact.KeepVersions, "keep-recounts", exact.KeepVersions, "life of counts after newer ones have replaced them")
	flags.DurationVar(&exact.Budget, "recount-budget", exact.Budget, "what one statement of a recount may take")
	flags.DurationVar(&config.Grades.KeepLists, "keep-graded-lists", config.Grades.KeepLists,
		"life of the lists of hours' ends, which are graded once the hour is exact and whenever that changes, in event time")
	flags.DurationVar(&config.Grades.KeepGrades, "keep-grades", config.Grades.KeepGrades, "life of grades, in event time")
	flags.StringSliceVar(&config.Charts.Zones, "chart-zones", config.Charts.Zones, "time zones whose every day is charted, separated by commas")
	chartFlags(command, &config.Charts)
	flags.DurationVar(&config.Charts.Every, "chart-every", config.Charts.Every, "least time between two revisions of a chart")
	pairs := slice.DefaultPairs
	flags.StringVar(&pairs, "slice-pairs", pairs, "pairs of dimensions whose slices are kept beside single ones; empty is none")
	flags.IntVar(&config.Slices.Lists, "slice-lists", config.Slices.Lists,
		"slices that have published lists, those of most views; 0 keeps nothing of slices")
	flags.DurationVar(&config.EverySlices, "every-slices", config.EverySlices, "least time between two rounds of lists of slices, which end at whole minutes")
	flags.DurationVar(&config.Slices.EveryTrend, "every-trend", config.Slices.EveryTrend, "least time between two lists of items that trend, in event time")
	flags.Float64Var(&config.Slices.TrendFloor, "trend-floor", config.Slices.TrendFloor, "views an hour that are not told from a rise")
	flags.IntVar(&config.Viewers.Min, "min-viewers", config.Viewers.Min,
		"viewers that an item needs in a list's window; 0 leaves nothing out. Needs events with a viewer: those without are one viewer together")
	every, keep := map[string]*time.Duration{}, map[string]*time.Duration{}
	for _, w := range list.Live {
		every[w.Name] = flags.Duration("every-"+w.Name, config.Every[w.Name], "least time between two builds of "+w.Name)
	}
	flags.DurationVar(&config.EveryLong, "every-long", config.EveryLong, "least time between two builds of 24h, 7d, 30d and all")
	for _, w := range list.Windows {
		keep[w.Name] = flags.Duration("keep-versions-"+w.Name, config.KeepVersions[w.Name], "life of old versions of "+w.Name)
	}
	command.RunE = func(c *cobra.Command, _ []string) error {
		for name, pace := range every {
			config.Every[name] = *pace
		}
		for name, life := range keep {
			config.KeepVersions[name] = *life
		}
		kept, err := slice.ParsePairs(pairs)
		if err != nil {
			return fmt.Errorf("slice-pairs: %w", err)
		}
		config.Slices.Kept = kept
		registry := prometheus.NewRegistry()
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		worker, err := rollups.New(config, slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil)), registry)
		if err != nil {
			return err
		}
		return worker.Run(c.Context())
	}
	return command
}
