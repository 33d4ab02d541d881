package ingestor

import "time"

// pacer says when the next flush is due: an interval after the last one began. A list can only move when a second is over
// for every ingestor, so on the wall clock the first event of a new second is not left waiting: its flush carries
// the watermark that ends an earlier second. All times are of the wall clock.
type pacer struct {
	interval time.Duration
	began    time.Time // the last flush
	turned   time.Time // when the newest second was first seen
}

// due is when to flush next unless something happens before. A flush that is due about when a new second is expected
// waits for it a little: else it would go out just before, and the news half a second later.
func (p *pacer) due() time.Time {
	due, near := p.began.Add(p.interval), p.interval/4
	if turn := p.turned.Add(time.Second); turn.Sub(due).Abs() < near {
		return turn.Add(near)
	}
	return due
}

// turn learns that a new second has begun, and says when to flush for it: at once, unless a flush has just been.
func (p *pacer) turn(now time.Time) time.Time {
	p.turned = now
	if soonest := p.began.Add(p.interval / 2); soonest.After(now) {
		return soonest
	}
	return now
}
