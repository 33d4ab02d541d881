package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"topk/internal/feed"
)

func replayCommand() *cobra.Command {
	cfg := feed.ReplayConfig{}
	strict := false
	command := &cobra.Command{
		Use:   "replay FILE",
		Short: "Send recorded events to an ingestor",
		Long: `Sends recorded events in the order of FILE, CSV or NDJSON, gzipped or not; - reads standard input.

CSV has a header line with seq, ts_ms and item, and may have country, category, language and user. NDJSON has an event
a line, as POST /v1/events takes it. A second replay of a file sends the same event ids: nothing is counted twice.
Events that are rejected are counted and listed by reason; the exit status stays 0 unless --strict is given.`,
		Example: `  topk replay test/testdata/nasa_http/events.csv.gz --clock event --finish
  topk replay events.ndjson --clock wall --shift
  zcat events.csv.gz | topk replay - --speed 60`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			cfg.Path = args[0]
			cfg.Input = command.InOrStdin()
			return runReplay(command, cfg, strict)
		},
	}
	flags := command.Flags()
	flags.StringVar(&cfg.Ingest, "ingest", "http://127.0.0.1:8080", "the ingestor")
	flags.StringVar(&cfg.Clock, "clock", feed.ClockEvent, "the clock the ingestor runs on: event or wall")
	flags.StringVar(&cfg.Format, "format", feed.FormatAuto, "auto, csv or ndjson")
	flags.StringVar(&cfg.ItemType, "item-type", "video", "item type of events that name none")
	flags.StringVar(&cfg.IDPrefix, "id-prefix", "", "event ids of CSV rows are this, a dash and seq (default the file's base name)")
	flags.IntVar(&cfg.Batch, "batch", feed.DefaultReplayBatch, "events in a request")
	flags.IntVar(&cfg.InFlight, "in-flight", 0, "requests at once (default 1 on the event clock, 4 on the wall clock)")
	flags.Float64Var(&cfg.Speed, "speed", 0, "times the pace of the data's own clock (default as fast as possible)")
	flags.BoolVar(&cfg.Shift, "shift", false, "move event times so that the last event is now")
	instantVar(flags, &cfg.From, "from", "leave out events before this time, such as 2026-11-29T15:00:00Z, or this date (UTC)")
	instantVar(flags, &cfg.Until, "until", "leave out events at and after this time or date")
	flags.BoolVar(&cfg.Finish, "finish", false, "then send the end of the last event's hour as the final watermark")
	instantVar(flags, &cfg.Watermark, "watermark", "then send this time or date as the watermark")
	flags.DurationVar(&cfg.RetryFor, "retry-for", feed.DefaultRetryFor, "how long a request is tried again")
	flags.BoolVar(&strict, "strict", false, "fail when an event is rejected or a row cannot be read")
	return command
}

func runReplay(command *cobra.Command, cfg feed.ReplayConfig, strict bool) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	bar := progress(cfg.Path, command.ErrOrStderr())
	if bar != nil {
		cfg.Progress = bar
	}
	report, err := feed.Replay(command.Context(), cfg)
	if bar != nil {
		_ = bar.Clear()
	}
	if report != nil && (err == nil || report.Rows > 0) {
		err = errors.Join(err, report.Write(command.OutOrStdout()))
	}
	if err != nil {
		return err
	}
	if strict && report.Rejected+report.Unreadable > 0 {
		return fmt.Errorf("strict: %d events were rejected and %d rows could not be read", report.Rejected, report.Unreadable)
	}
	return nil
}

// progress is a bar over the bytes of the file, or nil when nobody watches.
func progress(path string, stderr io.Writer) *progressbar.ProgressBar {
	screen, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(screen.Fd())) {
		return nil
	}
	size := int64(-1)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription("replay "+path),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}
