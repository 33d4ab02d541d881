package feed

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// MaxBatchBytes closes a batch that has not reached its number of events. A batch of the longest valid events would be
// tens of megabytes; ordinary ones stay far below.
const MaxBatchBytes = 4 << 20

// batch is a body under construction, with what is needed to name and halve its events.
type batch struct {
	body   []byte // bodyOpen and events with commas between
	ends   []int  // where each event ends in body
	lines  []int  // the line each event came from
	newest time.Time
}

func newBatch(events int) *batch {
	events = min(events, 1000)
	b := &batch{ends: make([]int, 0, events), lines: make([]int, 0, events)}
	b.body = append(make([]byte, 0, len(bodyOpen)+256*events), bodyOpen...)
	return b
}

func (b *batch) add(r Record) {
	if len(b.ends) > 0 {
		b.body = append(b.body, ',')
	}
	b.body = append(b.body, r.JSON...)
	b.ends = append(b.ends, len(b.body))
	b.lines = append(b.lines, r.Line)
	if r.Time.After(b.newest) {
		b.newest = r.Time
	}
}

func (b *batch) len() int { return len(b.ends) }

// halves cuts a batch of at least two events in two, in order.
func (b *batch) halves() (first, second *batch) {
	middle := b.len() / 2
	cut := b.ends[middle-1]
	first = &batch{body: b.body[:cut:cut], ends: b.ends[:middle], lines: b.lines[:middle], newest: b.newest}
	second = &batch{newest: b.newest, lines: b.lines[middle:]}
	second.body = append([]byte(bodyOpen), b.body[cut+1:]...)
	for _, end := range b.ends[middle:] {
		second.ends = append(second.ends, end-cut-1+len(bodyOpen))
	}
	return first, second
}

// send posts a batch and gives each answer to done, in order. A batch that the ingestor finds too large goes in halves.
func (b *batch) send(ctx context.Context, client *Client, done func(*batch, Verdict)) error {
	verdict, err := client.SendEvents(ctx, append(b.body, bodyClose...))
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusRequestEntityTooLarge && b.len() > 1 {
		first, second := b.halves()
		if err := first.send(ctx, client, done); err != nil {
			return err
		}
		return second.send(ctx, client, done)
	}
	if err != nil {
		return err
	}
	done(b, verdict)
	return nil
}
