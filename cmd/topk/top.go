package main

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"topk/internal/top"
)

func topCommand() *cobra.Command {
	config := top.DefaultConfig()
	command := &cobra.Command{
		Use:     "top",
		Short:   "Print a list in the terminal",
		Example: "  topk top --window 1m --k 20 --watch\n  topk top --country IN --category music",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return top.Show(command.Context(), config, stdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&config.API, "api", config.API, "base URL of the API")
	flags.StringVar(&config.ItemType, "item-type", config.ItemType, "type of the items")
	flags.StringVar(&config.Window, "window", config.Window, "1m, 5m, 1h, 24h, 7d, 30d or all")
	flags.Var(optional{&config.Slice.Country}, "country", "views from a country, or from any of several: DE,FR,IT; empty is views whose country is not known")
	flags.Var(optional{&config.Slice.Category}, "category", "views of a category, or of any of several")
	flags.Var(optional{&config.Slice.Language}, "language", "views in a language, or in any of several")
	flags.Var(optional{&config.Slice.Region}, "region", "views from a group of countries that the API knows, such as eu")
	flags.IntVar(&config.K, "k", config.K, "number of positions, 1 to 1000")
	flags.Uint64Var(&config.MinCount, "min-count", config.MinCount, "leave out items of fewer views")
	flags.BoolVar(&config.Watch, "watch", config.Watch, "redraw the list each second until interrupted")
	flags.BoolVar(&config.JSON, "json", config.JSON, "print the API's answer as it is")
	return command
}

// optional is a flag that may be given an empty text, which is not the same as leaving it out.
type optional struct{ text **string }

func (o optional) String() string {
	if o.text == nil || *o.text == nil {
		return ""
	}
	return **o.text
}

func (o optional) Set(text string) error {
	*o.text = &text
	return nil
}

func (optional) Type() string { return "string" }

// stdout is standard output, and the terminal that it may be.
func stdout() top.Screen {
	return top.Screen{
		Out:      os.Stdout,
		Terminal: term.IsTerminal(int(os.Stdout.Fd())),
		Size: func() (columns, rows int) {
			columns, rows, _ = term.GetSize(int(os.Stdout.Fd())) // zeros: nothing is cut
			return columns, rows
		},
	}
}
