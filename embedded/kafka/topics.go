package kafka

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ensureTopics makes the topics that are missing.
func ensureTopics(ctx context.Context, c Config, log *slog.Logger) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.Listen))
	if err != nil {
		return fmt.Errorf("make topics: %w", err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	existing, err := admin.ListTopics(ctx, c.Topics...)
	if err != nil {
		return fmt.Errorf("list topics: %w", err)
	}
	for _, topic := range c.Topics {
		if existing.Has(topic) {
			// An item's partition follows from their number, so it never changes under a topic that has records.
			if n := len(existing[topic].Partitions); n != c.Partitions {
				log.Warn("the topic keeps its number of partitions", "topic", topic, "partitions", n, "asked", c.Partitions)
			}
			continue
		}
		if _, err := admin.CreateTopic(ctx, int32(c.Partitions), 1, nil, topic); err != nil {
			return fmt.Errorf("make topic %s: %w", topic, err)
		}
		log.Info("made a topic", "topic", topic, "partitions", c.Partitions)
	}
	return nil
}
