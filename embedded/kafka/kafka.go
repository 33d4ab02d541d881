// Package kafka is Kafka for one machine: franz-go's kfake with its log on disk, finished where a crash cut it short.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"topk/embedded/dirlock"
)

const (
	// DefaultPartitions is how many partitions a new topic gets.
	DefaultPartitions = 8

	// MaxPartitions bounds --partitions: each one costs files and a message per flush.
	MaxPartitions = 256

	// DefaultRetentionBytes bounds the log on disk, all topics together. It is also about what is read back after a
	// crash, so it stays well inside a laptop's memory. At 100,000 events a second it holds some minutes, at 100 a
	// second some days.
	DefaultRetentionBytes = 2 << 30

	// MinRetentionBytes keeps a partition from rolling at every flush.
	MinRetentionBytes = 64 << 20

	// retainEvery is how often the log is cut back to its bound.
	retainEvery = 10 * time.Second

	// minSessionTimeout lets a consumer ask for a short session, so that a killed one is forgotten in seconds.
	minSessionTimeout = time.Second

	// foreverMinutes keeps committed offsets for ever (ten years): a data directory may rest for months between two
	// starts, and ClickHouse keeps what it has read for longer than Kafka's seven days.
	foreverMinutes = 10 * 365 * 24 * 60
)

// Config of the embedded Kafka.
type Config struct {
	Listen         string   // loopback host:port
	DataDir        string   // kept between starts
	Topics         []string // made when missing
	Partitions     int      // of a topic that is made now; one that exists keeps its own
	RetentionBytes int64    // of the whole log; the oldest records go first, read or not
	Sync           bool     // fsync every batch: survive a power cut, not only a kill -9
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var errs []error
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		errs = append(errs, fmt.Errorf("listen: %w", err))
	} else if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		// There is no password, and the address is what clients are told to come back to.
		errs = append(errs, fmt.Errorf("listen: %q is not a loopback address such as 127.0.0.1", host))
	}
	if c.DataDir == "" {
		errs = append(errs, errors.New("data-dir: missing"))
	}
	if c.Partitions < 1 || c.Partitions > MaxPartitions {
		errs = append(errs, fmt.Errorf("partitions: %d is not in 1..%d", c.Partitions, MaxPartitions))
	}
	if c.RetentionBytes < MinRetentionBytes {
		errs = append(errs, fmt.Errorf("retention-bytes: %d is less than %d", c.RetentionBytes, MinRetentionBytes))
	}
	if len(c.Topics) == 0 {
		errs = append(errs, errors.New("topics: none"))
	}
	return errors.Join(errs...)
}

// Run serves until ctx ends, then saves its state and returns nil.
func Run(ctx context.Context, c Config, log *slog.Logger) (err error) {
	if err := c.Validate(); err != nil {
		return err
	}
	lock, err := dirlock.Acquire(ctx, c.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()

	intents, err := openIntents(filepath.Join(c.DataDir, intentFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, intents.Close()) }()
	if err := repair(c.DataDir, intents.last, log); err != nil {
		return fmt.Errorf("repair %s: %w", c.DataDir, err)
	}
	if err := intents.clear(); err != nil {
		return err
	}
	cluster, err := open(c, log)
	if err != nil {
		return err
	}
	defer cluster.Close()
	intents.watch(cluster, log)
	if err := ensureTopics(ctx, c, log); err != nil {
		return err
	}
	log.Info("kafka is ready", "listen", c.Listen, "data_dir", c.DataDir, "retention_bytes", c.RetentionBytes, "sync", c.Sync)
	retain(ctx, cluster)
	log.Info("kafka stops")
	return nil
}

// open starts the cluster on its directory. It takes connections when it returns.
func open(c Config, log *slog.Logger) (*kfake.Cluster, error) {
	// The broker's settings are given below at every start. kfake would rather have those of the first start.
	if err := os.Remove(filepath.Join(c.DataDir, "broker_configs.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("drop old broker settings: %w", err)
	}
	options := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ListenFn(func(network, _ string) (net.Listener, error) { return net.Listen(network, c.Listen) }),
		kfake.ClusterID("topk"),
		kfake.DataDir(c.DataDir),
		kfake.DefaultNumPartitions(c.Partitions),
		kfake.GroupMinSessionTimeout(minSessionTimeout),
		kfake.BrokerConfigs(brokerConfigs(c)),
		kfake.WithLogger(logger{log}),
	}
	if c.Sync {
		options = append(options, kfake.SyncWrites())
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		return nil, fmt.Errorf("start kafka: %w", err)
	}
	return cluster, nil
}

// brokerConfigs bounds the log by size alone. Retention by age may empty a partition, and kfake, which knows the next
// offset only by the last record, would start it again at 0 after a crash: readers would miss what comes then.
func brokerConfigs(c Config) map[string]string {
	perPartition := c.RetentionBytes / int64(c.Partitions*len(c.Topics))
	// Whole segments are deleted, so small segments keep the disk near the bound.
	segment := min(max(perPartition/8, 1<<20), 64<<20)
	return map[string]string{
		"log.retention.ms":             "-1",
		"log.retention.bytes":          strconv.FormatInt(perPartition, 10),
		"log.segment.bytes":            strconv.FormatInt(segment, 10),
		"offsets.retention.minutes":    strconv.Itoa(foreverMinutes),
		"group.min.session.timeout.ms": strconv.FormatInt(minSessionTimeout.Milliseconds(), 10),
	}
}

// retain cuts the log back to its bound until ctx ends. kfake does it only when it is told to.
func retain(ctx context.Context, cluster *kfake.Cluster) {
	ticker := time.NewTicker(retainEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			cluster.ApplyRetention()
		}
	}
}
