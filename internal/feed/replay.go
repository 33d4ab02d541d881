package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// Replay sends recorded events in the order of the file. The report tells what was done also when an error ended it.
// A second replay of the same file sends the same ids, so the ingestor's readers count nothing twice.
func Replay(ctx context.Context, cfg ReplayConfig) (*ReplayReport, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &replay{
		cfg:    cfg,
		client: NewClient(cfg.Ingest, cfg.InFlight, cfg.RetryFor),
		tally:  &replayTally{reasons: map[[2]string]*RejectedReason{}, report: ReplayReport{File: cfg.Path}},
	}
	defer r.client.Close()
	started := time.Now()
	err := r.run(ctx)
	report := r.tally.done(time.Since(started))
	if err == nil && report.Rows > 0 && report.Unreadable == report.Rows {
		err = fmt.Errorf("no row of %s could be read, the first is %w", cfg.Path, &report.UnreadableRows[0])
	}
	return report, err
}

type replay struct {
	cfg    ReplayConfig
	client *Client
	tally  *replayTally
}

func (r *replay) run(ctx context.Context) error {
	shift, err := r.shift(ctx)
	if err != nil {
		return err
	}
	input, err := r.open(r.cfg.Progress)
	if err != nil {
		return err
	}
	defer func() { _ = input.Close() }()
	source, err := NewSource(input, r.sourceConfig(shift))
	if err != nil {
		return fmt.Errorf("read %s: %w", r.cfg.Path, err)
	}
	if err := r.sendAll(ctx, source, shift); err != nil {
		return err
	}
	return r.finish(ctx)
}

func (r *replay) sourceConfig(shift time.Duration) SourceConfig {
	return SourceConfig{Format: r.cfg.Format, ItemType: r.cfg.ItemType, IDPrefix: r.cfg.IDPrefix, Shift: shift}
}

func (r *replay) open(progress io.Writer) (io.ReadCloser, error) {
	var input io.ReadCloser
	if r.cfg.Path == standardInput {
		input = io.NopCloser(r.cfg.Input)
	} else {
		file, err := os.Open(r.cfg.Path)
		if err != nil {
			return nil, err
		}
		input = file
	}
	if progress == nil {
		return input, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(input, progress), input}, nil
}

// sendAll reads and batches in one goroutine and sends in InFlight others. When reading fails, what was read is sent.
func (r *replay) sendAll(ctx context.Context, source Source, shift time.Duration) error {
	batches := make(chan *batch)
	group, sending := errgroup.WithContext(ctx)
	for range r.cfg.InFlight {
		group.Go(func() error {
			for b := range batches {
				if err := b.send(sending, r.client, r.tally.answered); err != nil {
					return err
				}
			}
			return nil
		})
	}
	p := &packer{replay: r, batches: batches, current: newBatch(r.cfg.Batch), shift: shift, started: time.Now()}
	readErr := p.pack(sending, source)
	close(batches)
	if err := group.Wait(); err != nil {
		return err
	}
	return readErr
}

// finish sends the final watermark, if one was asked for.
func (r *replay) finish(ctx context.Context) error {
	watermark := r.cfg.Watermark
	if r.cfg.Finish {
		newest := r.tally.report.Newest
		if newest.IsZero() {
			return errors.New("finish: no event was sent, so there is no last hour to end")
		}
		watermark = newest.Truncate(time.Hour).Add(time.Hour)
	}
	if watermark.IsZero() {
		return nil
	}
	if err := r.client.SendWatermark(ctx, watermark); err != nil {
		return err
	}
	r.tally.report.Watermark = watermark.UTC()
	return nil
}

// shift is what moves the last event that will be sent to the moment at which it is sent, in whole seconds.
func (r *replay) shift(ctx context.Context) (time.Duration, error) {
	if !r.cfg.Shift {
		return 0, nil
	}
	input, err := r.open(nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = input.Close() }()
	source, err := NewSource(input, r.sourceConfig(0))
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", r.cfg.Path, err)
	}
	first, last, err := r.span(ctx, source)
	if err != nil || last.IsZero() {
		return 0, err
	}
	end := time.Now()
	if r.cfg.Speed > 0 {
		end = end.Add(time.Duration(float64(last.Sub(first)) / r.cfg.Speed))
	}
	return end.Sub(last).Truncate(time.Second), nil
}

// span is the time of the first event and the newest time among those that will be sent.
func (r *replay) span(ctx context.Context, source Source) (first, newest time.Time, err error) {
	for ctx.Err() == nil {
		record, err := source.Next()
		var row *RowError
		switch {
		case errors.Is(err, io.EOF):
			return first, newest, nil
		case errors.As(err, &row):
			continue
		case err != nil:
			return first, newest, fmt.Errorf("read %s: %w", r.cfg.Path, err)
		}
		if record.Time.IsZero() || !r.wanted(record.Time) {
			continue
		}
		if first.IsZero() {
			first = record.Time
		}
		if record.Time.After(newest) {
			newest = record.Time
		}
	}
	return first, newest, ctx.Err()
}

// wanted tells whether From and Until let a recorded time through. Both speak of times as recorded, before any shift.
func (r *replay) wanted(at time.Time) bool {
	return (r.cfg.From.IsZero() || !at.Before(r.cfg.From)) && (r.cfg.Until.IsZero() || at.Before(r.cfg.Until))
}
