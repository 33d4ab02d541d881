// Package top shows a list in a terminal.
package top

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
)

const (
	requestTimeout = 5 * time.Second
	// maxBodyBytes holds 1,000 items with the longest ids, titles and links there are.
	maxBodyBytes = 16 << 20
)

// client asks the API for one list.
type client struct {
	http *http.Client
	url  string
	base string

	etag string // of the last body, so that an unchanged list is not sent again
	body []byte
}

func newClient(c Config) *client {
	parameters := url.Values{
		"item_type": {c.ItemType},
		"window":    {c.Window},
		"k":         {strconv.Itoa(c.K)},
	}
	base := strings.TrimSuffix(c.API, "/")
	return &client{
		http: &http.Client{Timeout: requestTimeout},
		url:  base + "/v1/topk?" + parameters.Encode(),
		base: base,
	}
}

// fetch returns the list as the API sent it.
func (c *client) fetch(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for the list: %w", err)
	}
	if c.etag != "" {
		request.Header.Set("If-None-Match", c.etag)
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
	if response.StatusCode == http.StatusNotModified {
		return c.body, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBodyBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	if len(body) > maxBodyBytes {
		return nil, fmt.Errorf("read the list: it is longer than %d bytes", maxBodyBytes)
	}
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response, body)
	}
	c.etag, c.body = response.Header.Get("ETag"), body
	return body, nil
}

// refusal is the API's own reason, when it gave one.
func refusal(response *http.Response, body []byte) error {
	var p struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(body, &p) == nil && p.Detail != "" {
		return fmt.Errorf("the API refused: %s", printable(p.Detail))
	}
	return fmt.Errorf("the API answered %s, which is no list: does --api point to it?", printable(response.Status))
}

// decode reads a list.
func decode(body []byte) (*list.List, error) {
	var l list.List
	if err := json.Unmarshal(body, &l); err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	return &l, nil
}
