// Package postgres is PostgreSQL for one machine: the server as a child process, made on the first start.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"topk/embedded/dirlock"
)

// Role and Database are made with the server. The role is its superuser: this is a developer's own machine.
const (
	Role     = "topk"
	Database = "topk"
)

// How long each way of stopping is given before the next, rougher one.
const (
	fastGrace      = 15 * time.Second // SIGINT: roll back, checkpoint, stop
	immediateGrace = 6 * time.Second  // SIGQUIT: stop now and recover at the next start; PostgreSQL itself kills its workers after 5 s
)

// Config of the embedded PostgreSQL.
type Config struct {
	Native  string // folder with bin, lib and share
	Listen  string // loopback host:port
	DataDir string // kept between starts
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var errs []error
	if c.Native == "" {
		errs = append(errs, errors.New("native: missing"))
	}
	if c.DataDir == "" {
		errs = append(errs, errors.New("data-dir: missing"))
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		errs = append(errs, fmt.Errorf("listen: %w", err))
	} else if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		errs = append(errs, fmt.Errorf("listen: %q is not a loopback address such as 127.0.0.1; there is no password", host))
	}
	return errors.Join(errs...)
}

// Run serves until ctx ends. It makes the database on the first start. The server's own log goes to standard error.
func Run(ctx context.Context, c Config, log *slog.Logger) (err error) {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.DataDir, err = filepath.Abs(c.DataDir); err != nil {
		return err
	}
	lock, err := dirlock.Acquire(ctx, c.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()

	owner, err := chooseOwner(c.Native, c.DataDir)
	if err != nil {
		return err
	}
	if err := create(ctx, c, owner, log); err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	return serve(ctx, c, owner, lock, log)
}

// clusterDir is PostgreSQL's own folder inside the data directory.
func (c Config) clusterDir() string { return filepath.Join(c.DataDir, "cluster") }

func (c Config) program(name string) string { return filepath.Join(c.Native, "bin", name) }

// settings of the server, as arguments, so that they follow this code and not the first start's.
func (c Config) settings() []string {
	host, port, _ := net.SplitHostPort(c.Listen)
	var args []string
	for _, setting := range []string{
		"listen_addresses=" + host,
		"port=" + port,
		"unix_socket_directories=", // the loopback port is the only door
		"max_connections=64",
		"shared_buffers=64MB",
		"fsync=on",
		"synchronous_commit=on",
		"full_page_writes=on",
		"wal_level=minimal", // nothing replicates from here
		"max_wal_senders=0",
		"min_wal_size=32MB",
		"max_wal_size=256MB",
		"huge_pages=off",
		"io_method=sync", // no helper processes for a few small tables
		"max_logical_replication_workers=0",
		"timezone=UTC",
		"log_timezone=UTC",
		"log_line_prefix=%m [%p] ",
		"logging_collector=off", // standard error is a file already
	} {
		args = append(args, "-c", setting)
	}
	return args
}

// serve runs the server until ctx ends or it dies.
func serve(ctx context.Context, c Config, owner owner, lock *dirlock.Lock, log *slog.Logger) error {
	cmd := exec.Command(c.program("postgres"), append([]string{"-D", c.clusterDir()}, c.settings()...)...)
	cmd.Dir = c.clusterDir()
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	// The server and all its workers hold the lock too. If this process is killed, the next start waits for them.
	cmd.ExtraFiles = []*os.File{lock.File()}

	ended, err := owner.start(cmd)
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	log.Info("postgres starts", "pid", cmd.Process.Pid, "listen", c.Listen, "data_dir", c.DataDir, "owner", owner.String())
	select {
	case err := <-ended:
		return fmt.Errorf("postgres ended unasked: %w", describe(err))
	case <-ctx.Done():
	}
	return stop(cmd.Process, ended, log)
}

// stop asks politely first.
func stop(process *os.Process, ended <-chan error, log *slog.Logger) error {
	for _, step := range []struct {
		signal syscall.Signal
		grace  time.Duration
	}{{syscall.SIGINT, fastGrace}, {syscall.SIGQUIT, immediateGrace}, {syscall.SIGKILL, immediateGrace}} {
		log.Info("postgres stops", "signal", step.signal.String())
		if err := process.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop postgres: %w", err)
		}
		select {
		case err := <-ended:
			if step.signal == syscall.SIGINT {
				return err
			}
			return fmt.Errorf("postgres stopped by %s only: %w", step.signal, describe(err))
		case <-time.After(step.grace):
		}
	}
	return errors.New("postgres does not end")
}

func describe(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}
