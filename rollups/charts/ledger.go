package charts

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
)

// hour is what is known of one hour.
type hour struct {
	version uint64 // of the recount that counts; 0 = there was none
	why     string // it was recounted
	viewed  bool   // events were there then
	counted uint64 // of the events that were there then; 0 when the ledger proves nothing
	rows    uint64 // of raw events, now
}

// ledger is what is known of hours: those with raw events, and those that are recounted.
type ledger struct {
	first time.Time // of the recounted hours; nothing was there before it
	kept  time.Time // first hour with raw events; zero when there are none
	hours map[time.Time]hour
}

// readLedger reads the hours that raw events are kept of, and all since then, or since an earlier time.
func readLedger(ctx context.Context, conn driver.Conn, since time.Time) (*ledger, error) {
	l := &ledger{hours: map[time.Time]hour{}}
	err := questions.Read(ctx, conn, "hours", clickhouse.Parameters{"since": since}, askBudget, func(rows driver.Rows) error {
		var at, first time.Time
		var h hour
		if err := rows.Scan(&at, &h.version, &h.why, &h.viewed, &h.counted, &h.rows, &first); err != nil {
			return err
		}
		at = at.UTC()
		if first.Unix() > 0 {
			l.first = first.UTC()
		}
		if h.rows > 0 && (l.kept.IsZero() || at.Before(l.kept)) {
			l.kept = at
		}
		l.hours[at] = h
		return nil
	})
	return l, err
}

// span is the hours that a day overlaps.
type span struct {
	hours     []time.Time
	versions  []uint64 // of each hour, 0 where it is not recounted
	why       []string // each was recounted
	recounted bool     // all of them are, or lie before the first hour of all
	viewed    bool     // there are raw events in them
	gone      bool     // raw events of one are not kept any more: the day cannot be counted
}

// gone says that some raw events are not kept any more: none is left, or fewer than were counted, as when a late one came after the
// others were dropped. Repeats and flagged events only add to the rows.
func (h hour) gone() bool { return h.viewed && h.rows == 0 || h.rows < h.counted }

func (l *ledger) span(from, until time.Time) span {
	s := span{recounted: !l.first.IsZero()}
	for at := from.Truncate(time.Hour); at.Before(until); at = at.Add(time.Hour) {
		h := l.hours[at]
		s.hours, s.versions, s.why = append(s.hours, at), append(s.versions, h.version), append(s.why, h.why)
		s.recounted = s.recounted && (h.version != 0 || at.Before(l.first) && h.rows == 0)
		s.viewed = s.viewed || h.rows > 0
		s.gone = s.gone || h.gone()
	}
	return s
}
