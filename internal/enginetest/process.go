// Package enginetest starts the embedded engines for tests, as the processes that users start. The engines never get into
// the test's own process, so the race detector works; they end with it, however it ends.
//
// The package's TestMain is os.Exit(binary.Run(m)), with topk/embedded/binary.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/embedded"
	"topk/embedded/binary"
	"topk/embedded/child"
	"topk/embedded/engines"
)

const (
	readyTimeout = 90 * time.Second // a loaded machine starts an engine in several seconds
	probeTimeout = 5 * time.Second  // for one look whether it is ready
	stopTimeout  = 60 * time.Second // PostgreSQL takes up to 27 s in the worst case
	pollInterval = 20 * time.Millisecond
	logTail      = 8 << 10 // bytes of an engine's log that a failed test shows
)

// Command is the topk binary with arguments, for commands that end by themselves. It finds the engines wherever the test
// runs.
func Command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, binary.Path(), arguments...)
	command.Env = os.Environ()
	if dir, err := engines.Dir(); err == nil {
		command.Env = append(command.Env, engines.Variable+"="+dir)
	}
	command.SysProcAttr = child.DiesWithParent(syscall.SIGKILL) // also when the test panics or runs out of time
	return command
}

// FreeAddress is a loopback address that nothing listens on and that no outgoing connection takes.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := embedded.FreePort()
	require.NoError(t, err)
	return net.JoinHostPort(embedded.Host, strconv.Itoa(port))
}

// Process is the topk binary at work, through its restarts.
type Process struct {
	Credential *syscall.Credential // whom it runs as; nil = the caller

	arguments []string
	ready     func(context.Context) error
	log       string // path of the file with what it has written

	mu      sync.Mutex
	command *exec.Cmd // nil when it does not run
	ended   <-chan error
}

// New prepares a process that ends with the test, and starts nothing. ready says whether it can be used.
func New(t testing.TB, ready func(context.Context) error, arguments ...string) *Process {
	t.Helper()
	require.NotEmpty(t, binary.Path(), "TestMain must call binary.Run")
	p := &Process{arguments: arguments, ready: ready, log: filepath.Join(t.TempDir(), "log")}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("log of topk %v:\n%s", arguments, tail(p.log))
		}
	})
	return p
}

// Command is the process as Launch would start it.
func (p *Process) Command(more ...string) *exec.Cmd {
	command := Command(context.Background(), append(p.arguments[:len(p.arguments):len(p.arguments)], more...)...)
	command.SysProcAttr.Credential = p.Credential
	return command
}

// Start launches the process, also after its end, which must succeed.
func (p *Process) Start(t testing.TB, more ...string) {
	t.Helper()
	require.NoError(t, p.Launch(more...))
}

// Launch starts the process, also after its end, with more arguments if need be, and waits until it is ready. One that ends
// before that is an error with what it has written.
func (p *Process) Launch(more ...string) error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	command := p.Command(more...)
	command.Stdout, command.Stderr = log, log
	ended, err := child.Start(command, nil)
	if err := errors.Join(err, log.Close()); err != nil {
		return err
	}
	p.mu.Lock()
	p.command, p.ended = command, ended
	p.mu.Unlock()
	return p.await(ended)
}

func (p *Process) await(ended <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		notReady := p.probe(ctx)
		if notReady == nil {
			return nil
		}
		select {
		case err := <-ended:
			p.mu.Lock()
			p.command = nil
			p.mu.Unlock()
			return fmt.Errorf("topk %v ended before it was ready: %w\n%s", p.arguments, err, tail(p.log))
		case <-ctx.Done():
			p.Kill()
			return fmt.Errorf("topk %v was not ready after %s: %w\n%s", p.arguments, readyTimeout, notReady, tail(p.log))
		case <-ticker.C:
		}
	}
}

func (p *Process) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return p.ready(ctx)
}

// Stop ends the process by a signal, waits until it is gone, and returns how it ended. One that does not run is left alone.
func (p *Process) Stop(signal syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.command == nil {
		return nil
	}
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	command := p.command
	p.command = nil
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case err := <-p.ended:
		return err
	case <-timer.C:
		err := command.Process.Kill()
		return errors.Join(fmt.Errorf("topk %v did not end within %s", p.arguments, stopTimeout), err, <-p.ended)
	}
}

// Kill ends the process by SIGKILL.
func (p *Process) Kill() { _ = p.Stop(syscall.SIGKILL) } // the error says that it was killed

// Wait waits until the process has ended by itself, and returns how.
func (p *Process) Wait() error {
	err := <-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command = nil
	return err
}

// PID is the process's id. It must be running.
func (p *Process) PID() int { return p.command.Process.Pid }

// Output is what the process has written, in all its runs.
func (p *Process) Output(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(p.log)
	require.NoError(t, err)
	return string(text)
}

// tail is the end of a file.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-logTail):])
}
