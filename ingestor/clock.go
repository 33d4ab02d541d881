package ingestor

import (
	"fmt"
	"time"

	"topk/internal/event"
	"topk/internal/wire"
)

// timeRules decide which time an event counts at.
type timeRules struct {
	clock           Clock
	skewMs, ageMs   int64
	tooOld, missing *event.Problem
}

func newTimeRules(cfg Config) timeRules {
	against := "now"
	if cfg.Clock == ClockEvent {
		against = "the newest event"
	}
	return timeRules{
		clock:   cfg.Clock,
		skewMs:  cfg.MaxSkew.Milliseconds(),
		ageMs:   cfg.MaxEventAge.Milliseconds(),
		tooOld:  &event.Problem{Field: "event_time", Reason: fmt.Sprintf("event_time is more than %v before %s", cfg.MaxEventAge, against), Kind: event.KindTooOld},
		missing: &event.Problem{Field: "event_time", Reason: "event_time is required: this ingestor follows the data's own time", Kind: event.KindRequired},
	}
}

// place returns the time an event counts at, and whose clock gave it. now is the wall clock, newest the newest accepted
// time, both in epoch milliseconds.
func (r *timeRules) place(e *parsedEvent, now, newest int64) (millis int64, stamped wire.Stamp, problem *event.Problem) {
	if r.clock == ClockEvent {
		switch {
		case !e.timed:
			return 0, wire.OwnTime, r.missing
		case e.Millis < newest-r.ageMs:
			return 0, wire.OwnTime, r.tooOld
		}
		return e.Millis, wire.OwnTime, nil
	}
	switch {
	case !e.timed:
		return now, wire.Untimed, nil
	case e.Millis > now+r.skewMs:
		return now, wire.Ahead, nil
	case e.Millis < now-r.ageMs:
		return 0, wire.OwnTime, r.tooOld
	}
	return e.Millis, wire.OwnTime, nil
}

// watermark is what an ingestor promises: every event before it has been sent. All times are epoch milliseconds, 0 when
// there is none.
//
// It is computed where a batch is closed to new events, from that batch and those committed before it. An event that waits
// in a later batch is newer than the promise, late, or within the allowed disorder.
type watermark struct {
	newest int64 // newest second of the committed events
	sent   int64 // the last committed watermark: it never goes back
}

// at returns the watermark of a batch. quiet is how long no event has come.
func (w *watermark) at(cfg *Config, b *batch, now time.Time, quiet time.Duration) int64 {
	nowMs := now.UnixMilli()
	base := max(w.newest, b.newest)
	if cfg.Clock == ClockWall && (quiet >= cfg.IdleTimeout || base > nowMs) {
		base = nowMs
	}
	mark := b.posted
	if base > 0 {
		mark = max(mark, base-cfg.Disorder.Milliseconds())
	}
	return max(mark, w.sent)
}

// committed takes a batch whose transaction is committed. An aborted one leaves no trace: its events were not accepted.
func (w *watermark) committed(b *batch, sent int64) {
	w.newest = max(w.newest, b.newest)
	w.sent = sent
}
