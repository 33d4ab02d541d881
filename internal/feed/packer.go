package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// packer turns a source into batches, at the data's own pace when one is set. A batch is handed over when it is full,
// and when the next event is not due yet and a sender is free: so a slow ingestor gets fewer and larger batches.
type packer struct {
	*replay
	batches chan<- *batch
	current *batch
	shift   time.Duration
	started time.Time
	first   time.Time // time of the first event with one
}

// pack ends with the source, with ctx, or with the first error of reading. What it holds then is still handed over.
func (p *packer) pack(ctx context.Context, source Source) error {
	readErr := p.read(ctx, source)
	if p.current.len() > 0 {
		if err := p.handOver(ctx); err != nil {
			return err
		}
	}
	return readErr
}

func (p *packer) read(ctx context.Context, source Source) error {
	for {
		record, err := source.Next()
		var row *RowError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &row):
			p.tally.count(&p.tally.report.Rows)
			p.tally.unreadable(*row)
			continue
		case err != nil:
			return fmt.Errorf("read %s: %w", p.cfg.Path, err)
		}
		p.tally.count(&p.tally.report.Rows)
		if !record.Time.IsZero() && !p.wanted(record.Time.Add(-p.shift)) {
			p.tally.count(&p.tally.report.LeftOut)
			continue
		}
		if err := p.take(ctx, record); err != nil {
			return err
		}
	}
}

func (p *packer) take(ctx context.Context, record Record) error {
	if err := p.pace(ctx, record.Time); err != nil {
		return err
	}
	if record.Note == noteUnknownCountry {
		p.tally.count(&p.tally.report.UnknownCountries)
	}
	p.current.add(record)
	if p.current.len() >= p.cfg.Batch || len(p.current.body) >= MaxBatchBytes {
		return p.handOver(ctx)
	}
	return ctx.Err()
}

func (p *packer) handOver(ctx context.Context) error {
	select {
	case p.batches <- p.current:
		p.current = newBatch(p.cfg.Batch)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pace waits until an event of that time is due. Events due within paceGranularity go with those before them.
func (p *packer) pace(ctx context.Context, at time.Time) error {
	if p.cfg.Speed == 0 || at.IsZero() {
		return nil
	}
	if p.first.IsZero() {
		p.first = at
	}
	due := p.started.Add(time.Duration(float64(at.Sub(p.first)) / p.cfg.Speed))
	wait := time.Until(due)
	if wait < paceGranularity {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		// A nil channel never takes: there is nothing to hand over while the batch is empty.
		var batches chan<- *batch
		if p.current.len() > 0 {
			batches = p.batches
		}
		select {
		case batches <- p.current:
			p.current = newBatch(p.cfg.Batch)
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
