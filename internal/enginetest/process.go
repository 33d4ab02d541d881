// Package enginetest starts the embedded engines as the processes that users start, for tests.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	readyTimeout = 90 * time.Second // a loaded machine starts an engine in several seconds
	stopTimeout  = 30 * time.Second
	pollInterval = 20 * time.Millisecond
	logTail      = 8 << 10 // bytes of an engine's log that a failed test shows
)

var (
	binary string
	root   string // of the module: the engines are found from there
)

// Run builds the topk binary, runs the package's tests with it, and returns their exit status. It is called by TestMain.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "topk-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a directory for the binary:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // what cannot be removed is left to the system's temporary files
	binary = filepath.Join(dir, "topk")
	module, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "find the module:", err)
		return 1
	}
	root = filepath.Dir(strings.TrimSpace(string(module)))
	if output, err := exec.Command("go", "build", "-o", binary, "topk/cmd/topk").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build topk: %v\n%s", err, output)
		return 1
	}
	return m.Run()
}

// Command is the topk binary with arguments, for commands that end by themselves.
func Command(ctx context.Context, arguments ...string) *exec.Cmd {
	return exec.CommandContext(ctx, binary, arguments...)
}

// FreeAddress is a loopback address that nothing listens on.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// Process is an engine that runs.
type Process struct {
	arguments []string
	command   *exec.Cmd
	ended     chan struct{}
	log       string
	ready     func(context.Context) error
}

// start runs the binary until the test ends, and waits until ready answers nil.
func start(t testing.TB, ready func(context.Context) error, arguments ...string) *Process {
	t.Helper()
	require.NotEmpty(t, binary, "TestMain must call enginetest.Run")
	p := &Process{arguments: arguments, ready: ready, log: filepath.Join(t.TempDir(), "log")}
	p.Start(t)
	t.Cleanup(func() {
		p.Stop(t, syscall.SIGTERM)
		if t.Failed() {
			t.Logf("log of topk %v:\n%s", arguments, p.tail())
		}
	})
	return p
}

// Start starts the process again, after Stop.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	p.command = exec.Command(binary, p.arguments...)
	p.command.Stdout, p.command.Stderr = file, file
	p.command.Dir = root
	p.command.SysProcAttr = endWithParent()
	p.ended = make(chan struct{})
	started := make(chan error, 1)
	go run(p.command, file, started, p.ended)
	require.NoError(t, <-started)
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	require.NoError(t, p.await(ctx), "topk %v\n%s", p.arguments, p.tail())
}

// run keeps to one thread for as long as the process lives: the kernel sends the parent's death signal when the thread that
// started the child ends.
func run(command *exec.Cmd, log *os.File, started chan<- error, ended chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := command.Start()
	started <- err
	if err == nil {
		_ = command.Wait() // how it ended is told by its log
	}
	_ = log.Close()
	close(ended)
}

func (p *Process) await(ctx context.Context) error {
	for {
		err := p.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New("the process has ended")
		case <-ctx.Done():
			return err
		case <-time.After(pollInterval):
		}
	}
}

// Stop ends the process by a signal and waits until it is gone.
func (p *Process) Stop(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(signal); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(t, err)
	}
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		require.NoError(t, p.command.Process.Kill())
		<-p.ended
		require.Fail(t, "the process did not end", "topk %v\n%s", p.arguments, p.tail())
	}
}

func (p *Process) tail() string { return tail(p.log) }

// tail is the end of a file.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-logTail):])
}
