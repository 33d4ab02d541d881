package clickhouse

import (
	"fmt"
	"os"

	"topk/embedded/engines"
)

// LibraryVariable names the library when the flag does not.
const LibraryVariable = "TOPK_LIBCHDB"

// FindLibrary returns the path of libchdb.so: the given one, else that of TOPK_LIBCHDB, else the one among the engines.
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
	path, err := engines.ClickHouse()
	if err != nil {
		return "", fmt.Errorf("%w (or name the library with --lib or %s)", err, LibraryVariable)
	}
	return path, nil
}
