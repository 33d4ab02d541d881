package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"topk/embedded/engines"
	"topk/embedded/postgres"
)

func devPostgresCommand() *cobra.Command {
	var c postgres.Config
	cmd := &cobra.Command{
		Use:   "postgres",
		Short: "PostgreSQL for this machine, also for root",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			native, err := engines.Postgres()
			if err != nil {
				return err
			}
			c.Native = native
			return postgres.Run(cmd.Context(), c, slog.New(slog.NewTextHandler(os.Stderr, nil)))
		},
	}
	cmd.Flags().StringVar(&c.Listen, "listen", "127.0.0.1:15432", "loopback address to listen on")
	cmd.Flags().StringVar(&c.DataDir, "data-dir", "", "folder of the database, kept between starts")
	return cmd
}
