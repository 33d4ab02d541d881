package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func loadCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "load",
		RunE: func(*cobra.Command, []string) error { return errors.New("not built yet") },
	}
}
