package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"topk/internal/feed"
)

func loadCommand() *cobra.Command {
	cfg := feed.LoadConfig{}
	asJSON := false
	command := &cobra.Command{
		Use:   "load",
		Short: "Generate events at a rate and say what was sent",
		Long: `Generates views whose popularity follows a Zipf law, and sends them without waiting for answers. At the end, or after
an interrupt, it prints what was accepted: totals, and the top items with their true counts, to check the lists with.
The same seed and shares draw the same items; event ids differ in every run.`,
		Example: `  topk load --rate 2000
  topk load --rate 100000 --items 10000000 --zipf 1.1 --duration 2m --probe --verify
  topk load --rate 1000 --viral-share 0.2 --late-share 0.01 --duplicate-share 0.02 --bad-share 0.01 --spam-rate 500`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			cfg.Log = slog.New(slog.NewTextHandler(command.ErrOrStderr(), nil))
			return runLoad(command, cfg, asJSON)
		},
	}
	flags := command.Flags()
	flags.StringVar(&cfg.Ingest, "ingest", "http://127.0.0.1:8080", "the ingestor")
	flags.StringVar(&cfg.API, "api", "http://127.0.0.1:8081", "the API, for --probe and --verify")
	flags.Float64Var(&cfg.Rate, "rate", 1000, "events per second")
	flags.DurationVar(&cfg.Duration, "duration", 0, "how long (default until interrupted)")
	flags.Uint64Var(&cfg.Events, "events", 0, "stop after so many events (default no limit)")
	flags.Uint64Var(&cfg.Items, "items", 1_000_000, "distinct items, up to 100 million")
	flags.Float64Var(&cfg.Zipf, "zipf", 1.1, "exponent of popularity; 0 is uniform")
	flags.StringSliceVar(&cfg.ItemTypes, "item-types", []string{"video"}, "item types, to which items are dealt in turn")
	flags.StringVar(&cfg.ViralItem, "viral-item", "viral", "id of an item on top of the others")
	flags.Float64Var(&cfg.ViralShare, "viral-share", 0, "its share of the events")
	flags.Float64Var(&cfg.LateShare, "late-share", 0, "share of events that come late")
	flags.DurationVar(&cfg.LateBy, "late-by", 30*time.Second, "how late they come")
	flags.Float64Var(&cfg.Duplicates, "duplicate-share", 0, "share of events that repeat a recent one, as a retry does")
	flags.Float64Var(&cfg.BadShare, "bad-share", 0, "share of events that must be rejected")
	flags.Float64Var(&cfg.SpamRate, "spam-rate", 0, "events per second on top, each of an item never seen before")
	flags.IntVar(&cfg.Batch, "batch", feed.DefaultLoadBatch, "most events in a request; at a low rate a request holds a tenth of a second")
	flags.IntVar(&cfg.Connections, "connections", 0, "most requests in flight (default enough for answers that take three seconds)")
	flags.Uint64Var(&cfg.Seed, "seed", 1, "of the stream of items")
	flags.DurationVar(&cfg.RetryFor, "retry-for", 30*time.Second, "how long a request is tried again")
	flags.BoolVar(&cfg.Probe, "probe", false, "measure how long an event takes to be in the served 1m list")
	flags.DurationVar(&cfg.ProbeEvery, "probe-every", time.Second, "mean time between two probes")
	flags.BoolVar(&cfg.Verify, "verify", false, "compare the served 1m and 5m lists with the truth afterwards")
	flags.BoolVar(&asJSON, "json", false, "print the report as JSON")
	return command
}

func runLoad(command *cobra.Command, cfg feed.LoadConfig, asJSON bool) error {
	report, err := feed.Load(command.Context(), cfg)
	if report == nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(command.OutOrStdout())
		encoder.SetIndent("", "  ")
		err = errors.Join(err, encoder.Encode(report))
	} else {
		err = errors.Join(err, report.Write(command.OutOrStdout()))
	}
	if err != nil {
		return err
	}
	for _, v := range report.Verified {
		if v.Faults > 0 {
			return fmt.Errorf("verify: the %s list of %s is wrong in %d places", v.Window, v.ItemType, v.Faults)
		}
	}
	return nil
}
