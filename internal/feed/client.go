package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Bounds of one request to the ingestor.
const (
	attemptTimeout   = 30 * time.Second       // an ingestor answers after its flush, well under a second; beyond this it hangs
	firstBackoff     = 100 * time.Millisecond // doubled at every further attempt
	maxBackoff       = 5 * time.Second        // also the most of a Retry-After that is waited for
	maxResponseBytes = 16 << 20               // a verdict an event, a batch of ten thousand
	maxDetailBytes   = 500                    // of a refusal's text, for an error message
	writeBufferBytes = 64 << 10               // fewer system calls for bodies of hundreds of kilobytes
)

// Verdict is the ingestor's answer to a batch.
type Verdict struct {
	Accepted int         `json:"accepted"`
	Rejected []Rejection `json:"rejected"`
	Retries  int         `json:"-"` // attempts beyond the first
}

// Rejection names an event that was not taken, by its place in the batch.
type Rejection struct {
	Index  int    `json:"index"`
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// RefusedError is an answer that trying again does not change.
type RefusedError struct {
	Status int
	Detail string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the ingestor answered %d %s: %s", e.Status, http.StatusText(e.Status), e.Detail)
}

// Client sends batches to an ingestor and tries again, with the same ids, whatever may pass: 429, 5xx, a broken or
// refused connection. Events may then arrive twice; the ids say that they are the same.
type Client struct {
	base     string
	retryFor time.Duration
	http     *http.Client
}

// NewClient talks to the ingestor at base, such as http://127.0.0.1:8080, over up to the given number of connections.
// A request is tried again until retryFor has passed since its first attempt.
func NewClient(base string, connections int, retryFor time.Duration) *Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &Client{
		base:     strings.TrimRight(base, "/"),
		retryFor: retryFor,
		http: &http.Client{
			Timeout: attemptTimeout,
			Transport: &http.Transport{
				DialContext:         dialer.DialContext,
				MaxIdleConnsPerHost: connections,
				WriteBufferSize:     writeBufferBytes,
				DisableCompression:  true,
			},
		},
	}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// SendEvents posts a body of {"events":[...]}.
func (c *Client) SendEvents(ctx context.Context, body []byte) (Verdict, error) {
	answer, retries, err := c.post(ctx, "/v1/events", body)
	if err != nil {
		return Verdict{Retries: retries}, fmt.Errorf("send events: %w", err)
	}
	verdict := Verdict{Retries: retries}
	if err := json.Unmarshal(answer, &verdict); err != nil {
		return verdict, fmt.Errorf("send events: read the ingestor's answer: %w", err)
	}
	return verdict, nil
}

// SendWatermark says that every event before the given time has been sent. Only an ingestor on the event clock takes
// it, and answers when it is committed.
func (c *Client) SendWatermark(ctx context.Context, watermark time.Time) error {
	body := fmt.Appendf(nil, `{"watermark":%q}`, watermark.UTC().Format(time.RFC3339Nano))
	_, _, err := c.post(ctx, "/v1/watermark", body)
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return fmt.Errorf("send the watermark: %w (start the ingestor with --clock event)", err)
	}
	if err != nil {
		return fmt.Errorf("send the watermark: %w", err)
	}
	return nil
}

// post sends a body until it is answered for good, and returns the answer to a 2xx.
func (c *Client) post(ctx context.Context, path string, body []byte) (answer []byte, retries int, err error) {
	deadline := time.Now().Add(c.retryFor)
	backoff := firstBackoff
	for ; ; retries++ {
		answer, wait, err := c.attempt(ctx, path, body)
		var refused *RefusedError
		var invalid *url.Error
		switch {
		case err == nil:
			return answer, retries, nil
		case errors.As(err, &refused) && !passing(refused.Status):
			return nil, retries, err
		case errors.As(err, &invalid) && invalid.Op == "parse":
			return nil, retries, err
		case ctx.Err() != nil:
			return nil, retries, ctx.Err()
		}
		wait = min(max(wait, backoff/2+rand.N(backoff/2)), maxBackoff)
		backoff = min(2*backoff, maxBackoff)
		if time.Now().Add(wait).After(deadline) {
			return nil, retries, fmt.Errorf("gave up after %d attempts in %s: %w", retries+1, c.retryFor, err)
		}
		select {
		case <-ctx.Done():
			return nil, retries, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// attempt posts once. On a refusal it also returns how long the server asked to wait.
func (c *Client) attempt(ctx context.Context, path string, body []byte) (answer []byte, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxResponseBytes))
	if err != nil {
		return nil, 0, fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode/100 == 2 {
		return answer, 0, nil
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		wait = time.Duration(min(seconds, int(maxBackoff/time.Second))) * time.Second
	}
	detail := strings.TrimSpace(string(answer[:min(len(answer), maxDetailBytes)]))
	return nil, wait, &RefusedError{Status: response.StatusCode, Detail: detail}
}

// passing tells whether a status may change by itself.
func passing(status int) bool {
	return status == http.StatusTooManyRequests || status >= http.StatusInternalServerError && status != http.StatusNotImplemented
}
