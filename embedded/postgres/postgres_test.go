package postgres_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"topk/embedded"
	"topk/embedded/binary"
	"topk/embedded/child"
	"topk/embedded/engines"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

const (
	deadline  = 60 * time.Second
	pollEvery = 20 * time.Millisecond
)

// keeper is `topk dev postgres` on one port and directory, through its restarts.
type keeper struct {
	t       *testing.T
	address string
	dataDir string
	user    *syscall.Credential // nil = the caller
	cmd     *exec.Cmd
	ended   <-chan error
}

func newKeeper(t *testing.T, dataDir string) *keeper {
	port, err := embedded.FreePort()
	require.NoError(t, err)
	k := &keeper{t: t, address: "127.0.0.1:" + strconv.Itoa(port), dataDir: dataDir}
	t.Cleanup(func() {
		if k.cmd != nil {
			_ = k.end(syscall.SIGKILL)
		}
		require.Eventually(t, func() bool { return len(serversOf(dataDir)) == 0 }, deadline, pollEvery, "no orphan")
	})
	return k
}

func (k *keeper) command() *exec.Cmd {
	cmd := exec.Command(binary.Path(), "dev", "postgres", "--listen", k.address, "--data-dir", k.dataDir)
	dir, err := engines.Dir()
	require.NoError(k.t, err)
	cmd.Env = append(os.Environ(), engines.Variable+"="+dir)
	cmd.SysProcAttr = child.DiesWithParent(syscall.SIGKILL) // also when the test panics
	cmd.SysProcAttr.Credential = k.user
	return cmd
}

func (k *keeper) start() {
	k.cmd = k.command()
	k.cmd.Stderr = os.Stderr
	var err error
	k.ended, err = child.Start(k.cmd, nil)
	require.NoError(k.t, err)
	require.Eventually(k.t, func() bool {
		conn, err := k.connect()
		if err != nil {
			return false
		}
		return conn.Close(context.Background()) == nil
	}, deadline, pollEvery)
}

func (k *keeper) end(sig syscall.Signal) error {
	require.NoError(k.t, k.cmd.Process.Signal(sig))
	k.cmd = nil
	return <-k.ended
}

func (k *keeper) connect() (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return pgx.Connect(ctx, fmt.Sprintf("postgres://topk@%s/topk?sslmode=disable", k.address))
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
	k.start()
	require.Equal(t, "UTF8", k.ask("SHOW server_encoding"))
	require.Equal(t, "C", k.ask("SELECT datcollate FROM pg_database WHERE datname = 'topk'"))
	require.Equal(t, "UTC", k.ask("SHOW timezone"))
	require.Equal(t, "on", k.ask("SHOW fsync"))
	require.Equal(t, "127.0.0.1", k.ask("SHOW listen_addresses"))
	require.Empty(t, k.ask("SHOW unix_socket_directories"))
	k.run("CREATE TABLE kept AS SELECT 'हिन्दी' AS word")

	// A kill takes the workers along, and what was committed is there again.
	require.NotEmpty(t, serversOf(k.dataDir))
	require.Error(t, k.end(syscall.SIGKILL))
	require.Eventually(t, func() bool { return len(serversOf(k.dataDir)) == 0 }, deadline, pollEvery)
	k.start()
	require.Equal(t, "हिन्दी", k.ask("SELECT word FROM kept"))

	out, err := k.command().CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), fmt.Sprintf("in use by process %d", k.cmd.Process.Pid))

	// SIGTERM is a fast, clean shutdown, also with somebody connected.
	conn, err := k.connect()
	require.NoError(t, err)
	defer conn.Close(context.Background())
	require.NoError(t, k.end(syscall.SIGTERM))
	require.Empty(t, serversOf(k.dataDir))
}

// A successor that starts at once waits for what the killed one leaves behind.
func TestStartsAtOnceAfterAKill(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	// A first start that was cut short left this.
	require.NoError(t, os.MkdirAll(filepath.Join(k.dataDir, "cluster.new", "base"), 0o700))
	k.start()
	for range 3 {
		require.Error(t, k.end(syscall.SIGKILL))
		k.start()
	}
	require.Equal(t, "1", k.ask("SELECT '1'"))
}

func TestServerThatDiesIsReported(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	k.start()
	server, err := os.ReadFile(filepath.Join(k.dataDir, "cluster", "postmaster.pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.SplitN(string(server), "\n", 2)[0])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Error(t, <-k.ended)
	k.cmd = nil
}

// Root starts the server as nobody; anybody else starts it as they are. The directory may lie in a folder that only the
// caller may enter, as it does in the other tests.
func TestServesAnOrdinaryUser(t *testing.T) {
	dir := t.TempDir()
	k := newKeeper(t, dir)
	if os.Geteuid() == 0 {
		const nobody = 65534
		k.dataDir = filepath.Join(os.TempDir(), filepath.Base(filepath.Dir(dir))+"-user")
		require.NoError(t, os.Mkdir(k.dataDir, 0o700))
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(k.dataDir)) })
		require.NoError(t, os.Chown(k.dataDir, nobody, nobody))
		k.user = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	k.start()
	require.Equal(t, "topk", k.ask("SELECT current_user::text"))
	require.NoError(t, k.end(syscall.SIGTERM))
}
