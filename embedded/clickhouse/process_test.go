package clickhouse_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
)

func TestSecondProcessOnTheDirectory(t *testing.T) {
	first := enginetest.StartClickHouse(t, "")
	second := enginetest.NewClickHouse(t, "", "--data-dir", first.DataDir)
	err := second.Launch()
	require.ErrorContains(t, err, fmt.Sprintf("data directory %s is in use by process %d", first.DataDir, first.PID()))
	require.Equal(t, "1", first.Query(t, "SELECT 1"), "the first one goes on")
	first.Kill()
	require.NoError(t, second.Launch(), "a killed process leaves no lock behind")
}

func TestPortInUse(t *testing.T) {
	second := enginetest.NewClickHouse(t, "", "--listen", instance(t).Address) // it is asked on its own port, where nobody answers
	require.ErrorContains(t, second.Launch(), "address already in use")
}

func TestMistakesAreReportedAtOnce(t *testing.T) {
	err := enginetest.NewClickHouse(t, "", "--listen", "nonsense", "--max-queries", "0", "--data-dir", "").Launch()
	require.ErrorContains(t, err, "listen:")
	require.ErrorContains(t, err, "max-queries:")
	require.ErrorContains(t, err, "data-dir:")
}

func TestLibraryIsMissing(t *testing.T) {
	t.Setenv("TOPK_LIBCHDB", "")
	err := enginetest.NewClickHouse(t, "", "--lib", "/nosuch/libchdb.so").Launch()
	require.ErrorContains(t, err, "/nosuch/libchdb.so")
}

// SIGTERM: a short query gets its answer, a long one is cancelled, and the process ends with status 0.
func TestTermStopsCleanly(t *testing.T) {
	node := enginetest.StartClickHouse(t, "")
	node.Query(t, "CREATE TABLE kept (a UInt32) ENGINE = MergeTree ORDER BY a")
	node.Query(t, "INSERT INTO kept SELECT number FROM numbers(1000)")
	short, long := make(chan answer, 1), make(chan answer, 1)
	go func() { short <- post(t, node.Address, "SELECT sleep(2), 'short' FORMAT TSV") }()
	go func() { long <- post(t, node.Address, "SELECT sum(sipHash64(number)) FROM numbers(100000000000)") }()
	require.Eventually(t, func() bool { return node.Query(t, "SELECT count() FROM system.processes") == "3" }, 20*time.Second, 10*time.Millisecond)
	start := time.Now()
	require.NoError(t, node.Stop(syscall.SIGTERM), "exit status 0")
	require.Less(t, time.Since(start), 20*time.Second)
	require.Equal(t, "0\tshort\n", (<-short).body)
	got := <-long
	require.NoError(t, got.err)
	require.Equal(t, "394", got.header.Get("X-ClickHouse-Exception-Code"))
	require.Contains(t, node.Output(t), "clickhouse has stopped")
	require.NoError(t, node.Launch())
	require.Equal(t, "1000", node.Query(t, "SELECT count() FROM kept"))
	log, err := os.ReadFile(filepath.Join(node.DataDir, "log", "clickhouse.log"))
	require.NoError(t, err)
	require.NotContains(t, string(log), "unclean restart")
}

// kill -9 while inserts run: every acknowledged one is there afterwards. (The kernel keeps what a killed process wrote;
// a machine that loses power is another matter, and not one of the embedded mode.)
func TestKillLosesNothingAcknowledged(t *testing.T) {
	node := enginetest.StartClickHouse(t, "")
	node.Query(t, "CREATE TABLE acknowledged (worker UInt32, n UInt32) ENGINE = MergeTree ORDER BY (worker, n)")
	const workers = 4
	var (
		last  [workers]int
		group sync.WaitGroup
	)
	for worker := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := 1; ; n++ {
				response, err := http.Post("http://"+node.Address+"/", "", strings.NewReader(fmt.Sprintf("INSERT INTO acknowledged VALUES (%d, %d)", worker, n)))
				if err != nil {
					return
				}
				response.Body.Close()
				if response.StatusCode != http.StatusOK {
					return
				}
				last[worker] = n
			}
		}()
	}
	require.Eventually(t, func() bool {
		return node.Query(t, "SELECT min(c) > 5 FROM (SELECT countIf(worker = number) AS c FROM acknowledged, numbers(4) AS n GROUP BY number)") == "1"
	},
		30*time.Second, 20*time.Millisecond)
	node.Kill()
	group.Wait()
	require.NoError(t, node.Launch())
	for worker := range workers {
		got := node.Query(t, fmt.Sprintf("SELECT countIf(n <= %d), count() - %d <= 1 FROM acknowledged WHERE worker = %d", last[worker], last[worker], worker))
		require.Equal(t, fmt.Sprintf("%d\t1", last[worker]), got)
	}
}

func TestFilesOfTheDirectory(t *testing.T) {
	node := instance(t)
	for _, name := range []string{"config.xml", "users.xml", "log/clickhouse.log", "topk.lock"} {
		_, err := os.Stat(filepath.Join(node.DataDir, name))
		require.NoError(t, err)
	}
	require.Equal(t, "10M", node.Query(t, "SELECT value FROM system.server_settings WHERE name = 'logger.size'"))
	require.Equal(t, "0", node.Query(t, "SELECT count() FROM system.tables WHERE database = 'system' AND name LIKE '%_log'"))
	require.Equal(t, "10000\ttrue\tfalse\tfalse", node.Query(t, `SELECT getSetting('max_partitions_per_insert_block'), getSetting('do_not_merge_across_partitions_select_final'),
		getSetting('defer_partition_pruning_after_final'), getSetting('async_insert')`))
}

// With one query at a time, others wait, and those that do not fit the queue are told at once.
func TestQueueIsBounded(t *testing.T) {
	node := enginetest.StartClickHouse(t, "", "--max-queries", "1")
	long := make(chan answer, 1)
	go func() {
		long <- post(t, node.Address, "SELECT sum(sipHash64(number)) FROM numbers(100000000000)", "query_id=long")
	}()
	const asked = 160 // more than one running and 128 waiting
	answers := make(chan answer, asked)
	// A status of 503 says that the slot is taken and the queue full, so the long query is running by then.
	for range asked {
		go func() { answers <- post(t, node.Address, "SELECT 1") }()
	}
	full := <-answers
	for full.status == http.StatusOK { // they ran before the long one
		full = <-answers
	}
	require.Equal(t, http.StatusServiceUnavailable, full.status)
	require.Equal(t, "202", full.header.Get("X-ClickHouse-Exception-Code"))
	require.Equal(t, "1", full.header.Get("Retry-After"))
	node.Kill()
	<-long
}
