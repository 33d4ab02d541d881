package recount

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
	"topk/internal/list"
)

// ReadCovers returns the partitions of [from, until) for each from, as far as it is exact, and of all time before until for a from of
// 1970: all as the ledgers say at one moment.
func ReadCovers(ctx context.Context, conn driver.Conn, froms []time.Time, until time.Time) ([]*Cover, error) {
	l, err := readLedger(ctx, conn)
	if err != nil {
		return nil, err
	}
	waiting, err := readWaiting(ctx, conn, l, until)
	if err != nil {
		return nil, err
	}
	covers := make([]*Cover, 0, len(froms))
	for _, from := range froms {
		var c *Cover
		if from.Unix() > 0 {
			c, err = l.cover(from, until)
		} else {
			c, err = l.coverTotal(until)
		}
		if err != nil {
			return nil, err
		}
		c.First, c.Revised = l.first(), l.revised(from, c.Until)
		c.wait(waiting)
		covers = append(covers, c)
	}
	return covers, nil
}

// readWaiting finds out for which hours of the ledger before until events came since, and how many: by item type, repeats and flagged ones
// included.
func readWaiting(ctx context.Context, conn driver.Conn, l *ledger, until time.Time) (map[time.Time]map[string]uint64, error) {
	due, err := readDue(ctx, conn, until)
	due = slices.DeleteFunc(due, func(d dueHour) bool { return !l.holds(d.hour) })
	if err != nil || len(due) == 0 {
		return nil, err
	}
	hours, blocks := make([]time.Time, len(due)), make([]int64, len(due))
	waiting := make(map[time.Time]map[string]uint64, len(due))
	for i, d := range due {
		hours[i], blocks[i], waiting[d.hour] = d.hour, d.counted, map[string]uint64{}
	}
	p := clickhouse.Parameters{"hours": hours, "blocks": blocks}
	err = questions.Read(ctx, conn, "late_events", p, askBudget, func(rows driver.Rows) error {
		var hour time.Time
		var itemType string
		var events uint64
		err := rows.Scan(&hour, &itemType, &events)
		if err == nil {
			waiting[hour.UTC()][itemType] = events
		}
		return err
	})
	return waiting, err
}

// holds says whether an hour is entered, and not sealed with its day.
func (l *ledger) holds(hour time.Time) bool {
	for i := range l.days {
		if d := &l.days[i]; d.day.Equal(hour.Truncate(day)) {
			return slices.ContainsFunc(d.hours, func(h ledgerHour) bool { return h.at.Equal(hour) })
		}
	}
	return false
}

// wait notes what is late for the hours of the cover.
func (c *Cover) wait(waiting map[time.Time]map[string]uint64) {
	c.Late = map[string]Late{}
	for _, hour := range slices.SortedFunc(maps.Keys(waiting), time.Time.Compare) {
		if hour.Before(c.From) || !hour.Before(c.Until) {
			continue
		}
		for itemType, events := range waiting[hour] {
			late := c.Late[itemType]
			c.Late[itemType] = Late{append(late.Hours, hour), late.Events + events}
		}
	}
}

// ReadHours returns the hours of [from, until), each by itself, as far as they are exact. Both must be starts of hours. It begins later where
// only days are kept.
func ReadHours(ctx context.Context, conn driver.Conn, from, until time.Time) (*Cover, error) {
	l, err := readLedger(ctx, conn)
	if err != nil {
		return nil, err
	}
	c := &Cover{From: from, ExactUntil: l.exactUntil()}
	c.Until = later(from, earlier(until, c.ExactUntil))
	for i := range l.days {
		d := &l.days[i]
		switch {
		case !d.day.Add(day).After(c.From) || !d.day.Before(c.Until):
		case d.sealed:
			c.From, c.hours, c.hour = earlier(d.day.Add(day), c.Until), nil, nil
		default:
			c.addHours(d)
		}
	}
	waiting, err := readWaiting(ctx, conn, l, until)
	if err != nil {
		return nil, err
	}
	c.wait(waiting)
	return c, nil
}

// maxWaiting bounds the hours that a list names.
const maxWaiting = 24

// LateHours names the hours of the cover for which events of an item type came that are not counted yet, the first 24.
func (c *Cover) LateHours(itemType string) (hours []string) {
	late := c.Late[itemType].Hours
	for _, hour := range late[:min(len(late), maxWaiting)] {
		hours = append(hours, hour.Format(time.RFC3339))
	}
	return hours
}

// Widen widens a list by the events that came for hours of the cover and are not counted yet: any item may have all of them. It says
// whether there are any.
func (c *Cover) Widen(made *list.List) bool {
	late := c.Late[made.ItemType]
	if late.Events == 0 {
		return false
	}
	made.Partial = append(made.Partial, c.LateHours(made.ItemType)...)
	made.Floor += late.Events
	for i := range made.Items {
		made.Items[i].Upper += late.Events
	}
	made.Certified = made.CertifiedTo(list.MaxK)
	return true
}

// first is the first hour that is entered, or day that is sealed; zero when nothing is.
func (l *ledger) first() time.Time {
	switch {
	case len(l.days) == 0:
		return time.Time{}
	case len(l.days[0].hours) > 0:
		return l.days[0].hours[0].at
	default:
		return l.days[0].day
	}
}

// revised says whether an hour of [from, until) was counted again since the last but one of it was entered.
func (l *ledger) revised(from, until time.Time) bool {
	var entered, again time.Time // when the last but one was, and the newest that was counted again
	for i := range l.days {
		for _, h := range l.days[i].hours[before(l.days[i].hours, from):before(l.days[i].hours, until)] {
			since := h.version.since
			if entered.IsZero() && !h.at.Before(until.Add(-2*time.Hour)) || !entered.IsZero() && since.Before(entered) {
				entered = since
			}
			if h.corrected && since.After(again) {
				again = since
			}
		}
	}
	return !entered.IsZero() && !again.Before(entered)
}

// Exact is up to when every hour is recounted, as far as the cover goes; nil when none is.
func (c *Cover) Exact() *time.Time {
	if c.ExactUntil.Unix() <= 0 {
		return nil
	}
	until := earlier(c.ExactUntil, c.Until)
	return &until
}

// Empty says that the cover has no partition.
func (c *Cover) Empty() bool { return c.Partitions() == 0 }

// Part names one partition of exact counts, which never changes.
type Part struct {
	Grain   string // hour, day or total
	Bucket  int64  // its start, in epoch seconds; 0 for total
	Version uint64
}

// Parts are the partitions that a cover adds up, and those that it takes away.
func (c *Cover) Parts() (added, taken []Part) {
	parts := func(grain string, buckets []time.Time, versions []uint64) (all []Part) {
		for i, bucket := range buckets {
			all = append(all, Part{grain, bucket.Unix(), versions[i]})
		}
		return all
	}
	added = slices.Concat(parts("hour", c.hours, c.hour), parts("day", c.days, c.day))
	if c.total != 0 {
		added = append(added, Part{Grain: "total", Version: c.total})
	}
	return added, parts("day", c.less, c.lessDay)
}

// Cover is of the partition alone.
func (p Part) Cover() *Cover {
	bucket, version := []time.Time{time.Unix(p.Bucket, 0).UTC()}, []uint64{p.Version}
	switch p.Grain {
	case "hour":
		return &Cover{hours: bucket, hour: version}
	case "day":
		return &Cover{days: bucket, day: version}
	default:
		return &Cover{total: p.Version}
	}
}

// Equal says whether two covers are the same partitions of the same time.
func (c *Cover) Equal(other *Cover) bool {
	added, taken := c.Parts()
	otherAdded, otherTaken := other.Parts()
	return slices.Equal(added, otherAdded) && slices.Equal(taken, otherTaken) && c.Until.Equal(other.Until) && c.From.Equal(other.From)
}

// Totals are views of all items by item type, of the busiest types. A type without views is left out. Two types as busy are ordered by name.
func (c *Cover) Totals(ctx context.Context, conn driver.Conn, most int, budget time.Duration) (map[string]uint64, error) {
	totals := map[string]uint64{}
	p := c.Parameters()
	p["most"] = most
	err := questions.Read(ctx, conn, "totals", p, budget, func(rows driver.Rows) error {
		var itemType string
		var views uint64
		err := rows.Scan(&itemType, &views)
		totals[itemType] = views
		return err
	})
	return totals, err
}
