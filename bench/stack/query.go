package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// mostAnswer bounds what is read of an answer of ClickHouse, in bytes.
const mostAnswer = 1 << 20

// query asks ClickHouse over HTTP.
func (s *Stack) query(ctx context.Context, client *http.Client, text string) (string, error) {
	address, err := url.Parse(s.ClickHouse)
	if err != nil {
		return "", err
	}
	address.Path, address.RawQuery = "/", url.Values{"query": {text}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}
