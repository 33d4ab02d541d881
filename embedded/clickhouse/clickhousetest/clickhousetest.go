// Package clickhousetest starts the embedded ClickHouse for tests, as the process that users start. The library never
// gets into the test's own process, so the race detector works.
package clickhousetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
)

// startLimit is how long a start may take on a busy machine: mapping the library reads half a gigabyte.
const startLimit = 60 * time.Second

// Instance is one child process.
type Instance struct {
	Addr    string // host:port of the HTTP interface
	DataDir string
	args    []string
	command *exec.Cmd
	exited  chan error
	output  *lockedBuffer
}

// Start runs `topk dev clickhouse` on a free port and a fresh directory and waits until it answers. args are more
// flags; --listen and --data-dir among them win. The process ends with the test.
func Start(t testing.TB, args ...string) *Instance {
	t.Helper()
	i := New(t, args...)
	require.NoError(t, i.Launch(t))
	return i
}

// New chooses port and directory and starts nothing.
func New(t testing.TB, args ...string) *Instance {
	t.Helper()
	addr := freeAddr(t)
	dir := t.TempDir()
	i := &Instance{Addr: addr, DataDir: dir, args: append([]string{"dev", "clickhouse", "--listen", addr, "--data-dir", dir}, args...)}
	t.Cleanup(func() { i.Kill() })
	return i
}

// Launch starts the process, again after Stop or Kill, with more flags if need be.
func (i *Instance) Launch(t testing.TB, args ...string) error {
	t.Helper()
	i.output = &lockedBuffer{}
	i.command = exec.Command(Binary(t), append(i.args, args...)...)
	i.command.Env = append(os.Environ(), "TOPK_LIBCHDB="+libraryPath())
	i.command.Stdout, i.command.Stderr = i.output, i.output
	require.NoError(t, i.command.Start())
	i.exited = make(chan error, 1)
	go func(command *exec.Cmd, exited chan error) { exited <- command.Wait() }(i.command, i.exited)
	deadline := time.Now().Add(startLimit)
	for time.Now().Before(deadline) {
		if response, err := http.Get("http://" + i.Addr + "/ping"); err == nil {
			response.Body.Close()
			return nil
		}
		select {
		case err := <-i.exited:
			i.command = nil
			return fmt.Errorf("clickhouse ended before it was ready: %w\n%s", err, i.output)
		case <-time.After(20 * time.Millisecond):
		}
	}
	i.Kill()
	return fmt.Errorf("clickhouse was not ready after %s:\n%s", startLimit, i.output)
}

// Stop sends SIGTERM and returns how the process ended.
func (i *Instance) Stop() error { return i.end(syscall.SIGTERM) }

// Kill sends SIGKILL.
func (i *Instance) Kill() { _ = i.end(syscall.SIGKILL) }

func (i *Instance) end(signal syscall.Signal) error {
	if i.command == nil {
		return nil
	}
	if err := i.command.Process.Signal(signal); err != nil {
		return err
	}
	err := <-i.exited
	i.command = nil
	return err
}

// PID is the child's process id.
func (i *Instance) PID() int { return i.command.Process.Pid }

// Output is what the process wrote.
func (i *Instance) Output() string { return i.output.String() }

// URL is the HTTP interface, for a database.
func (i *Instance) URL(database string) string { return "http://" + i.Addr + "/" + database }

// Open connects clickhouse-go.
func (i *Instance) Open(t testing.TB, change ...func(*ch.Options)) driver.Conn {
	t.Helper()
	options := &ch.Options{Protocol: ch.HTTP, Addr: []string{i.Addr}, MaxOpenConns: 32}
	for _, f := range change {
		f(options)
	}
	conn, err := ch.Open(options)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Query runs one statement by POST and returns its answer, which must be a success.
func (i *Instance) Query(t testing.TB, statement string) string {
	t.Helper()
	response, err := http.Post("http://"+i.Addr+"/", "text/plain", strings.NewReader(statement))
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s\n%s", statement, body)
	return strings.TrimSuffix(string(body), "\n")
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "topk-binary")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "topk")
	command := exec.CommandContext(context.Background(), "go", "build", "-o", path, "./cmd/topk")
	command.Dir = moduleRoot()
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build topk: %w\n%s", err, output)
	}
	return path, nil
})

// Binary builds cmd/topk once per test process. Remove takes it away.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := build()
	require.NoError(t, err)
	return path
}

// Remove deletes what Binary built; call it at the end of TestMain.
func Remove() {
	if path, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
}

func moduleRoot() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

func libraryPath() string {
	if path := os.Getenv("TOPK_LIBCHDB"); path != "" {
		return path
	}
	matches, _ := filepath.Glob(filepath.Join(moduleRoot(), "embedded", "node_modules", "@chdb", "*", "libchdb.so"))
	if len(matches) == 0 {
		return ""
	}
	return matches[0]
}

func freeAddr(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// lockedBuffer is written by the child's pipes and read by the test.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
