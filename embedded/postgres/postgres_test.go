package postgres_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"topk/embedded/binary"
	"topk/internal/enginetest"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

const (
	deadline  = 60 * time.Second
	pollEvery = 20 * time.Millisecond
)

// keeper is `topk dev postgres` on one port and directory, through its restarts.
type keeper struct {
	*enginetest.Postgres
	t *testing.T
}

func newKeeper(t *testing.T, dataDir string) *keeper {
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return len(serversOf(dataDir)) == 0 }, deadline, pollEvery, "no orphan")
	})
	return &keeper{t: t, Postgres: enginetest.NewPostgres(t, dataDir)}
}

func (k *keeper) connect() (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return pgx.Connect(ctx, k.DSN)
}

// ask runs a statement that returns one text.
func (k *keeper) ask(query string) string {
	conn, err := k.connect()
	require.NoError(k.t, err)
	defer conn.Close(context.Background())
	var answer string
	require.NoError(k.t, conn.QueryRow(k.t.Context(), query).Scan(&answer))
	return answer
}

func (k *keeper) run(statement string) {
	conn, err := k.connect()
	require.NoError(k.t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(k.t.Context(), statement)
	require.NoError(k.t, err)
}

// serversOf finds the processes of PostgreSQL that run on a directory: their working directory is in it.
func serversOf(dataDir string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(target, dataDir) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestServesAndKeepsData(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	k.Start(t)
	require.Equal(t, "UTF8", k.ask("SHOW server_encoding"))
	require.Equal(t, "C", k.ask("SELECT datcollate FROM pg_database WHERE datname = 'topk'"))
	require.Equal(t, "UTC", k.ask("SHOW timezone"))
	require.Equal(t, "on", k.ask("SHOW fsync"))
	require.Equal(t, "127.0.0.1", k.ask("SHOW listen_addresses"))
	require.Empty(t, k.ask("SHOW unix_socket_directories"))
	k.run("CREATE TABLE kept AS SELECT 'हिन्दी' AS word")

	// A kill takes the workers along, and what was committed is there again.
	require.NotEmpty(t, serversOf(k.DataDir))
	require.Error(t, k.Stop(syscall.SIGKILL))
	require.Eventually(t, func() bool { return len(serversOf(k.DataDir)) == 0 }, deadline, pollEvery)
	k.Start(t)
	require.Equal(t, "हिन्दी", k.ask("SELECT word FROM kept"))

	out, err := k.Command().CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), fmt.Sprintf("in use by process %d", k.PID()))

	// SIGTERM is a fast, clean shutdown, also with somebody connected.
	conn, err := k.connect()
	require.NoError(t, err)
	defer conn.Close(context.Background())
	require.NoError(t, k.Stop(syscall.SIGTERM))
	require.Empty(t, serversOf(k.DataDir))
}

// A successor that starts at once waits for what the killed one leaves behind.
func TestStartsAtOnceAfterAKill(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	// A first start that was cut short left this.
	require.NoError(t, os.MkdirAll(filepath.Join(k.DataDir, "cluster.new", "base"), 0o700))
	k.Start(t)
	for range 3 {
		require.Error(t, k.Stop(syscall.SIGKILL))
		k.Start(t)
	}
	require.Equal(t, "1", k.ask("SELECT '1'"))
}

func TestServerThatDiesIsReported(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	k.Start(t)
	server, err := os.ReadFile(filepath.Join(k.DataDir, "cluster", "postmaster.pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.SplitN(string(server), "\n", 2)[0])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Error(t, k.Wait())
}

// Root starts the server as nobody; anybody else starts it as they are. The directory may lie in a folder that only the
// caller may enter, as it does in the other tests.
func TestServesAnOrdinaryUser(t *testing.T) {
	dir := t.TempDir()
	var user *syscall.Credential
	if os.Geteuid() == 0 {
		const nobody = 65534
		dir = filepath.Join(os.TempDir(), filepath.Base(filepath.Dir(dir))+"-user")
		require.NoError(t, os.Mkdir(dir, 0o700))
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		require.NoError(t, os.Chown(dir, nobody, nobody))
		user = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	k := newKeeper(t, dir)
	k.Credential = user
	k.Start(t)
	require.Equal(t, "topk", k.ask("SELECT current_user::text"))
	require.NoError(t, k.Stop(syscall.SIGTERM))
}
