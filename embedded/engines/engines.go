// Package engines finds the engines that npm brings: ClickHouse as a library, PostgreSQL as binaries.
package engines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Variable names the environment variable that overrides where the engines are looked for.
const Variable = "TOPK_ENGINES"

// ErrMissing says that the engines have not been brought yet.
var ErrMissing = errors.New("engines not found: run `make engines`, or set " + Variable + " to a node_modules folder that has them")

// Dir returns the node_modules folder that holds the engines: $TOPK_ENGINES, else embedded/node_modules above the
// running binary or above the working directory, whichever comes first.
func Dir() (string, error) {
	if dir := os.Getenv(Variable); dir != "" {
		if !isDir(dir) {
			return "", fmt.Errorf("%s=%s is not a folder", Variable, dir)
		}
		return dir, nil
	}
	var starts []string
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		starts = append(starts, filepath.Dir(exe))
	}
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	for _, start := range starts {
		if dir, ok := above(start); ok {
			return dir, nil
		}
	}
	return "", ErrMissing
}

// ClickHouse returns the path of libchdb.so for this platform.
func ClickHouse() (string, error) {
	name := "lib-" + platform()
	if runtime.GOOS == "linux" {
		name += "-gnu"
	}
	return find(filepath.Join("@chdb", name, "libchdb.so"))
}

// Postgres returns the folder with PostgreSQL's bin, lib and share for this platform.
func Postgres() (string, error) {
	return find(filepath.Join("@embedded-postgres", platform(), "native"))
}

func find(path string) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, path)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w (looked for %s)", ErrMissing, path)
	}
	return filepath.EvalSymlinks(path)
}

// platform is the machine in npm's words.
func platform() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return runtime.GOOS + "-" + arch
}

func above(dir string) (string, bool) {
	for {
		if candidate := filepath.Join(dir, "embedded", "node_modules"); isDir(candidate) {
			return candidate, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
