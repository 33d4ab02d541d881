package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func topCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "top",
		RunE: func(*cobra.Command, []string) error { return errors.New("not built yet") },
	}
}
