// Package dirlock keeps a second process out of a data directory.
package dirlock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// FileName is the file that is locked, inside the directory. It stays there; only the lock on it comes and goes.
const FileName = "LOCK"

// Grace is how long Acquire waits for a holder to go: a process that was just killed needs a moment to vanish, and its
// successor should not fail for that.
const Grace = 5 * time.Second

const pollEvery = 20 * time.Millisecond

// InUseError says who holds the directory.
type InUseError struct {
	Dir string
	PID int // 0 when unknown
}

func (e *InUseError) Error() string {
	holder := "another process"
	if e.PID > 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("data directory %s is in use by %s: stop that, or choose another with --data-dir", e.Dir, holder)
}

// Lock is a held lock. The kernel lets go of it when the last process that holds the open file ends, however it ends.
type Lock struct {
	file *os.File
}

// Acquire makes the directory where it is missing and locks it, waiting up to Grace for a holder to go. It returns
// an *InUseError when somebody else keeps it.
func Acquire(ctx context.Context, dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := wait(ctx, file, dir); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	// The process id is only for the error that a second process prints.
	if err := file.Truncate(0); err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("write lock file: %w", err), file.Close())
		}
	}
	return &Lock{file: file}, nil
}

// File is the open file that carries the lock. A child process that inherits it shares the lock, and keeps it when this
// process is killed.
func (l *Lock) File() *os.File { return l.file }

// Release lets go of the lock, unless a child still has it.
func (l *Lock) Release() error { return l.file.Close() }

func wait(ctx context.Context, file *os.File, dir string) error {
	deadline := time.Now().Add(Grace)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("lock %s: %w", dir, err)
		case time.Now().After(deadline):
			return &InUseError{Dir: dir, PID: holder(file)}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

func holder(file *os.File) int {
	text := make([]byte, 20)
	n, _ := file.ReadAt(text, 0)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	return pid
}
