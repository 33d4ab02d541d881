package main

import "github.com/spf13/cobra"

func devCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "dev",
		Short: "Run topk and its engines on this machine",
	}
	command.AddCommand(devClickHouseCommand(), devKafkaCommand(), devPostgresCommand())
	return command
}
