package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func ingestCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "ingest",
		RunE: func(*cobra.Command, []string) error { return errors.New("not built yet") },
	}
}
