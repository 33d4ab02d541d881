package clickhouse

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// lockDir takes the data directory for this process. The kernel lets go of the lock when the process ends, however it
// ends, so there is never a stale one.
func lockDir(config Config) (*os.File, error) {
	file, err := os.OpenFile(config.lockPath(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer func() { _ = file.Close() }() // nothing was written to it
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock data directory %s: %w", config.DataDir, err)
		}
		holder, _ := io.ReadAll(io.LimitReader(file, 32))
		return nil, fmt.Errorf("data directory %s is in use by process %s", config.DataDir, strings.TrimSpace(string(holder)))
	}
	if err := file.Truncate(0); err != nil {
		return nil, errors.Join(fmt.Errorf("lock data directory: %w", err), file.Close())
	}
	if _, err := fmt.Fprintf(file, "%d\n", os.Getpid()); err != nil {
		return nil, errors.Join(fmt.Errorf("lock data directory: %w", err), file.Close())
	}
	return file, nil
}
