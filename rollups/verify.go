package rollups

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

// span is [from, until).
type span struct{ from, until time.Time }

// recent is how long rows stay in small parts, of which all can be read: there a total costs little, and spares FINAL.
const recent = 2 * time.Minute

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
// else second by second.
func (b *Builder) verify(ctx context.Context, q question, named map[string]*nomination) (counts, error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.VerifyTimeout)
	defer cancel()
	landed, err := landedMinutes(ctx, b.conn, q.types, span{q.from, q.asOf})
	if err != nil {
		return counts{}, err
	}
	whole := span{q.from.Add(time.Minute - 1).Truncate(time.Minute), q.asOf.Truncate(time.Minute)}
	good := map[time.Time]bool{}
	if q.window.Length >= minutesPay {
		if good, err = b.goodMinutes(ctx, q, span{q.from.Truncate(time.Minute), q.asOf.Truncate(time.Minute)}); err != nil {
			return counts{}, err
		}
	}
	found := tally{}
	totals := landed.totals()
	if err := b.countMinutes(ctx, q, named, whole, good, found); err != nil {
		return counts{}, err
	}
	for _, s := range secondSpans(q, whole, good) {
		if err := b.countSeconds(ctx, q, named, s, good, landed, totals, found); err != nil {
			return counts{}, err
		}
	}
	c := counts{method: list.MethodVerified, totals: totals, counts: map[string]map[string]interval{}}
	for itemType, items := range found {
		c.counts[itemType] = make(map[string]interval, len(items))
		for id, views := range items {
			c.counts[itemType][id] = interval{views, views}
		}
	}
	return c, nil
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

// countSeconds adds the candidates of s to found. Where rows may have been written by hand, which landed does not hold, the
// totals are corrected by what counts_second says itself.
func (b *Builder) countSeconds(ctx context.Context, q question, named map[string]*nomination, s span, good map[time.Time]bool,
	landed pieceTotals, totals map[string]uint64, found tally,
) error {
	inside := landed.within(s, time.Minute)
	if q.asOf.Sub(s.until) < recent {
		plain, sums, err := b.readSeconds(ctx, q, named, s, "verify_seconds_plain", q.types)
		if err != nil {
			return err
		}
		if equalTotals(q.types, sums, inside) {
			found.merge(plain)
			return nil
		}
	}
	var asked []string
	if !good[s.from.Truncate(time.Minute)] {
		asked = q.types
	}
	final, sums, err := b.readSeconds(ctx, q, named, s, "verify_seconds", asked)
	if err != nil {
		return err
	}
	for _, itemType := range asked {
		totals[itemType] += sums[itemType] - inside[itemType] // wraps back: inside is part of totals
	}
	found.merge(final)
	return nil
}

// readSeconds returns the candidates of s, and the totals of the types in asked.
func (b *Builder) readSeconds(ctx context.Context, q question, named map[string]*nomination, s span, name string, asked []string) (tally, map[string]uint64, error) {
	found := tally{}
	err := chunks(q, named, func(_, ids []string) error {
		p := parameters{"types": q.types, "ids": ids, "from": s.from, "until": s.until, "totals": asked}
		asked = nil // the totals come with the first part
		return b.readTally(ctx, name, p, found)
	})
	sums := map[string]uint64{}
	for itemType, items := range found {
		sums[itemType] = items[""]
		delete(items, "")
	}
	return found, sums, err
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

// pieceTotals are views by the start of a piece of time, a minute or ten seconds, and item type.
type pieceTotals map[time.Time]map[string]uint64

func (m pieceTotals) totals() map[string]uint64 {
	sums := map[string]uint64{}
	for minute := range m {
		for itemType, views := range m[minute] {
			sums[itemType] += views
		}
	}
	return sums
}

// within adds up the pieces that start in s, or hold its start: of those, only what is inside was asked for.
func (m pieceTotals) within(s span, grain time.Duration) map[string]uint64 {
	sums := map[string]uint64{}
	for start, types := range m {
		if start.Before(s.from.Truncate(grain)) || !start.Before(s.until) {
			continue
		}
		for itemType, views := range types {
			sums[itemType] += views
		}
	}
	return sums
}

func landedMinutes(ctx context.Context, conn driver.Conn, types []string, s span) (pieceTotals, error) {
	return landedPieces(ctx, conn, types, s, time.Minute)
}

func landedPieces(ctx context.Context, conn driver.Conn, types []string, s span, grain time.Duration) (pieceTotals, error) {
	return readPieces(ctx, conn, "landed", parameters{"types": types, "from": s.from, "until": s.until, "grain": int(grain.Seconds())})
}

func readPieces(ctx context.Context, conn driver.Conn, name string, p parameters) (pieceTotals, error) {
	totals := pieceTotals{}
	err := read(ctx, conn, name, p, questionBudget, func(r driver.Rows) error {
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
	held, err := readPieces(ctx, b.conn, "minute_totals", parameters{"types": q.types, "from": unknown[0], "until": unknown[len(unknown)-1].Add(time.Minute)})
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
	landed, err := landedMinutes(ctx, b.conn, q.types, s)
	if err != nil {
		return nil, err
	}
	marks := map[time.Time]minuteMark{}
	for m := s.from; m.Before(s.until); m = m.Add(time.Minute) {
		marks[m] = minuteMark{landed: landed[m], views: map[string]uint64{}, blocks: map[string]uint64{}}
	}
	p := parameters{"slice": list.GlobalSlice, "types": q.types, "from": s.from, "until": s.until}
	err = read(ctx, b.conn, "applied", p, questionBudget, func(r driver.Rows) error {
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
	oldest := asOf.Add(-2 * list.Windows[len(list.Windows)-1].Length)
	maps.DeleteFunc(b.minutes, func(m time.Time, _ minuteMark) bool { return m.Before(oldest) })
}
