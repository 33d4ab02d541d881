package main

import (
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"topk/api"
)

func apiCommand() *cobra.Command {
	config := api.DefaultConfig()
	command := &cobra.Command{
		Use:   "api",
		Short: "Serve lists over HTTP: published ones from memory, those of other slices on demand",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			registry := prometheus.NewRegistry()
			registry.MustRegister(collectors.NewGoCollector(),
				collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
			log := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("service", "api")
			server, err := api.New(config, log, registry)
			if err != nil {
				return err
			}
			return server.Run(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVar(&config.Listen, "listen", config.Listen, "address to listen on, host:port")
	flags.StringVar(&config.Postgres, "postgres", config.Postgres, "DSN of PostgreSQL")
	flags.StringVar(&config.ClickHouse, "clickhouse", config.ClickHouse,
		"DSN of ClickHouse, over HTTP, from which lists of slices that have none are made on demand; empty makes none")
	flags.DurationVar(&config.StaleAfter, "stale-after", config.StaleAfter,
		"how long a list's next version may be overdue before the list is marked stale; 0 never marks one")
	flags.StringVar(&config.Ingest, "ingest", config.Ingest,
		"URL of an ingestor to pass POST /v1/events and /views on to; empty passes nothing on")
	flags.StringVar(&config.Pairs, "slice-pairs", config.Pairs,
		"pairs of dimensions that are counted, as the rollup worker has them; empty is none")
	flags.Float64Var(&config.TrendFloor, "trend-floor", config.TrendFloor, "views an hour that are not told from a rise, as the rollup worker has it")
	flags.DurationVar(&config.EveryTrend, "every-trend", config.EveryTrend,
		"least time between two lists of items that trend, as the rollup worker has it: one is overdue after twice as long")
	flags.IntVar(&config.Viewers.Min, "min-viewers", config.Viewers.Min,
		"viewers that an item needs in the window of a list that is made on demand, as the rollup worker has it; 0 leaves nothing out")
	flags.DurationVar(&config.Viewers.KeepEvents, "keep-events", config.Viewers.KeepEvents, "life of raw events, as the rollup worker has it; for --min-viewers")
	flags.StringArrayVar(&config.Groups, "group", config.Groups,
		"a union of countries that region= asks for, such as nordics=DK,FI,IS,NO,SE; repeatable; eu is there, and may be replaced")
	return command
}
