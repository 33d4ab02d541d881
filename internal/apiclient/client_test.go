package apiclient

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/problem"
)

func serve(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c := New(server.URL + "/")
	t.Cleanup(c.Close)
	return c
}

func TestAnUnchangedListIsNotSentAgain(t *testing.T) {
	etag, bodies := `"1"`, 0
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != "/v1/topk?item_type=video&k=3&window=1h" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		bodies++
		_, _ = io.WriteString(w, `{"item_type":"video","version":`+etag[1:2]+`}`)
	})
	q := Query{ItemType: "video", Window: "1h", K: 3}
	first, err := c.Get(t.Context(), q, nil)
	require.NoError(t, err)
	again, err := c.Get(t.Context(), q, first)
	require.NoError(t, err)
	require.Same(t, first, again)
	require.Equal(t, 1, bodies)
	etag = `"2"`
	changed, err := c.Get(t.Context(), q, again)
	require.NoError(t, err)
	l, err := changed.List()
	require.NoError(t, err)
	require.EqualValues(t, 2, l.Version)
	l, err = c.List(t.Context(), q)
	require.NoError(t, err)
	require.EqualValues(t, 2, l.Version)
	require.Equal(t, 3, bodies)
}

func TestWhatIsNoListIsAnError(t *testing.T) {
	for want, answer := range map[string]http.HandlerFunc{
		"the API refused: unknown item_type": func(w http.ResponseWriter, _ *http.Request) {
			_ = problem.New(http.StatusNotFound, "unknown item_type").Write(w)
		},
		"the API answered 502 Bad Gateway, which is no answer to that: does --api point to it?": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<html>", http.StatusBadGateway)
		},
		"the API answered 304 Not Modified, which is no answer to that: does --api point to it?": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotModified) // of nothing
		},
		"read the list: unexpected end of JSON input": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"items":[`)
		},
		"read the answer: unexpected EOF": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{}`)
		},
	} {
		_, err := serve(t, answer).List(t.Context(), Query{ItemType: "video", Window: "1h", K: 1})
		require.EqualError(t, err, want)
	}
	gone := serve(t, nil)
	gone.base = "http://127.0.0.1:1"
	_, err := gone.List(t.Context(), Query{})
	require.ErrorContains(t, err, "does not answer (is it running?")
	tooLong := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, maxBodyBytes+1))
	})
	_, err = tooLong.List(t.Context(), Query{})
	require.ErrorContains(t, err, "longer than")
}
