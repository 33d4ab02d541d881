package enginetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
)

// ClickHouse is `topk dev clickhouse` on one address and directory.
type ClickHouse struct {
	*Process
	Address string // host:port of the HTTP interface
	DataDir string
	URL     string // http://host:port
	DSN     string // for clickhouse-go, database topk
}

// StartClickHouse starts the engine on a fresh directory and waits until it answers. kafka may be empty. arguments are more
// flags, which win over those given here.
func StartClickHouse(t testing.TB, kafka string, arguments ...string) *ClickHouse {
	t.Helper()
	engine := NewClickHouse(t, kafka, arguments...)
	engine.Start(t)
	return engine
}

// NewClickHouse chooses address and directory and starts nothing.
func NewClickHouse(t testing.TB, kafka string, arguments ...string) *ClickHouse {
	t.Helper()
	if kafka == "" {
		kafka = FreeAddress(t)
	}
	address := FreeAddress(t)
	engine := &ClickHouse{Address: address, DataDir: t.TempDir(), URL: "http://" + address, DSN: "http://" + address + "/topk"}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("errors of ClickHouse:\n%s", tail(filepath.Join(engine.DataDir, "log", "clickhouse.err.log")))
		}
	})
	engine.Process = New(t, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, engine.URL+"/ping", http.NoBody)
		if err != nil {
			return err
		}
		_, err = answer(request)
		return err
	}, append([]string{"dev", "clickhouse", "--listen", address, "--data-dir", engine.DataDir, "--kafka", kafka}, arguments...)...)
	return engine
}

// Open connects clickhouse-go.
func (c *ClickHouse) Open(t testing.TB, change ...func(*ch.Options)) driver.Conn {
	t.Helper()
	options := &ch.Options{Protocol: ch.HTTP, Addr: []string{c.Address}, MaxOpenConns: 32}
	for _, f := range change {
		f(options)
	}
	conn, err := ch.Open(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

// Query runs one statement in database default and returns what it answers, tab-separated.
func (c *ClickHouse) Query(t testing.TB, query string) string {
	t.Helper()
	answer, err := c.Try(query)
	require.NoError(t, err, query)
	return answer
}

// Try is Query for statements that may fail.
func (c *ClickHouse) Try(query string) (string, error) {
	parameters := url.Values{"default_format": {"TSV"}, "wait_end_of_query": {"1"}}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.URL+"/?"+parameters.Encode(), strings.NewReader(query))
	if err != nil {
		return "", err
	}
	text, err := answer(request)
	return strings.TrimSuffix(text, "\n"), err
}

// answer sends a request and reads its answer, which must be a success.
func answer(request *http.Request) (text string, err error) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %d: %s", response.StatusCode, body)
	}
	return string(body), nil
}
