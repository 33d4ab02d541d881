package clickhouse_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSessions(t *testing.T) {
	addr := instance(t).Address
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

// What a URL asks for holds for its query; what a statement sets holds for the session.
func TestURLOfASession(t *testing.T) {
	addr := instance(t).Address
	instance(t).Query(t, "CREATE OR REPLACE TABLE by_session (a UInt8) ENGINE = Memory")
	in := func(statement string, more ...string) answer {
		return post(t, addr, statement, append(more, "session_id=url")...)
	}
	get := func(statement string, more ...string) answer {
		return do(t, call{addr: addr, method: http.MethodGet, path: "/", query: values(append(more, "session_id=url", "query="+statement))})
	}
	const question = "SELECT currentDatabase(), getSetting('max_block_size'), getSetting('max_insert_threads')"
	fresh := in(question).body

	require.Equal(t, "1\n", get("SELECT 1").body)
	require.Equal(t, http.StatusOK, in("INSERT INTO by_session VALUES (1)").status, "a GET leaves no readonly behind")
	refused := get("INSERT INTO by_session VALUES (2)")
	require.Equal(t, "164", refused.header.Get("X-ClickHouse-Exception-Code"))
	require.Contains(t, refused.body, "use method POST")
	require.Equal(t, "48", in("SELECT 1", "readonly=2").header.Get("X-ClickHouse-Exception-Code"), "it could not be taken back")

	require.Equal(t, "system\t7\t1\n", in(question, "database=system", "max_block_size=7", "max_insert_threads=1").body)
	require.Equal(t, fresh, in(question).body, "settings and database of a URL hold for its query")
	require.Equal(t, "395", in("SELECT throwIf(1)", "database=system", "max_block_size=7").header.Get("X-ClickHouse-Exception-Code"))
	require.Equal(t, fresh, in(question).body, "also when it fails")
	require.Equal(t, "115", in("SELECT 1", "database=system", "nosuch_setting=7").header.Get("X-ClickHouse-Exception-Code"))
	require.Equal(t, fresh, in(question).body, "also when it does not get to run")

	require.Equal(t, http.StatusOK, in("SET max_block_size = 9, max_insert_threads = 1", "max_block_size=8", "max_threads=3", "database=system").status)
	require.Equal(t, "default\t9\t1\n", in(question).body, "what the statement sets stays")
	require.Equal(t, http.StatusOK, in("USE system", "database=default").status)
	require.Equal(t, "system\t9\t1\n", in(question).body)
	require.Equal(t, "default\t8\t1\n", in(question, "database=default", "max_block_size=8").body)
	require.Equal(t, "system\t9\t1\n", in(question).body)
}
