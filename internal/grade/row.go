package grade

import (
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// FromRow reads a row of table grades: all its columns in their order.
func FromRow(row pgx.CollectableRow) (Grade, error) {
	var g Grade
	var reason *string
	var m nullable
	err := row.Scan(&g.ID, &g.ItemType, &g.Window, &g.From, &g.Until, &g.GradedAt, &g.ExactVersion, &g.ListVersion, &reason,
		&m.method, &m.certified, &m.items, &m.exactItems, &m.recall100, &m.recall1000, &m.shared100, &m.overcount, &m.maxOvercount,
		&m.displacement)
	if err != nil {
		return g, fmt.Errorf("read a grade: %w", err)
	}
	g.From, g.Until, g.GradedAt = g.From.UTC(), g.Until.UTC(), g.GradedAt.UTC()
	if reason != nil {
		g.Reason = *reason
		return g, nil
	}
	g.Measures = &Measures{
		Method: m.method.V, Certified: m.certified.V, Items: m.items.V, ExactItems: m.exactItems.V,
		Recall100: m.recall100.V, Recall1000: m.recall1000.V, Shared100: m.shared100.V,
		Overcount: m.overcount.V, MaxOvercount: m.maxOvercount.V, Displacement: m.displacement.V,
	}
	return g, nil
}

// nullable are the columns of Measures, which are null together.
type nullable struct {
	method                                            sql.Null[string]
	certified                                         sql.Null[bool]
	items                                             sql.Null[int]
	exactItems, overcount, maxOvercount, displacement sql.Null[uint64]
	recall100, recall1000, shared100                  sql.Null[float64]
}
