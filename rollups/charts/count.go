package charts

import (
	"context"
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
	"topk/internal/list"
)

// ErrNoEvents says that raw events of a day were dropped, so that it cannot be counted any more.
var ErrNoEvents = errors.New("its events are not kept any more")

// maxTypes bounds the item types of a day that have a chart: types are a client's text. The busiest have one, as with lists.
const maxTypes = 100

// counted is what was counted of one item type: the views of all its items, and the first ones in order.
type counted struct {
	total uint64
	ids   []string
	views []uint64
}

// count counts a day. Its raw events must be there before and after.
func (m *Maker) count(ctx context.Context, j job, limit uint64) (map[string]counted, error) {
	counts := map[string]counted{}
	if !j.span.viewed {
		return counts, nil
	}
	p := clickhouse.Parameters{"from": j.from, "until": j.asOf, "cap": limit, "k": list.StoredItems, "types": maxTypes}
	err := questions.Read(clickhouse.Patient(ctx), m.conn, "count_day", p, countBudget, func(rows driver.Rows) error {
		var itemType string
		var c counted
		err := rows.Scan(&itemType, &c.total, &c.ids, &c.views)
		counts[itemType] = c
		return err
	})
	if err != nil {
		return nil, err
	}
	after, err := readLedger(ctx, m.conn, j.from)
	if err != nil {
		return nil, err
	}
	if after.span(j.from, j.until).gone {
		return nil, ErrNoEvents
	}
	return counts, nil
}
