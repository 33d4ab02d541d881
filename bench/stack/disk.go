package stack

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"strings"
)

//go:embed disk.sql
var diskSQL string

// Table is what a table of ClickHouse keeps.
type Table struct {
	Bytes  uint64 // on disk, compressed, without parts that merges have replaced
	Memory uint64 // bytes of its primary keys in memory
	Rows   uint64
}

// Disk returns what each table of ClickHouse keeps, by name.
func (s *Stack) Disk(ctx context.Context) (map[string]Table, error) {
	client := &http.Client{Timeout: pollWithin}
	defer client.CloseIdleConnections()
	body, err := s.query(ctx, client, diskSQL)
	if err != nil {
		return nil, fmt.Errorf("read what the tables keep: %w", err)
	}
	tables := map[string]Table{}
	for line := range strings.Lines(body) {
		var name string
		var t Table
		if _, err := fmt.Sscan(line, &name, &t.Bytes, &t.Memory, &t.Rows); err != nil {
			return nil, fmt.Errorf("read what the tables keep: %q: %w", line, err)
		}
		tables[name] = t
	}
	return tables, nil
}
