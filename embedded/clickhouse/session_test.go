package clickhouse_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSessions(t *testing.T) {
	addr := instance(t).Addr
	in := func(statement string, more ...string) answer {
		return post(t, addr, statement, append(more, "session_id=s1")...)
	}
	for _, statement := range []string{"USE system", "SET max_block_size = 7", "CREATE TEMPORARY TABLE mine (a UInt8)", "INSERT INTO mine VALUES (1), (2)"} {
		got := in(statement)
		require.Equal(t, http.StatusOK, got.status, got.body)
	}
	const question = "SELECT currentDatabase(), getSetting('max_block_size'), (SELECT sum(a) FROM mine)"
	require.Equal(t, "system\t7\t3\n", in(question).body)
	require.Equal(t, "60", post(t, addr, question).header.Get("X-ClickHouse-Exception-Code"), "other queries see nothing of it")
	require.Equal(t, "60", post(t, addr, question, "session_id=s2").header.Get("X-ClickHouse-Exception-Code"))

	t.Run("one query at a time", func(t *testing.T) {
		ended := make(chan answer)
		go func() {
			ended <- in("SELECT sum(sipHash64(number)) FROM numbers(100000000000)", "query_id=session hog")
		}()
		require.Eventually(t, func() bool { return isRunning(t, "session hog") }, 20*time.Second, 10*time.Millisecond)
		require.Equal(t, "373", in("SELECT 1").header.Get("X-ClickHouse-Exception-Code"))
		post(t, addr, "KILL QUERY WHERE query_id = 'session hog'")
		require.Equal(t, "394", (<-ended).header.Get("X-ClickHouse-Exception-Code"))
		require.Equal(t, "system\t7\t3\n", in(question).body, "a failed query does not end the session")
	})
	t.Run("they end", func(t *testing.T) {
		require.Equal(t, "372", post(t, addr, "SELECT 1", "session_id=nosuch", "session_check=1").header.Get("X-ClickHouse-Exception-Code"))
		post(t, addr, "USE system", "session_id=short", "session_timeout=0.2")
		require.Eventually(t, func() bool {
			return post(t, addr, "SELECT 1", "session_id=short", "session_check=1", "session_timeout=0.01").status != http.StatusOK
		}, 10*time.Second, 300*time.Millisecond)
		require.Equal(t, "374", post(t, addr, "SELECT 1", "session_id=x", "session_timeout=100000").header.Get("X-ClickHouse-Exception-Code"))
	})
}
