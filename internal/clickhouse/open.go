// Package clickhouse opens connections to ClickHouse over HTTP, the one protocol that the embedded engine and a server
// share.
package clickhouse

import (
	"database/sql"
	"errors"
	"fmt"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Open returns a pool of connections for a DSN such as http://127.0.0.1:18123/topk?username=..&password=... It does no
// I/O.
func Open(dsn string) (driver.Conn, error) {
	options, err := Options(dsn)
	if err != nil {
		return nil, err
	}
	return ch.Open(options)
}

// OpenDB is Open for database/sql, which golang-migrate speaks. change may alter the options before they are used.
func OpenDB(dsn string, change func(*ch.Options)) (*sql.DB, error) {
	options, err := Options(dsn)
	if err != nil {
		return nil, err
	}
	change(options)
	return ch.OpenDB(options), nil
}

// Options reads a DSN. What is neither a server's address nor a credential in it is sent as a setting with every query.
func Options(dsn string) (*ch.Options, error) {
	if dsn == "" {
		return nil, errors.New("ClickHouse DSN is empty: give one such as http://127.0.0.1:18123/topk")
	}
	options, err := ch.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse ClickHouse DSN: %w", err)
	}
	if options.Protocol != ch.HTTP {
		return nil, errors.New("ClickHouse DSN must start with http:// or https://")
	}
	return options, nil
}
