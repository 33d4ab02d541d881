package clickhouse

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// LibraryVariable names the library when the flag does not.
const LibraryVariable = "TOPK_LIBCHDB"

// FindLibrary returns the path of libchdb.so: the given one, else that of TOPK_LIBCHDB, else node_modules beside the
// executable's folder, else under the working directory.
func FindLibrary(given string) (string, error) {
	if given == "" {
		given = os.Getenv(LibraryVariable)
	}
	if given != "" {
		if _, err := os.Stat(given); err != nil {
			return "", fmt.Errorf("libchdb: %w", err)
		}
		return given, nil
	}
	var roots []string
	if executable, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(executable); err == nil {
			executable = real
		}
		roots = append(roots, filepath.Dir(filepath.Dir(executable)))
	}
	if dir, err := os.Getwd(); err == nil {
		roots = append(roots, dir)
	}
	for _, root := range roots {
		path := filepath.Join(root, "embedded", "node_modules", "@chdb", libraryPackage(), "libchdb.so")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("libchdb.so was not found under %v: run `make engines`, or name it with --lib or %s", roots, LibraryVariable)
}

// libraryPackage is the npm package of the platform.
func libraryPackage() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if runtime.GOOS == "darwin" {
		return "lib-darwin-" + arch
	}
	return "lib-linux-" + arch + "-gnu"
}
