// Command api prepares the benchmark of bench/api.sh: it publishes one list into an empty PostgreSQL, as the rollup worker
// does, and finds free ports.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/list"
)

const startTimeout = time.Minute // PostgreSQL makes its files first

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/api:", err)
		os.Exit(1)
	}
}

func run() error {
	postgres := flag.String("postgres", "", "DSN of an empty database")
	migrations := flag.String("migrations", "migrations/postgres", "folder of the schema")
	ports := flag.Int("ports", 0, "print so many free ports and end")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if *ports > 0 {
		return printPorts(ctx, *ports)
	}
	return publish(ctx, *postgres, *migrations)
}

// printPorts holds all the ports until the last is found, so that they differ.
func printPorts(ctx context.Context, n int) (err error) {
	for range n {
		listener, listenErr := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if listenErr != nil {
			return listenErr
		}
		defer func() { err = errors.Join(err, listener.Close()) }()
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		fmt.Println(port)
	}
	return nil
}

// publish writes the schema and one list of 1,000 items.
func publish(ctx context.Context, dsn, migrations string) (err error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	files, err := filepath.Glob(filepath.Join(migrations, "*.up.sql"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, string(text)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	body, err := json.Marshal(sample())
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `WITH made AS (
			INSERT INTO lists (item_type, window_name, slice, as_of, body)
			VALUES ('video', '1h', 'global', now(), $1) RETURNING version
		)
		INSERT INTO current_lists SELECT 'video', '1h', 'global', version FROM made`, body)
	return err
}

func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	for {
		conn, err := pgx.Connect(ctx, dsn)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// sample is a list with counts and ids as long as real ones.
func sample() *list.List {
	asOf := time.Now().UTC().Truncate(time.Second)
	l := &list.List{
		ItemType: "video", Window: "1h", Slice: list.GlobalSlice, From: asOf.Add(-time.Hour), AsOf: asOf,
		Method: list.MethodVerified, Certified: true, Partial: []string{},
	}
	for i := range list.MaxK {
		count := uint64(2_000_000 / (i + 1))
		l.Total += count
		l.Items = append(l.Items, list.Item{
			Position: i + 1, Rank: i + 1, ItemID: fmt.Sprintf("v_%08x", uint32(i)*2654435761), Count: count, Lower: count, Upper: count,
		})
	}
	return l
}
