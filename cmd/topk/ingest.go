package main

import (
	"log/slog"
	"os"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"topk/ingestor"
)

func ingestCommand() *cobra.Command {
	cfg := ingestor.DefaultConfig()
	if host, err := os.Hostname(); err == nil && host != "" {
		cfg.Name = host
	}
	brokers, clock := strings.Join(cfg.Brokers, ","), string(cfg.Clock)
	cmd := &cobra.Command{
		Use:   "ingest",
		Short: "Take events over HTTP and commit them to Kafka",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if os.Getenv("GOMEMLIMIT") == "" {
				debug.SetMemoryLimit(ingestor.MemoryLimitBytes)
			}
			cfg.Brokers, cfg.Clock = strings.Split(brokers, ","), ingestor.Clock(clock)
			reg := prometheus.NewRegistry()
			reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
			in, err := ingestor.New(cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)), reg)
			if err != nil {
				return err
			}
			return in.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&cfg.Name, "name", cfg.Name, "name of this instance, stable over restarts and its own among all ingestors")
	flags.StringVar(&cfg.Listen, "listen", cfg.Listen, "host:port to listen on")
	flags.StringVar(&brokers, "kafka", brokers, "Kafka brokers, host:port separated by commas")
	flags.StringVar(&clock, "clock", clock, "wall for live traffic, event for recorded data")
	flags.DurationVar(&cfg.FlushInterval, "flush-interval", cfg.FlushInterval, "time between transactions; on the wall clock half of it to one and a quarter, to follow seconds")
	flags.DurationVar(&cfg.MaxSkew, "max-skew", cfg.MaxSkew, "how far ahead a time may be before it becomes the ingestor's own (wall clock)")
	flags.DurationVar(&cfg.MaxEventAge, "max-event-age", cfg.MaxEventAge, "how old an event may be")
	flags.DurationVar(&cfg.Disorder, "disorder", cfg.Disorder, "how far events may arrive out of order before they count as late")
	flags.DurationVar(&cfg.IdleTimeout, "idle-timeout", cfg.IdleTimeout, "without events, the watermark follows the wall clock after this")
	return cmd
}
