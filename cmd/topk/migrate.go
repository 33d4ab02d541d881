package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"topk/migrations"
)

func migrateCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Apply, reverse or show the schema of ClickHouse and PostgreSQL",
		Long: "Applies the SQL functions and both histories of schema changes, one process at a time: the others wait for\n" +
			"a lock in PostgreSQL. A run that was cut off is completed by the next one.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var config migrations.Config
	flags := command.PersistentFlags()
	flags.StringVar(&config.ClickHouse, "clickhouse", "http://127.0.0.1:18123/topk", "ClickHouse DSN, over HTTP")
	flags.StringVar(&config.Postgres, "postgres", "postgres://topk@127.0.0.1:15432/topk?sslmode=disable", "PostgreSQL DSN")
	flags.DurationVar(&config.LockWait, "lock-wait", time.Minute, "how long to wait for another migration")
	command.AddCommand(migrateUpCommand(&config), migrateDownCommand(&config), migrateStatusCommand(&config))
	return command
}

// newMigrator logs to standard error, so that standard output is the answer alone.
func newMigrator(c *cobra.Command, config *migrations.Config) (*migrations.Migrator, error) {
	return migrations.New(*config, slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil)))
}

func migrateUpCommand(config *migrations.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Bring the schema to the newest version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			migrator, err := newMigrator(c, config)
			if err != nil {
				return err
			}
			report, err := migrator.Up(c.Context())
			if err != nil {
				return err
			}
			if report == (migrations.Report{}) {
				_, err = fmt.Fprintln(c.OutOrStdout(), "nothing to apply: the schema is up to date")
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "applied %d functions, %d steps in ClickHouse, %d in PostgreSQL\n",
				report.Functions, report.ClickHouse, report.Postgres)
			return err
		},
	}
}

func migrateDownCommand(config *migrations.Config) *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "down",
		Short: "Remove the whole schema and all its data",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !yes {
				return errors.New("this deletes every event, count and list: give --yes to do it")
			}
			migrator, err := newMigrator(c, config)
			if err != nil {
				return err
			}
			report, err := migrator.Down(c.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "reversed %d steps in ClickHouse, %d in PostgreSQL, dropped %d functions\n",
				report.ClickHouse, report.Postgres, report.Functions)
			return err
		},
	}
	command.Flags().BoolVar(&yes, "yes", false, "delete all data")
	return command
}

func migrateStatusCommand(config *migrations.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show versions, what is pending, and whether a step was cut off",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			migrator, err := newMigrator(c, config)
			if err != nil {
				return err
			}
			status, err := migrator.Status(c.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), status)
			return err
		},
	}
}
