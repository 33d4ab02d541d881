package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func rollupCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "rollup",
		RunE: func(*cobra.Command, []string) error { return errors.New("not built yet") },
	}
}
