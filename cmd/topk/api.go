package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func apiCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "api",
		RunE: func(*cobra.Command, []string) error { return errors.New("not built yet") },
	}
}
