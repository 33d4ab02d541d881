package ingestor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/internal/wire"
)

// Errors of a flush.
var (
	// ErrFenced is final: another ingestor of the same name has started, and this one may not write any more.
	ErrFenced = errors.New("another ingestor with this name has started: give each its own --name")
	// ErrPartitions is final at start-up: both topics are partitioned by the same hash.
	ErrPartitions = errors.New("the topics have different numbers of partitions")

	errNotCommitted = errors.New("the transaction was not committed")
	errUnknown      = errors.New("the commit was not confirmed")
)

// producer writes transactions, one at a time, on behalf of one transactional id.
//
// After any failure it drops its client and makes a new one for the next transaction: starting anew is what fences the
// old one, aborts what it left open, and makes late requests of it bounce. So there is one way to recover, and it is the
// one of a restart.
type producer struct {
	cfg    *Config
	log    *slog.Logger
	client *kgo.Client // nil before the first transaction and after a failure
	opts   []kgo.Opt   // further options, of tests
}

func (p *producer) options() []kgo.Opt {
	return append([]kgo.Opt{
		kgo.SeedBrokers(p.cfg.Brokers...),
		kgo.ClientID("topk-ingest"),
		kgo.TransactionalID("topk-ingest-" + p.cfg.Name),
		kgo.TransactionTimeout(txnTimeout),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.Lz4Compression()), // see bench/ingestor.md
		kgo.ProducerLinger(0),
		kgo.RetryTimeout(commitTimeout),
		kgo.DialTimeout(2 * time.Second),
		kgo.MetadataMaxAge(metadataMaxAge),
		kgo.WithLogger(kafkaLog{p.log}),
	}, p.opts...)
}

// connect makes the client and claims the transactional id, which fences every earlier owner.
func (p *producer) connect(ctx context.Context) error {
	if p.client != nil {
		return nil
	}
	client, err := kgo.NewClient(p.options()...)
	if err != nil {
		return fmt.Errorf("making a Kafka client: %w", err)
	}
	if _, _, err := client.ProducerID(ctx); err != nil {
		go client.Close()
		return fmt.Errorf("claiming the transactional id: %w", err)
	}
	p.client = client
	return nil
}

// drop abandons the client. Closing it may wait for the network, which nobody else has to.
func (p *producer) drop() {
	if client := p.client; client != nil {
		p.client = nil
		go func() {
			client.UnsafeAbortBufferedRecords()
			client.Close()
		}()
	}
}

// partitions asks how many partitions both topics have.
func (p *producer) partitions(ctx context.Context) (int, error) {
	if err := p.connect(ctx); err != nil {
		return 0, err
	}
	topics, err := kadm.NewClient(p.client).ListTopics(ctx, wire.EventsTopic, wire.CountsTopic)
	if err == nil {
		err = topics.Error()
	}
	if err != nil {
		return 0, fmt.Errorf("asking for the topics: %w", err)
	}
	events, counts := len(topics[wire.EventsTopic].Partitions), len(topics[wire.CountsTopic].Partitions)
	if events != counts {
		return 0, fmt.Errorf("%w: %s has %d, %s has %d", ErrPartitions, wire.EventsTopic, events, wire.CountsTopic, counts)
	}
	return events, nil
}

// commit writes records in one transaction. nil means that all of them are committed. errNotCommitted means that none is
// or will be. errUnknown means that the end of the transaction was asked for and never confirmed, retries included.
// ErrFenced is final.
func (p *producer) commit(ctx context.Context, records []*kgo.Record) error {
	began := time.Now()
	produceCtx, cancel := context.WithTimeout(ctx, produceTimeout)
	defer cancel()
	if err := p.produce(produceCtx, records); err != nil {
		p.drop()
		return classify(errNotCommitted, err, began)
	}
	commitCtx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	if err := p.client.EndTransaction(commitCtx, kgo.TryCommit); err != nil {
		p.drop()
		return classify(errUnknown, err, began)
	}
	return nil
}

func (p *producer) produce(ctx context.Context, records []*kgo.Record) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	if err := p.client.BeginTransaction(); err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	var mu sync.Mutex
	var failed error
	for _, record := range records {
		p.client.Produce(ctx, record, func(_ *kgo.Record, err error) {
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = err // any of them will do: they share their cause
			}
		})
	}
	if err := p.client.Flush(ctx); err != nil {
		return fmt.Errorf("producing: %w", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if failed != nil {
		return fmt.Errorf("producing: %w", failed)
	}
	return nil
}

// classify tells being fenced by a newer instance from being fenced by the broker for having taken too long: only a
// transaction that has been open for nearly its time-out can have met the latter.
func classify(outcome, err error, began time.Time) error {
	fenced := errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch)
	if fenced && time.Since(began) < txnTimeout*3/4 {
		return fmt.Errorf("%w (%w)", ErrFenced, err)
	}
	return fmt.Errorf("%w: %w", outcome, err)
}

func (p *producer) close() {
	if p.client != nil {
		p.client.Close()
		p.client = nil
	}
}

// kafkaLog passes franz-go's errors to slog. It warns of every dial that fails, and those come back as errors of a flush.
type kafkaLog struct{ log *slog.Logger }

func (kafkaLog) Level() kgo.LogLevel { return kgo.LogLevelError }

func (l kafkaLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	if level == kgo.LogLevelError {
		l.log.Error("kafka: "+msg, keyvals...)
	}
}
