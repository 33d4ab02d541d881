// Package clickhouse opens connections to ClickHouse over HTTP, the one protocol that the embedded engine and a server
// share.
package clickhouse

import (
	"fmt"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Open returns a pool of connections for a DSN such as http://127.0.0.1:18123/topk?username=..&password=... It does no
// I/O.
func Open(dsn string) (driver.Conn, error) {
	options, err := ch.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse ClickHouse DSN: %w", err)
	}
	if options.Protocol != ch.HTTP {
		return nil, fmt.Errorf("ClickHouse DSN must start with http:// or https://")
	}
	return ch.Open(options)
}
