// Package binary builds the topk binary for tests that run it as real processes.
package binary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var path string

// Run is a TestMain: it builds the binary, runs the tests, and returns their exit code.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "topk-binary-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // some tests run it as another user
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	path = filepath.Join(dir, "topk")
	if out, err := exec.Command("go", "build", "-o", path, "topk/cmd/topk").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build topk: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// Path of the binary. It is there while Run runs the tests.
func Path() string { return path }
