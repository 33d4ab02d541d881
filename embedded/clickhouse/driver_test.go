package clickhouse_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
)

var compressions = []ch.CompressionMethod{ch.CompressionNone, ch.CompressionLZ4, ch.CompressionZSTD, ch.CompressionGZIP,
	ch.CompressionDeflate, ch.CompressionBrotli}

func TestClickHouseGo(t *testing.T) {
	for _, method := range compressions {
		t.Run(method.String(), func(t *testing.T) {
			conn := instance(t).Open(t, func(o *ch.Options) { o.Compression = &ch.Compression{Method: method, Level: 3} })
			version, err := conn.ServerVersion()
			require.NoError(t, err)
			require.Contains(t, version.String(), "26.7")
			table := "driver_" + method.String()
			batch(t, conn, table)
			scan(t, conn, table)
			failures(t, conn)
		})
	}
}

const batchRows = 100_000

func batch(t *testing.T, conn driver.Conn, table string) {
	ctx := t.Context()
	require.NoError(t, conn.Ping(ctx))
	require.NoError(t, conn.Exec(ctx, "CREATE OR REPLACE TABLE "+table+` (a UInt32, b String, c DateTime64(3, 'UTC'),
		d LowCardinality(String), e Array(Nullable(String)), f Map(String, UInt64) DEFAULT map()) ENGINE = MergeTree ORDER BY a`))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+table+" (a, b, c, d, e)")
	require.NoError(t, err)
	word := "x"
	for i := range batchRows {
		require.NoError(t, batch.Append(uint32(i), fmt.Sprint(i, "\x00'\\`"), time.UnixMilli(int64(i)), "lc", []*string{nil, &word}))
	}
	require.NoError(t, batch.Send())
}

func scan(t *testing.T, conn driver.Conn, table string) {
	ctx := t.Context()
	var count, sum uint64
	question := "SELECT count(), sum(a) FROM {table:Identifier} WHERE a < {limit:UInt32} AND b != {b:String}"
	require.NoError(t, conn.QueryRow(ctx, question, ch.Named("table", table), ch.Named("limit", 50_000), ch.Named("b", "1\x00'\\`")).Scan(&count, &sum))
	require.Equal(t, uint64(50_000-1), count)
	rows, err := conn.Query(ctx, "SELECT a, b, c, d, e FROM "+table+" ORDER BY a")
	require.NoError(t, err)
	defer rows.Close()
	seen := 0
	for rows.Next() {
		var (
			a    uint32
			b, d string
			c    time.Time
			e    []*string
		)
		require.NoError(t, rows.Scan(&a, &b, &c, &d, &e))
		if a != uint32(seen) || b != fmt.Sprint(seen, "\x00'\\`") || c.UnixMilli() != int64(seen) || d != "lc" || e[0] != nil || *e[1] != "x" {
			t.Fatalf("row %d is %v %q %v %q %v", seen, a, b, c, d, e)
		}
		seen++
	}
	require.NoError(t, rows.Err())
	require.Equal(t, batchRows, seen)
}

func failures(t *testing.T, conn driver.Conn) {
	ctx := t.Context()
	rows, err := conn.Query(ctx, "SELECT throwIf(number = 3000000) FROM numbers(10000000)")
	require.NoError(t, err)
	for rows.Next() {
	}
	var problem *ch.Exception
	require.ErrorAs(t, rows.Err(), &problem, "an error in mid-answer")
	require.Equal(t, int32(395), problem.Code)
	_ = rows.Close() // says the same again
	for _, err := range []error{conn.Exec(ctx, "SELECT nosuch"), conn.QueryRow(ctx, "SELECT nosuch").Err()} {
		require.ErrorAs(t, err, &problem)
		require.Equal(t, int32(47), problem.Code)
	}
	require.NoError(t, conn.Ping(ctx))
}

func TestAsyncInsertIsWritten(t *testing.T) {
	conn := instance(t).Open(t)
	ctx := ch.Context(t.Context(), ch.WithAsync(false))
	require.NoError(t, conn.Exec(ctx, "CREATE OR REPLACE TABLE async (a UInt32) ENGINE = MergeTree ORDER BY a"))
	require.NoError(t, conn.Exec(ctx, "INSERT INTO async VALUES (?)", 7))
	require.NoError(t, conn.Exec(ch.Context(t.Context(), ch.WithAsync(true)), "INSERT INTO async VALUES (8)"))
	require.Equal(t, "2", instance(t).Query(t, "SELECT count() FROM async"))
}

// A query whose context ends stops in the engine too.
func TestContextCancel(t *testing.T) {
	conn := instance(t).Open(t)
	for name, statement := range map[string]string{
		"before the first row": "SELECT sum(sipHash64(number, 'before')) FROM numbers(100000000000)",
		"between rows":         "SELECT number, 'between' FROM numbers(100000000000)",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(ch.Context(t.Context(), ch.WithQueryID("cancel "+name)))
			defer cancel()
			done := make(chan struct{})
			go func() {
				defer close(done)
				rows, err := conn.Query(ctx, statement)
				if err != nil {
					return
				}
				for rows.Next() {
				}
				_ = rows.Close()
			}()
			running := func() bool { return isRunning(t, "cancel "+name) }
			require.Eventually(t, running, 20*time.Second, 10*time.Millisecond)
			cancel()
			<-done
			require.Eventually(t, func() bool { return !running() }, 20*time.Second, 10*time.Millisecond)
		})
	}
}

func isRunning(t *testing.T, id string) bool {
	return instance(t).Query(t, "SELECT count() FROM system.processes WHERE query LIKE '%query_id: "+id+" %' AND query NOT LIKE '%processes%'") != "0"
}

func TestKillQuery(t *testing.T) {
	addr := instance(t).Address
	ended := make(chan answer)
	go func() {
		ended <- post(t, addr, "SELECT sum(sipHash64(number)) FROM numbers(100000000000)", "query_id=to be killed")
	}()
	require.Eventually(t, func() bool { return isRunning(t, "to be killed") }, 20*time.Second, 10*time.Millisecond)
	same := post(t, addr, "SELECT 1", "query_id=to be killed")
	require.Equal(t, "216", same.header.Get("X-ClickHouse-Exception-Code"))
	killed := post(t, addr, "KILL QUERY WHERE query_id = 'to be killed' SYNC")
	require.Contains(t, killed.body, "to be killed")
	got := <-ended
	require.Equal(t, "394", got.header.Get("X-ClickHouse-Exception-Code"), got.body)
	require.Empty(t, post(t, addr, "KILL QUERY WHERE query_id = 'nosuch'").body)
}

// Many at once, each with its own parameters, settings and database: no answer is another's.
func TestConcurrentQueriesAreNotMixed(t *testing.T) {
	node := instance(t)
	for i := range 4 {
		node.Query(t, fmt.Sprintf("CREATE DATABASE IF NOT EXISTS mixed%d", i))
		node.Query(t, fmt.Sprintf("CREATE OR REPLACE TABLE mixed%d.name (v String) ENGINE = Memory AS SELECT 'mixed%d'", i, i))
	}
	var group sync.WaitGroup
	failed := make(chan error, 16)
	for worker := range 16 {
		database := fmt.Sprintf("mixed%d", worker%4)
		conn := node.Open(t, func(o *ch.Options) {
			o.Auth.Database = database
			o.Compression = &ch.Compression{Method: compressions[worker%len(compressions)]}
		})
		group.Add(1)
		go func() {
			defer group.Done()
			for round := range 40 {
				if err := ask(t.Context(), conn, database, worker, round); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
}

func ask(ctx context.Context, conn driver.Conn, database string, worker, round int) error {
	block := 1 + worker*100 + round
	if round%5 == 4 { // failures among them
		if err := conn.Exec(ctx, "SELECT throwIf(number = 100000) FROM numbers(200000)"); err == nil || !strings.Contains(err.Error(), "throwIf") {
			return fmt.Errorf("a query that must fail: %w", err)
		}
	}
	if round%2 == 0 {
		ctx = ch.Context(ctx, ch.WithSettings(ch.Settings{"max_block_size": block}))
	} else {
		block = 65409
	}
	var (
		name, text string
		number     uint64
		setting    string
	)
	want := fmt.Sprintf("w%d r%d", worker, round)
	row := conn.QueryRow(ctx, "SELECT v, {text:String}, {number:UInt64} + sum(number) * 0, toString(getSetting('max_block_size')) FROM name, numbers(1000) AS numbers GROUP BY v",
		ch.Named("text", want), ch.Named("number", worker*1000+round))
	if err := row.Scan(&name, &text, &number, &setting); err != nil {
		return err
	}
	if name != database || text != want || number != uint64(worker*1000+round) || setting != fmt.Sprint(block) {
		return fmt.Errorf("asked %s %s %d, got %s %s %d with block %s", database, want, block, name, text, number, setting)
	}
	return nil
}
