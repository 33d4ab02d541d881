package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"topk/embedded/clickhouse"
)

func devClickHouseCommand() *cobra.Command {
	var config clickhouse.Config
	command := &cobra.Command{
		Use:   "clickhouse",
		Short: "Run the embedded ClickHouse by itself, with its HTTP interface on loopback",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := config.Validate(); err != nil {
				return err
			}
			logger := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("component", "clickhouse")
			return clickhouse.New(config, logger).Run(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVar(&config.Listen, "listen", "127.0.0.1:18123", "host:port of the HTTP interface")
	flags.StringVar(&config.DataDir, "data-dir", "", "directory of tables, configuration and log; made when absent")
	flags.StringVar(&config.Kafka, "kafka", "127.0.0.1:19092", "brokers of the named collection topk_kafka")
	flags.StringVar(&config.Password, "password", "", "password of the user default; empty asks for none")
	flags.StringVar(&config.Library, "lib", "", "path of libchdb.so; default: "+clickhouse.LibraryVariable+", then where `make engines` puts it")
	flags.IntVar(&config.MaxQueries, "max-queries", clickhouse.DefaultMaxQueries, "queries that run at once; more wait")
	return command
}
