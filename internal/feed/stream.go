package feed

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// kind is what an event of a load is for.
type kind uint8

const (
	kindView      kind = iota // of an item of the population
	kindViral                 // of the viral item
	kindSpam                  // of an item never seen before
	kindDuplicate             // a retry of a recent event
	kindBad                   // must be rejected
)

const (
	recentEvents = 1024 // that may be repeated; every eighth good event goes there
	recentEvery  = 8
	viralRank    = 0 // ranks of the population start at 1
	noRank       = ^uint64(0)
)

// sent is what is remembered of an event until its request is answered.
type sent struct {
	rank   uint64 // viralRank, a rank of the population, or noRank
	second int64  // of event_time, in epoch seconds
	kind   kind
	late   bool
}

// loadBatch is a request's body and what it holds.
type loadBatch struct {
	body []byte
	sent []sent
	due  time.Time // when it should have been sent
}

func (b *loadBatch) reset() {
	b.body = append(b.body[:0], bodyOpen...)
	b.sent = b.sent[:0]
}

// stream draws events. All chance comes from one generator in the order of events, so neither batches nor clocks change
// what is drawn.
type stream struct {
	rng        *rand.Rand
	zipf       *Zipf
	population *population
	run        string // distinguishes the ids of this run
	id         []byte // `{"event_id":"run-`
	viral      []byte
	lateBy     time.Duration
	kinds      []threshold
	lateBelow  uint32
	number     uint64 // of events drawn
	spam       uint64
	recent     [recentEvents]recentEvent
	remembered uint64
	remember   bool
}

// threshold chooses a kind when 32 random bits are below it.
type threshold struct {
	below uint64
	kind  kind
}

type recentEvent struct {
	json []byte
	sent sent
}

func newStream(cfg *LoadConfig, run string) *stream {
	s := &stream{
		rng:        rand.New(rand.NewPCG(cfg.Seed, 0)),
		zipf:       NewZipf(cfg.Zipf, cfg.Items),
		population: newPopulation(cfg.ItemTypes),
		run:        run,
		id:         []byte(`{"event_id":"` + run + "-"),
		viral:      appendString(nil, cfg.ViralItem),
		lateBy:     cfg.LateBy,
		lateBelow:  uint32(cfg.LateShare * (1<<32 - 1)),
		remember:   cfg.Duplicates > 0,
	}
	spamShare := cfg.SpamRate / cfg.total()
	below := 0.0
	for _, k := range []struct {
		share float64
		kind  kind
	}{
		{spamShare, kindSpam},
		{cfg.Duplicates * (1 - spamShare), kindDuplicate},
		{cfg.BadShare * (1 - spamShare), kindBad},
		{cfg.ViralShare * (1 - spamShare), kindViral},
	} {
		below += k.share
		s.kinds = append(s.kinds, threshold{uint64(below * (1 << 32)), k.kind})
	}
	return s
}

// fill draws n events of the time now into a batch.
func (s *stream) fill(b *loadBatch, n int, now time.Time) {
	b.reset()
	for i := range n {
		if i > 0 {
			b.body = append(b.body, ',')
		}
		start := len(b.body)
		e := s.draw(b, now)
		b.sent = append(b.sent, e)
		good := e.kind == kindView || e.kind == kindViral || e.kind == kindSpam
		if s.remember && good && s.number%recentEvery == 0 {
			slot := &s.recent[s.remembered%recentEvents]
			slot.json = append(slot.json[:0], b.body[start:]...)
			slot.sent = e
			s.remembered++
		}
	}
	b.body = append(b.body, bodyClose...)
}

func (s *stream) draw(b *loadBatch, now time.Time) sent {
	s.number++
	chance, dims := s.rng.Uint64(), s.rng.Uint64()
	e := sent{rank: noRank, kind: s.kindOf(chance >> 32)}
	switch e.kind {
	case kindDuplicate:
		if s.remembered > 0 {
			old := &s.recent[dims%min(s.remembered, recentEvents)]
			b.body = append(b.body, old.json...)
			e.rank, e.second, e.late = old.sent.rank, old.sent.second, old.sent.late
			return e
		}
		e.kind = kindView
	case kindBad:
		b.body = s.appendBad(b.body, dims, now)
		return e
	case kindView, kindViral, kindSpam:
	}
	if e.late = uint32(chance) < s.lateBelow; e.late {
		now = now.Add(-s.lateBy)
	}
	e.second = now.Unix()
	b.body = s.appendID(b.body)
	b.body = s.appendItem(b.body, &e)
	b.body = append(b.body, `,"event_time":`...)
	b.body = strconv.AppendInt(b.body, now.UnixMilli(), 10)
	b.body = append(b.body, origins[dims&1023]...)
	b.body = append(b.body, `,"viewer":"u`...)
	b.body = strconv.AppendUint(b.body, dims>>44, 10) // a million viewers
	b.body = append(b.body, `"}`...)
	return e
}

func (s *stream) kindOf(chance uint64) kind {
	for _, k := range s.kinds {
		if chance < k.below {
			return k.kind
		}
	}
	return kindView
}

func (s *stream) appendID(dst []byte) []byte {
	dst = append(dst, s.id...)
	dst = strconv.AppendUint(dst, s.number, 36)
	return append(dst, '"')
}

// appendItem appends item_type, item_id and category, and notes the rank.
func (s *stream) appendItem(dst []byte, e *sent) []byte {
	switch e.kind {
	case kindSpam:
		s.spam++
		dst = append(dst, s.population.types[0]...)
		dst = append(append(append(dst, "spam-"...), s.run...), '-')
		return append(strconv.AppendUint(dst, s.spam, 36), '"')
	case kindViral:
		e.rank = viralRank
		dst = append(dst, s.population.types[0]...)
		dst = append(dst, s.viral[1:]...)
		return append(dst, categories[0]...)
	default:
		e.rank = s.zipf.Draw(s.rng)
		dst = append(dst, s.population.types[s.population.typeOf(e.rank)]...)
		dst = append(appendItemID(dst, e.rank), '"')
		return append(dst, categoryOf(e.rank)...)
	}
}
