package rollups

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

// minutesPay is the window from which whole minutes are read from counts_minute. A shorter one has one at most, which would
// be checked at every build while late events arrive.
const minutesPay = 2 * time.Minute

// tally adds up views by item type and item.
type tally map[string]map[string]uint64

func (t tally) add(itemType, id string, views uint64) {
	if t[itemType] == nil {
		t[itemType] = map[string]uint64{}
	}
	t[itemType][id] += views
}

func (t tally) merge(other tally) {
	for itemType, items := range other {
		for id, views := range items {
			t.add(itemType, id, views)
		}
	}
}

// verify counts the candidates as they landed: whole minutes from counts_minute where it holds exactly what landed, all
// else second by second, of which recent ones are remembered.
func (b *Builder) verify(ctx context.Context, q question, named map[string]*nomination) (counts, error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.VerifyTimeout)
	defer cancel()
	whole := span{q.from.Add(time.Minute - 1).Truncate(time.Minute), q.asOf.Truncate(time.Minute)}
	good := map[time.Time]bool{}
	if q.window.Length >= minutesPay {
		var err error
		if good, err = b.goodMinutes(ctx, q, span{q.from.Truncate(time.Minute), q.asOf.Truncate(time.Minute)}); err != nil {
			return counts{}, err
		}
	}
	found := tally{}
	c := counts{method: list.MethodVerified, totals: q.landed.within(span{q.from, q.asOf}), counts: map[string]map[string]list.Interval{}}
	if err := b.countMinutes(ctx, q, named, whole, good, found); err != nil {
		return counts{}, err
	}
	var young []int64
	for _, s := range secondSpans(q, whole, good) {
		old, fresh := s.split(horizon(q, named))
		young = slices.AppendSeq(young, fresh.seconds())
		if err := b.countOld(ctx, q, named, old, good, c.totals, found); err != nil {
			return counts{}, err
		}
	}
	var err error
	if c.beyond, err = b.countRecent(ctx, q, named, young, c.totals, found); err != nil {
		return counts{}, err
	}
	// Questions answer for each of their types with each of their ids: what is no candidate of a type was not counted whole.
	for itemType, n := range named {
		c.counts[itemType] = make(map[string]list.Interval, len(n.items))
		for _, candidate := range n.items {
			if views := found[itemType][candidate.id]; views > 0 {
				c.counts[itemType][candidate.id] = list.Interval{Lower: views, Upper: views}
			}
		}
	}
	return c, nil
}

// horizon is from when on seconds are remembered.
func horizon(q question, named map[string]*nomination) time.Time {
	items := 0
	for _, n := range named {
		items += len(n.items) + len(n.next)
	}
	from := q.asOf.Add(-min(recent, q.window.Length))
	if 2*items*int(q.asOf.Sub(from)/time.Second) > maxCells {
		return q.asOf
	}
	return from
}

func (b *Builder) countMinutes(ctx context.Context, q question, named map[string]*nomination, whole span, good map[time.Time]bool, found tally) error {
	var minutes []time.Time
	for m := range good {
		if !m.Before(whole.from) && m.Before(whole.until) {
			minutes = append(minutes, m)
		}
	}
	if len(minutes) == 0 {
		return nil
	}
	slices.SortFunc(minutes, time.Time.Compare)
	return chunks(q, named, func(_, ids []string) error {
		p := parameters{"types": q.types, "ids": ids, "minutes": minutes}
		return b.readTally(ctx, "verify_minutes", p, found)
	})
}

// secondSpans are the ranges of a window that counts_minute does not answer, each within one minute or of minutes in a row
// that are not good.
func secondSpans(q question, whole span, good map[time.Time]bool) []span {
	if q.window.Length < minutesPay {
		return []span{{q.from, q.asOf}}
	}
	var spans []span
	if q.from.Before(whole.from) {
		spans = append(spans, span{q.from, whole.from})
	}
	for m := whole.from; m.Before(whole.until); m = m.Add(time.Minute) {
		if good[m] {
			continue
		}
		if last := len(spans) - 1; last >= 0 && spans[last].until.Equal(m) && spans[last].from.Equal(spans[last].from.Truncate(time.Minute)) {
			spans[last].until = m.Add(time.Minute)
			continue
		}
		spans = append(spans, span{m, m.Add(time.Minute)})
	}
	if whole.until.Before(q.asOf) {
		spans = append(spans, span{whole.until, q.asOf})
	}
	return spans
}

// countOld adds the candidates of s to found. Where rows may have been written by hand, which landed does not hold, the
// totals are corrected by what counts_second says itself.
func (b *Builder) countOld(ctx context.Context, q question, named map[string]*nomination, s span, good map[time.Time]bool,
	totals map[string]uint64, found tally,
) error {
	if s.empty() {
		return nil
	}
	var asked []string
	if !good[s.from.Truncate(time.Minute)] {
		asked = q.types
	}
	counted := tally{}
	corrected := asked
	err := chunks(q, named, func(_, ids []string) error {
		p := parameters{"types": q.types, "ids": ids, "from": s.from, "until": s.until, "totals": asked}
		asked = nil // the totals come with the first part
		return b.readTally(ctx, "verify_seconds", p, counted)
	})
	if err != nil {
		return err
	}
	inside := q.landed.within(s)
	for _, itemType := range corrected {
		totals[itemType] += counted[itemType][""] - inside[itemType] // wraps back: inside is part of totals
	}
	for _, items := range counted {
		delete(items, "")
	}
	found.merge(counted)
	return nil
}

func (b *Builder) readTally(ctx context.Context, name string, p parameters, into tally) error {
	return read(ctx, b.conn, name, p, b.config.VerifyTimeout, func(r driver.Rows) error {
		var itemType, id string
		var views uint64
		if err := r.Scan(&itemType, &id, &views); err != nil {
			return err
		}
		into.add(itemType, id, views)
		return nil
	})
}

func equalTotals(types []string, a, b map[string]uint64) bool {
	return !slices.ContainsFunc(types, func(t string) bool { return a[t] != b[t] })
}

// minuteTotals are views by minute and item type.
type minuteTotals map[time.Time]map[string]uint64

func readMinuteTotals(ctx context.Context, conn driver.Conn, types []string, s span) (minuteTotals, error) {
	totals := minuteTotals{}
	p := parameters{"types": types, "from": s.from, "until": s.until}
	err := read(ctx, conn, "minute_totals", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var minute time.Time
		var views uint64
		if err := r.Scan(&itemType, &minute, &views); err != nil {
			return err
		}
		minute = minute.UTC()
		if totals[minute] == nil {
			totals[minute] = map[string]uint64{}
		}
		totals[minute][itemType] = views
		return nil
	})
	return totals, err
}

// minuteMark is what was found of a closed minute, and the signs by which it is found to have changed.
type minuteMark struct {
	landed map[string]uint64
	views  map[string]uint64 // taken in by summaries, replays included
	blocks map[string]uint64
	good   bool
}

// goodMinutes says which minutes of s counts_minute holds exactly: for every item type its total is what landed. Reading
// the totals means reading all items, so a minute is checked once, and again when something arrived for it.
func (b *Builder) goodMinutes(ctx context.Context, q question, s span) (map[time.Time]bool, error) {
	good := map[time.Time]bool{}
	if !s.from.Before(s.until) {
		return good, nil
	}
	marks, err := b.readMarks(ctx, q, s)
	if err != nil {
		return nil, err
	}
	var unknown []time.Time
	for m := s.from; m.Before(s.until); m = m.Add(time.Minute) {
		mark := marks[m]
		have, ok := b.minutes[m]
		if !ok || !maps.Equal(have.landed, mark.landed) || !maps.Equal(have.views, mark.views) || !maps.Equal(have.blocks, mark.blocks) {
			unknown = append(unknown, m)
			continue
		}
		good[m] = have.good
	}
	if len(unknown) == 0 {
		return onlyTrue(good), nil
	}
	held, err := readMinuteTotals(ctx, b.conn, q.types, span{unknown[0], unknown[len(unknown)-1].Add(time.Minute)})
	if err != nil {
		return nil, err
	}
	for _, m := range unknown {
		mark := marks[m]
		mark.good = equalTotals(q.types, held[m], mark.landed)
		b.minutes[m], good[m] = mark, mark.good
	}
	b.forgetMinutes(q.asOf)
	return onlyTrue(good), nil
}

func onlyTrue(good map[time.Time]bool) map[time.Time]bool {
	maps.DeleteFunc(good, func(_ time.Time, ok bool) bool { return !ok })
	return good
}

func (b *Builder) readMarks(ctx context.Context, q question, s span) (map[time.Time]minuteMark, error) {
	marks := map[time.Time]minuteMark{}
	for m := s.from; m.Before(s.until); m = m.Add(time.Minute) {
		marks[m] = minuteMark{landed: q.landed.within(span{m, m.Add(time.Minute)}), views: map[string]uint64{}, blocks: map[string]uint64{}}
	}
	p := parameters{"slice": list.GlobalSlice, "types": q.types, "from": s.from, "until": s.until}
	err := read(ctx, b.conn, "applied", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var minute time.Time
		var views, blocks uint64
		if err := r.Scan(&itemType, &minute, &views, &blocks); err != nil {
			return err
		}
		mark := marks[minute.UTC()]
		mark.views[itemType], mark.blocks[itemType] = views, blocks
		return nil
	})
	return marks, err
}

// forgetMinutes bounds what is remembered to twice the longest window.
func (b *Builder) forgetMinutes(asOf time.Time) {
	oldest := asOf.Add(-2 * list.Live[len(list.Live)-1].Length)
	maps.DeleteFunc(b.minutes, func(m time.Time, _ minuteMark) bool { return m.Before(oldest) })
}
