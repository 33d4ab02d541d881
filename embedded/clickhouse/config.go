package clickhouse

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"
)

// Bounds of the service. They keep one machine usable; a query that needs more belongs on a real server.
const (
	// DefaultMaxQueries run at once. Each holds an engine connection and a thread; two cores gain nothing from more.
	DefaultMaxQueries = 16
	// maxQueued requests wait for a running one to end, for at most maxQueueWait; more are refused at once with 503.
	maxQueued    = 128
	maxQueueWait = 30 * time.Second
	// maxQuerySize is ClickHouse's own default for max_query_size; a request may raise it to maxQuerySizeAllowed.
	maxQuerySize        = 256 << 10
	maxQuerySizeAllowed = 64 << 20
	// maxQueryID bounds the caller's id, which is added to the statement as a comment of at most maxMarkerSize bytes.
	maxQueryID    = 1 << 10
	maxMarkerSize = 4 << 10
	// maxBufferedResult bounds a result that is kept whole because the caller asked for wait_end_of_query.
	maxBufferedResult = 256 << 20
	// holdbackSize is how much of a result waits for more before the status is sent: ClickHouse's own buffer.
	holdbackSize = 1 << 20
	// pipeChunk is how much of a result is read from the engine at a time.
	pipeChunk = 256 << 10
	// maxHeaderBytes holds the URL, hence queries in it: ClickHouse's http_max_uri_size.
	maxHeaderBytes = 1 << 20
	// maxSessions are kept for clients that send session_id, each with an engine connection of its own.
	maxSessions = 64
	// insertChunk is how much of a body is handed to the engine at a time.
	insertChunk = 1 << 20
	// maxDrained is what is still read of the body of a failed insert, so that the client gets to read the error.
	maxDrained = 64 << 20
	// bodyIdleTimeout ends a request whose body stalls; it would hold a query slot for ever.
	bodyIdleTimeout = 60 * time.Second
	// shutdownGrace is how long running queries may go on after a stop; then they are cancelled, and after
	// shutdownLimit the process leaves without them.
	shutdownGrace = 5 * time.Second
	shutdownLimit = 15 * time.Second
)

// Config says where the engine lives and what it may use.
type Config struct {
	Listen     string // host:port of the HTTP interface
	DataDir    string // made when absent; one process at a time
	Kafka      string // broker list of the named collection topk_kafka; empty leaves it out
	Password   string // of the user default; empty lets everybody in
	Library    string // path of libchdb.so; empty looks where `make engines` puts it
	MaxQueries int    // queries at once
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var mistakes []error
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		mistakes = append(mistakes, fmt.Errorf("listen: %q is no host:port", c.Listen))
	}
	if c.DataDir == "" {
		mistakes = append(mistakes, errors.New("data-dir: is required"))
	}
	if c.MaxQueries < 1 || c.MaxQueries > 1000 {
		mistakes = append(mistakes, fmt.Errorf("max-queries: %d is not within 1 to 1000", c.MaxQueries))
	}
	return errors.Join(mistakes...)
}

func (c Config) dataPath() string   { return filepath.Join(c.DataDir, "data") }
func (c Config) configPath() string { return filepath.Join(c.DataDir, "config.xml") }
func (c Config) usersPath() string  { return filepath.Join(c.DataDir, "users.xml") }
func (c Config) logPath() string    { return filepath.Join(c.DataDir, "log", "clickhouse.log") }
func (c Config) lockPath() string   { return filepath.Join(c.DataDir, "topk.lock") }
