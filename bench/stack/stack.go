// Package stack starts `topk dev` for a benchmark and watches what its processes take. It reads /proc, so it is for Linux.
package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const (
	readyWithin = 2 * time.Minute // for engines, schema and services to be ready
	stopWithin  = time.Minute     // for the children to stop in reverse
	pollEvery   = 100 * time.Millisecond
	pollWithin  = 5 * time.Second // for ClickHouse to answer a question about itself
)

// Config says which stack to start.
type Config struct {
	Binary     string // topk
	Dir        string // holds the data, the ready file and the log; made when it is not there
	PortOffset int    // moves every default port
}

// Stack is a running `topk dev`.
type Stack struct {
	Endpoints
	PIDs map[string]int // of the services, by name
	PID  int            // of topk dev itself

	command *exec.Cmd
	log     *os.File
	ended   chan error
}

// Endpoints are where the services are reached.
type Endpoints struct {
	ClickHouse string `json:"clickhouse"` // http://host:port/database
	Ingest     string `json:"ingest"`
	API        string `json:"api"`
}

// Start starts a stack with fresh data under cfg.Dir and waits until it is ready.
func Start(ctx context.Context, cfg Config) (*Stack, error) {
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(cfg.Dir, "dev.log"))
	if err != nil {
		return nil, err
	}
	ready := filepath.Join(cfg.Dir, "ready.json")
	command := exec.Command(cfg.Binary, "dev", "--data-dir", filepath.Join(cfg.Dir, "data"), "--ready-file", ready,
		"--port-offset", strconv.Itoa(cfg.PortOffset))
	command.Stdout, command.Stderr = log, log
	// An interrupt at the terminal is for the benchmark, which then stops the stack in order.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s dev: %w", cfg.Binary, err), log.Close())
	}
	s := &Stack{command: command, log: log, ended: make(chan error, 1)}
	go func() { s.ended <- command.Wait() }()
	if err := s.wait(ctx, ready); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// wait reads the ready file when it appears.
func (s *Stack) wait(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		text, err := os.ReadFile(path)
		if err == nil {
			return s.read(text)
		}
		select {
		case err := <-s.ended:
			s.ended <- err
			return fmt.Errorf("topk dev ended before it was ready, see %s: %w", s.log.Name(), err)
		case <-ctx.Done():
			return fmt.Errorf("topk dev is not ready, see %s: %w", s.log.Name(), ctx.Err())
		case <-ticker.C:
		}
	}
}

func (s *Stack) read(text []byte) error {
	ready := struct {
		Endpoints
		PID  int            `json:"pid"`
		PIDs map[string]int `json:"pids"`
	}{}
	if err := json.Unmarshal(text, &ready); err != nil {
		return fmt.Errorf("read the ready file: %w", err)
	}
	s.Endpoints, s.PID, s.PIDs = ready.Endpoints, ready.PID, ready.PIDs
	return nil
}

// Stop asks topk dev to stop and waits for it. The data stays.
func (s *Stack) Stop() error {
	defer func() { _ = s.log.Close() }()
	_ = s.command.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.ended:
		if err != nil {
			return fmt.Errorf("stop topk dev, see %s: %w", s.log.Name(), err)
		}
		return nil
	case <-time.After(stopWithin):
		return errors.Join(fmt.Errorf("topk dev did not stop within %s, see %s", stopWithin, s.log.Name()), s.command.Process.Kill())
	}
}
