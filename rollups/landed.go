package rollups

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// sign is what landed for one item type in one second. Equal signs are the same views of the same messages: print is a
// fingerprint of them, since equal totals alone may be one message twice in place of two.
type sign struct {
	views, print uint64
	byHand       uint64 // views written by hand, which are not in the others
}

// landed are signs by second, in epoch seconds, and item type.
type landed map[int64]map[string]sign

func (l landed) put(second int64, itemType string, s sign) {
	if l[second] == nil {
		l[second] = map[string]sign{}
	}
	l[second][itemType] = s
}

// within adds up the views of s by item type.
func (l landed) within(s span) map[string]uint64 {
	sums := map[string]uint64{}
	for second := range s.seconds() {
		for itemType, sign := range l[second] {
			sums[itemType] += sign.views
		}
	}
	return sums
}

// raise takes in what was counted beyond what landed: rows of a block that landed does not show yet.
func (l landed) raise(counted landed) {
	for second, types := range counted {
		for itemType, c := range types {
			s := l[second][itemType]
			if s.byHand == 0 && c.views > s.views {
				s.views = c.views
				l.put(second, itemType, s)
			}
		}
	}
}

// since is what landed in the window after the build began.
func (l landed) since(q question) map[string]uint64 {
	window := span{q.from, q.asOf}
	late, before := l.within(window), q.landed.within(window)
	for itemType := range late {
		late[itemType] -= min(late[itemType], before[itemType])
	}
	return late
}

func readLanded(ctx context.Context, conn driver.Conn, types []string, s span) (landed, error) {
	found := landed{}
	p := parameters{"types": types, "from": s.from, "until": s.until}
	err := read(ctx, conn, "landed", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var second time.Time
		var at sign
		if err := r.Scan(&itemType, &second, &at.views, &at.print, &at.byHand); err != nil {
			return err
		}
		found.put(second.Unix(), itemType, at)
		return nil
	})
	return found, err
}
