package enginetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
)

// ClickHouse is a running `topk dev clickhouse`.
type ClickHouse struct {
	*Process
	URL string // http://host:port
	DSN string // for clickhouse-go, database topk
}

// StartClickHouse starts the engine on a fresh directory. kafka may be empty.
func StartClickHouse(t testing.TB, kafka string) *ClickHouse {
	t.Helper()
	address := FreeAddress(t)
	if kafka == "" {
		kafka = FreeAddress(t)
	}
	engine := &ClickHouse{URL: "http://" + address, DSN: "http://" + address + "/topk"}
	data := t.TempDir()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("errors of ClickHouse:\n%s", tail(filepath.Join(data, "log", "clickhouse.err.log")))
		}
	})
	engine.Process = start(t, func(ctx context.Context) error {
		_, err := engine.ask(ctx, "SELECT 1")
		return err
	}, "dev", "clickhouse", "--listen", address, "--data-dir", data, "--kafka", kafka)
	return engine
}

// Query runs one statement in database default and returns what it answers, tab-separated.
func (c *ClickHouse) Query(t testing.TB, query string) string {
	t.Helper()
	answer, err := c.ask(context.Background(), query)
	require.NoError(t, err, query)
	return answer
}

// Try is Query for statements that may fail.
func (c *ClickHouse) Try(query string) (string, error) { return c.ask(context.Background(), query) }

func (c *ClickHouse) ask(ctx context.Context, query string) (string, error) {
	parameters := url.Values{"default_format": {"TSV"}, "wait_end_of_query": {"1"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/?"+parameters.Encode(), strings.NewReader(query))
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // it has been read to its end
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %d: %s", response.StatusCode, answer)
	}
	return strings.TrimSuffix(string(answer), "\n"), nil
}

// StartPostgres starts PostgreSQL on a fresh directory and returns its DSN.
func StartPostgres(t testing.TB) string {
	t.Helper()
	address := FreeAddress(t)
	dsn := fmt.Sprintf("postgres://topk@%s/topk?sslmode=disable", address)
	start(t, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	}, "dev", "postgres", "--listen", address, "--data-dir", t.TempDir())
	return dsn
}

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
