package problem

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	p := New(http.StatusServiceUnavailable, "no list yet: \"a\" <b>")
	p.RetryAfterSeconds = 2
	p.Errors = []Error{{Parameter: "k", Detail: "is \x00 odd"}}
	w := httptest.NewRecorder()
	require.NoError(t, p.Write(w))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, ContentType, w.Header().Get("Content-Type"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.Equal(t, "2", w.Header().Get("Retry-After"))
	require.Equal(t, strconv.Itoa(w.Body.Len()), w.Header().Get("Content-Length"))
	var got Problem
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	got.RetryAfterSeconds = 2 // not in the body
	require.Equal(t, *p, got)
	require.Equal(t, "about:blank", got.Type)
	require.Equal(t, "Service Unavailable", got.Title)
	require.EqualError(t, p, `503: no list yet: "a" <b>`)
}
