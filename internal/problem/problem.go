// Package problem writes errors for HTTP clients as application/problem+json (RFC 9457).
package problem

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// ContentType is the media type of a problem.
const ContentType = "application/problem+json"

// Problem is an error as a client sees it. Detail says what is wrong and what would be right.
type Problem struct {
	Type   string  `json:"type"`  // "about:blank": the status says it all
	Title  string  `json:"title"` // the status in words
	Status int     `json:"status"`
	Detail string  `json:"detail,omitempty"`
	Errors []Error `json:"errors,omitempty"` // every mistake of the request, in order

	// RetryAfterSeconds becomes the header Retry-After when it is above 0.
	RetryAfterSeconds int `json:"-"`
}

// Error is one mistake in a request.
type Error struct {
	Parameter string `json:"parameter,omitempty"` // the query parameter that is wrong
	Detail    string `json:"detail"`
}

// New returns a problem of an HTTP status.
func New(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// Error makes a problem an error, so that a handler can return it.
func (p *Problem) Error() string {
	return strconv.Itoa(p.Status) + ": " + p.Detail
}

// Write answers a request with the problem. Nothing may keep a copy: the next answer can differ.
func (p *Problem) Write(w http.ResponseWriter) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if p.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfterSeconds))
	}
	w.WriteHeader(p.Status)
	_, err = w.Write(body)
	return err
}
