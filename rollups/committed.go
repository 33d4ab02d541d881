package rollups

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/internal/wire"
)

const (
	// commitsBudget bounds the question to Kafka, which is asked many times a second.
	commitsBudget = 5 * time.Second
	// commitsDial is how long a broker that is away may keep the question waiting.
	commitsDial = 2 * time.Second
)

// commits are the first offsets that ClickHouse has not taken in, by partition. It commits the offsets of a block once
// every view has it, so what lies before is whole; of a block of which only some views are visible, nothing is committed.
type commits map[place]int64

// parameters are three arrays, an element a partition.
func (c commits) parameters(p parameters) parameters {
	topics, partitions, offsets := []string{}, []uint64{}, []uint64{}
	for at, offset := range c {
		topics, partitions = append(topics, at.topic), append(partitions, uint64(at.partition))
		offsets = append(offsets, uint64(max(offset, 0))) // -1: nothing has been committed
	}
	p["topics"], p["partitions"], p["offsets"] = topics, partitions, offsets
	return p
}

// consumers asks Kafka how far ClickHouse's consumer groups have got.
type consumers struct {
	client *kgo.Client
	admin  *kadm.Client
}

func newConsumers(brokers []string) (*consumers, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ClientID("topk-rollup"), kgo.DialTimeout(commitsDial))
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return &consumers{client: client, admin: kadm.NewClient(client)}, nil
}

func (c *consumers) close() { c.client.Close() }

// committed is empty where a group has committed nothing.
func (c *consumers) committed(ctx context.Context) (commits, error) {
	ctx, cancel := context.WithTimeout(ctx, commitsBudget)
	defer cancel()
	found := commits{}
	for group, answer := range c.admin.FetchManyOffsets(ctx, wire.CountsGroup, wire.EventsGroup) {
		if errors.Is(answer.Err, kerr.GroupIDNotFound) {
			continue // ClickHouse has not read yet
		}
		if answer.Err != nil {
			return nil, fmt.Errorf("offsets of consumer group %s: %w", group, answer.Err)
		}
		for topic, partitions := range answer.Fetched {
			for partition, offset := range partitions {
				if offset.Err != nil {
					return nil, fmt.Errorf("offset of %s/%d: %w", topic, partition, offset.Err)
				}
				found[place{topic, uint32(partition)}] = offset.At
			}
		}
	}
	return found, nil
}
