package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/internal/wire"
)

const (
	readyTimeout = 90 * time.Second      // of a service: an engine that recovers after a crash takes some seconds
	probeTimeout = 3 * time.Second       // of one probe
	probeEvery   = 50 * time.Millisecond // the start of the whole stack takes seconds
	bodyInError  = 200                   // bytes of an answer that are shown
)

// A probe returns nil when its service is ready.
type probe func(ctx context.Context) error

func httpReady(url string) probe {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }() // it was only read
		body, _ := io.ReadAll(io.LimitReader(response.Body, bodyInError))
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: %s: %s", url, response.Status, body)
		}
		return nil
	}
}

func kafkaReady(e Endpoints) probe {
	return func(ctx context.Context) error {
		client, err := kgo.NewClient(kgo.SeedBrokers(e.Kafka))
		if err != nil {
			return err
		}
		defer client.Close()
		topics, err := kadm.NewClient(client).ListTopics(ctx, wire.EventsTopic, wire.CountsTopic)
		if err != nil {
			return err
		}
		return topics.Error()
	}
}

func postgresReady(e Endpoints) probe {
	return func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, e.Postgres)
		if err != nil {
			return err
		}
		return errors.Join(conn.Ping(ctx), conn.Close(ctx))
	}
}

// awaitReady polls until the process is ready. A process that ends is an error with its last words.
func awaitReady(ctx context.Context, p *process, ready probe) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		err := try(ctx, ready)
		select {
		case <-p.done:
			return p.crash()
		default:
		}
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.crash()
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (%w)\n%s", p.name, err, ctx.Err(), p.lastWords())
		case <-time.After(probeEvery):
		}
	}
}

func try(ctx context.Context, ready probe) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return ready(ctx)
}

// trimPath leaves scheme and host of a URL.
func trimPath(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Scheme + "://" + u.Host
}
