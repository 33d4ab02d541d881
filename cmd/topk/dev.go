package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func devCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:  "dev",
		RunE: func(*cobra.Command, []string) error { return errors.New("not built yet") },
	}
	cmd.AddCommand(devClickHouseCommand(), devKafkaCommand(), devPostgresCommand())
	return cmd
}
