package enginetest

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
)

// MaxMessageBytes is the largest message that StartKafka's broker takes.
const MaxMessageBytes = 64 << 20

// StartKafka starts a broker in this process, with topics of that many partitions, and returns its address.
func StartKafka(t testing.TB, partitions int, topics ...string) string {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(int32(partitions), topics...),
		kfake.BrokerConfigs(map[string]string{"message.max.bytes": strconv.Itoa(MaxMessageBytes)}))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs()[0]
}
