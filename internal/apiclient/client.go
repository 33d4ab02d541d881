// Package apiclient reads served lists from an API, as any client would.
package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"topk/internal/list"
	"topk/internal/slice"
)

const (
	requestTimeout = 5 * time.Second
	// maxBodyBytes holds 1,000 items with the longest ids, titles and links there are.
	maxBodyBytes = 16 << 20
	idleConns    = 2 // a client asks for one list after another
)

// Query names a list, and how much of it. Whether there is such an item type, window or slice is for the API to say.
type Query struct {
	ItemType string
	Window   string
	K        int
	MinCount uint64        // entries of fewer views are left out; 0 and 1 leave out none
	Slice    slice.Request // the zero value is all views
}

// parameters are those of the URL.
func (q Query) parameters() url.Values {
	parameters := url.Values{"item_type": {q.ItemType}, "window": {q.Window}, "k": {strconv.Itoa(q.K)}}
	if q.MinCount > 1 {
		parameters.Set("min_count", strconv.FormatUint(q.MinCount, 10))
	}
	for name, text := range map[string]*string{
		"country": q.Slice.Country, "category": q.Slice.Category, "language": q.Slice.Language, "region": q.Slice.Region,
	} {
		if text != nil {
			parameters.Set(name, *text)
		}
	}
	return parameters
}

// Answer is a list as the API sent it.
type Answer struct {
	Body []byte
	ETag string // names the body: with it, an unchanged list is not sent again
}

// List decodes the body.
func (a *Answer) List() (*list.List, error) {
	var l list.List
	if err := json.Unmarshal(a.Body, &l); err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	return &l, nil
}

// RefusedError is an answer that is no list. Its texts are what the API sent, so a terminal must not obey them.
type RefusedError struct {
	Status string // such as "404 Not Found"
	Detail string // the API's own reason; empty when it gave none, and is perhaps no API
}

func (e *RefusedError) Error() string {
	if e.Detail != "" {
		return "the API refused: " + e.Detail
	}
	return fmt.Sprintf("the API answered %s, which is no answer to that: does --api point to it?", e.Status)
}

// Client asks one API. It is safe for concurrent use.
type Client struct {
	base string
	http *http.Client
}

// New returns a client of the API at base, such as http://127.0.0.1:8081.
func New(base string) *Client {
	return &Client{
		base: strings.TrimRight(base, "/"),
		http: &http.Client{Timeout: requestTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: idleConns}},
	}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get returns the list as it is served. With a last answer to the same query it returns that one when nothing has changed;
// last may be nil. An API that says no gives a *RefusedError.
func (c *Client) Get(ctx context.Context, q Query, last *Answer) (*Answer, error) {
	return c.get(ctx, "/v1/topk", q.parameters(), last)
}

// get asks for anything that the API answers with JSON.
func (c *Client) get(ctx context.Context, path string, parameters url.Values, last *Answer) (*Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path+"?"+parameters.Encode(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	if last != nil && last.ETag != "" {
		request.Header.Set("If-None-Match", last.ETag)
	}
	response, err := c.http.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the whole URL, which says nothing more
		}
		return nil, fmt.Errorf("the API at %s does not answer (is it running? --api says where): %w", c.base, err)
	}
	defer func() { _ = response.Body.Close() }() // reading is over, an error changes nothing
	if response.StatusCode == http.StatusNotModified && last != nil {
		return last, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBodyBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(body) > maxBodyBytes {
		return nil, fmt.Errorf("read the answer: it is longer than %d bytes", maxBodyBytes)
	}
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response.Status, body)
	}
	return &Answer{Body: body, ETag: response.Header.Get("ETag")}, nil
}

// List is Get for a caller that keeps no answers.
func (c *Client) List(ctx context.Context, q Query) (*list.List, error) {
	answer, err := c.Get(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	return answer.List()
}

// refusal takes the API's own reason, where it gave one.
func refusal(status string, body []byte) error {
	var p struct {
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(body, &p) // what is no problem has no detail
	return &RefusedError{Status: status, Detail: p.Detail}
}
