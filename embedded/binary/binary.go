// Package binary gives tests the topk binary, which they run as real processes. This is the one place that builds it.
package binary

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Variable names the environment variable with the path of a binary that has been built already, so that the packages of
// one `go test` share it. It must be absolute: each package's tests run in their own folder.
const Variable = "TOPK_BINARY"

var path string

// Run is a TestMain: it finds or builds the binary, runs the tests, and returns their exit code.
func Run(m *testing.M) (code int) {
	remove, err := find()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}()
	return m.Run()
}

// Path of the binary. It is there while Run runs the tests, and empty in a package whose TestMain does not call Run.
func Path() string {
	// Asking for the variable and the file tells `go test` that its cached result depends on them.
	_, _ = os.Stat(os.Getenv(Variable))
	return path
}

func find() (remove func() error, err error) {
	if given := os.Getenv(Variable); given != "" {
		if _, err := os.Stat(given); err != nil || !filepath.IsAbs(given) {
			return nil, fmt.Errorf("%s=%s is not the absolute path of a file", Variable, given)
		}
		path = given
		return func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "topk-binary-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the binary: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	path = filepath.Join(dir, "topk")
	if err := os.Chmod(dir, 0o755); err != nil { // some tests run the binary as another user
		return nil, errors.Join(err, remove())
	}
	if out, err := exec.Command("go", "build", "-o", path, "topk/cmd/topk").CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build topk: %w\n%s", err, out), remove())
	}
	return remove, nil
}
