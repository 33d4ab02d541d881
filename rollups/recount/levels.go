package recount

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Level says how many items have how many views.
type Level struct {
	Views uint64
	Items uint64
}

// Levels returns how many items of the cover have how many views, most views first: ranks, ties and totals follow from it. There
// are few: n views in all make sqrt(2n) levels at most. It groups every item of the cover.
func (c *Cover) Levels(ctx context.Context, conn driver.Conn, itemType string, budget time.Duration) (levels []Level, err error) {
	p := c.Parameters()
	p["type"] = itemType
	err = questions.Read(ctx, conn, "levels", p, budget, func(rows driver.Rows) error {
		var l Level
		err := rows.Scan(&l.Views, &l.Items)
		levels = append(levels, l)
		return err
	})
	return levels, err
}
