package embedded

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"topk/embedded/child"
	"topk/embedded/engines"
)

const (
	stopGrace = 30 * time.Second // between SIGTERM and SIGKILL: PostgreSQL takes up to 27 s in the worst case
	killGrace = 5 * time.Second  // after SIGKILL; only a process stuck in the kernel needs it

	// maxLogBytes is when a log file is moved aside at the start of its service, to be overwritten at the next time.
	maxLogBytes = 32 << 20
)

// process is one run of a service or step.
type process struct {
	name    string
	pid     int
	logPath string
	logFrom int64         // where this run begins in the log file
	done    chan struct{} // closed when it has ended and been waited for
	err     error         // what Wait said; valid after done

	expected atomic.Bool // somebody here has asked for its end
}

// CrashError is a child that ended unasked.
type CrashError struct {
	Service  string
	Status   string // "exit status 1", "signal: killed"
	LogPath  string
	LastLogs string
}

func (e *CrashError) Error() string {
	return fmt.Sprintf("%s ended: %s; the end of %s:\n%s", e.Service, e.Status, e.LogPath, e.LastLogs)
}

// launch starts a command of the topk binary in its own process group, so that a Ctrl-C in the terminal reaches only the
// stack's owner, which stops its children in order.
func launch(name, binary, logDir string, args []string) (*process, error) {
	p := &process{name: name, logPath: filepath.Join(logDir, name+".log"), done: make(chan struct{})}
	log, err := openLog(p.logPath)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // only the child writes to it
	if p.logFrom, err = log.Seek(0, 2); err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = os.Environ()
	if dir, err := engines.Dir(); err == nil { // the binary may stand elsewhere, as in tests
		cmd.Env = append(cmd.Env, engines.Variable+"="+dir)
	}
	cmd.SysProcAttr = child.DiesWithParent(syscall.SIGKILL)
	cmd.SysProcAttr.Setpgid = true
	ended, err := child.Start(cmd, nil)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.pid = cmd.Process.Pid
	go func() {
		p.err = <-ended
		close(p.done)
	}()
	return p, nil
}

func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogBytes {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
}

func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// stop asks the process to end, waits, and kills its group if it does not.
func (p *process) stop() error {
	p.expected.Store(true)
	if !p.alive() {
		return nil
	}
	// A stopped process gets SIGTERM only when it goes on.
	if err := errors.Join(p.signal(syscall.SIGTERM), p.signal(syscall.SIGCONT)); err != nil {
		return err
	}
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("%s did not stop cleanly: %s\n%s", p.name, p.status(), p.lastWords())
		}
		return nil
	case <-time.After(stopGrace):
	}
	if err := syscall.Kill(-p.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	select {
	case <-p.done:
		return fmt.Errorf("%s did not stop within %s and was killed\n%s", p.name, stopGrace, p.lastWords())
	case <-time.After(killGrace):
		return fmt.Errorf("%s does not end, not even by SIGKILL: process %d", p.name, p.pid)
	}
}

// signal goes to the process, and SIGSTOP and SIGCONT to everything it has started too.
func (p *process) signal(sig syscall.Signal) error {
	if !p.alive() {
		return nil
	}
	targets := []int{p.pid}
	if sig == syscall.SIGSTOP || sig == syscall.SIGCONT {
		targets = append(targets, descendants(p.pid)...)
	}
	for _, pid := range targets {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("send %s to %s: %w", sig, p.name, err)
		}
	}
	return nil
}

func (p *process) status() string {
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}

func (p *process) crash() error {
	return &CrashError{Service: p.name, Status: p.status(), LogPath: p.logPath, LastLogs: p.lastWords()}
}
