package rollups

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

// combination is a row of a table of combined summaries without its items: one in place of many.
type combination struct {
	table    string
	itemType string
	bucket   time.Time
	block    uint64   // its name
	absorbed []uint64 // names of the rows that it stands for
	applied  uint64   // their views
}

// combinations reads what stands for buckets in s, each kind once.
func combinations(ctx context.Context, conn driver.Conn, table string, s span) ([]combination, error) {
	if !s.from.Before(s.until) {
		return nil, nil
	}
	var found []combination
	p := parameters{"table": table, "slice": list.GlobalSlice, "from": s.from, "until": s.until}
	err := read(ctx, conn, "combined", p, questionBudget, func(r driver.Rows) error {
		c := combination{table: table}
		if err := r.Scan(&c.itemType, &c.bucket, &c.block, &c.absorbed, &c.applied); err != nil {
			return err
		}
		c.bucket = c.bucket.UTC()
		found = append(found, c)
		return nil
	})
	return disjoint(found), err
}

// disjoint keeps combinations that share nothing, those of most views first. A bucket is combined again with all it has when
// more arrives, and by two workers when the lock changes hands meanwhile: of such rows one counts. What the others stood for
// besides is still there under its own name.
func disjoint(all []combination) []combination {
	slices.SortFunc(all, func(a, b combination) int {
		return cmp.Or(cmp.Compare(b.applied, a.applied), cmp.Compare(a.block, b.block))
	})
	taken := map[uint64]bool{}
	return slices.DeleteFunc(all, func(c combination) bool {
		if slices.ContainsFunc(c.absorbed, func(block uint64) bool { return taken[block] }) {
			return true
		}
		for _, block := range c.absorbed {
			taken[block] = true
		}
		return false
	})
}

// absorbed are the names of all rows that these stand for.
func absorbed(combined []combination) map[uint64]bool {
	names := map[uint64]bool{}
	for _, c := range combined {
		for _, block := range c.absorbed {
			names[block] = true
		}
	}
	return names
}
