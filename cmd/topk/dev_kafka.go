package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"topk/embedded/kafka"
	"topk/internal/wire"
)

func devKafkaCommand() *cobra.Command {
	c := kafka.Config{Topics: []string{wire.EventsTopic, wire.CountsTopic}}
	cmd := &cobra.Command{
		Use:   "kafka",
		Short: "Kafka for this machine, its log on disk",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return kafka.Run(cmd.Context(), c, slog.New(slog.NewTextHandler(os.Stderr, nil)))
		},
	}
	cmd.Flags().StringVar(&c.Listen, "listen", "127.0.0.1:19092", "loopback address to listen on")
	cmd.Flags().StringVar(&c.DataDir, "data-dir", "", "folder of the log, kept between starts")
	cmd.Flags().IntVar(&c.Partitions, "partitions", kafka.DefaultPartitions, "partitions of a topic that is made now")
	cmd.Flags().Int64Var(&c.RetentionBytes, "retention-bytes", kafka.DefaultRetentionBytes,
		"bound of the whole log: beyond it the oldest records go, read or not")
	cmd.Flags().BoolVar(&c.Sync, "sync", true, "fsync every batch, to survive a power cut and not only a kill")
	return cmd
}
