package main

import (
	"github.com/spf13/cobra"

	"topk/internal/top"
)

func gradesCommand() *cobra.Command {
	config := top.DefaultGradesConfig()
	command := &cobra.Command{
		Use:   "grades",
		Short: "Say how good published lists were, once their time was counted exactly",
		Long: "Each hour's 1h list, and each day's 24h list, is compared with the exact counts of the same time once there are any.\n" +
			"With --check the exit status is 1 when one of those shown is beyond its limit and no newer grade has replaced it.",
		Example: "  topk grades --since 48h --check",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return top.ShowGrades(command.Context(), config, stdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&config.API, "api", config.API, "base URL of the API")
	flags.StringVar(&config.ItemType, "item-type", config.ItemType, "type of the items; empty for all")
	flags.StringVar(&config.Window, "window", config.Window, "1h or 24h; empty for both")
	flags.StringVar(&config.Since, "since", config.Since, "lists that end then or later: a time such as 2026-11-29T13:00:00Z, a date, or how long ago")
	flags.IntVar(&config.Limit, "limit", config.Limit, "no more than so many, 1 to 1000")
	flags.BoolVar(&config.JSON, "json", config.JSON, "print the API's answer as it is")
	flags.BoolVar(&config.Check, "check", config.Check, "exit with status 1 when an alert stands")
	return command
}
