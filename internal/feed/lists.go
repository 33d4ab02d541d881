package feed

import (
	"context"
	"encoding/json"
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
	maxListBytes = 4 << 20 // a thousand items of 256 bytes, escaped, with titles
	maxListItems = 1000    // the most an API serves
	listTimeout  = 5 * time.Second
)

// lists reads served lists.
type lists struct {
	base string
	http *http.Client
}

func newLists(base string) *lists {
	return &lists{
		base: strings.TrimRight(base, "/"),
		http: &http.Client{Timeout: listTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 2}},
	}
}

func (l *lists) close() { l.http.CloseIdleConnections() }

// get reads the list of an item type and window. With the ETag of what is known already, it returns nil when that has
// not changed.
func (l *lists) get(ctx context.Context, itemType, window, known string) (served *list.List, etag string, err error) {
	query := url.Values{"item_type": {itemType}, "window": {window}, "k": {strconv.Itoa(maxListItems)}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.base+"/v1/topk?"+query.Encode(), nil)
	if err != nil {
		return nil, "", err
	}
	if known != "" {
		request.Header.Set("If-None-Match", known)
	}
	response, err := l.http.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxListBytes))
	switch {
	case err != nil:
		return nil, "", err
	case response.StatusCode == http.StatusNotModified:
		return nil, known, nil
	case response.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("the API answered %s: %s", response.Status, strings.TrimSpace(string(body[:min(len(body), maxDetailBytes)])))
	}
	served = &list.List{}
	if err := json.Unmarshal(body, served); err != nil {
		return nil, "", fmt.Errorf("read the list: %w", err)
	}
	return served, response.Header.Get("ETag"), nil
}
