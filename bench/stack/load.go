package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"topk/internal/feed"
)

// loadWait is how long a load may take to end after an interrupt: its requests in flight, and its last probes.
const loadWait = 30 * time.Second

// Load runs `topk load` in a process of its own against a stack and returns its report.
func (s *Stack) Load(ctx context.Context, binary string, args ...string) (*feed.LoadReport, error) {
	args = append([]string{"load", "--json", "--ingest", s.Ingest, "--api", s.API}, args...)
	command := exec.CommandContext(ctx, binary, args...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = loadWait
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, os.Stderr
	runErr := command.Run()
	report := &feed.LoadReport{}
	if err := json.Unmarshal(out.Bytes(), report); err != nil {
		return nil, errors.Join(fmt.Errorf("topk load: %w", runErr), fmt.Errorf("read its report: %w", err))
	}
	if runErr != nil {
		return report, fmt.Errorf("topk load: %w", runErr)
	}
	return report, nil
}
