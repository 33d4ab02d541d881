package stack

import (
	"cmp"
	"context"
	_ "embed"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"topk/internal/apiclient"
	"topk/internal/event"
)

//go:embed lag.sql
var lagSQL string

// Lag says how far something was behind the wall clock, over a run.
type Lag struct {
	Samples int
	P50     time.Duration
	P99     time.Duration
	Max     time.Duration
}

// Lags are what is behind: what ClickHouse has read of the watermarks, and the as_of of the served 1m list. Both include
// the allowed disorder, 2 s, that a watermark stays behind the newest event.
type Lags struct {
	ClickHouse Lag
	List       Lag
}

// WatchLag samples the lags of a stack until ctx ends.
func (s *Stack) WatchLag(ctx context.Context) Lags {
	client := &http.Client{Timeout: pollWithin}
	defer client.CloseIdleConnections()
	api := apiclient.New(s.API)
	defer api.Close()
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	var clickhouse, list []time.Duration
	for {
		select {
		case <-ctx.Done():
			return Lags{ClickHouse: summarise(clickhouse), List: summarise(list)}
		case <-ticker.C:
		}
		if at, err := s.progress(ctx, client); err == nil && at.Unix() > 0 {
			clickhouse = append(clickhouse, time.Since(at))
		}
		if at, err := asOf(ctx, api); err == nil {
			list = append(list, time.Since(at))
		}
	}
}

// progress is the least watermark that ClickHouse has read.
func (s *Stack) progress(ctx context.Context, client *http.Client) (time.Time, error) {
	body, err := s.query(ctx, client, lagSQL)
	if err != nil {
		return time.Time{}, err
	}
	millis, err := strconv.ParseInt(strings.TrimSpace(body), 10, 64)
	return time.UnixMilli(millis), err
}

func asOf(ctx context.Context, api *apiclient.Client) (time.Time, error) {
	l, err := api.List(ctx, apiclient.Query{ItemType: event.DefaultItemType, Window: "1m", K: 1})
	if err != nil {
		return time.Time{}, err
	}
	return l.AsOf, nil
}

func summarise(samples []time.Duration) Lag {
	if len(samples) == 0 {
		return Lag{}
	}
	slices.SortFunc(samples, cmp.Compare[time.Duration])
	at := func(q float64) time.Duration { return samples[min(int(q*float64(len(samples))), len(samples)-1)] }
	return Lag{Samples: len(samples), P50: at(0.5), P99: at(0.99), Max: samples[len(samples)-1]}
}
