package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
)

func TestConfigReportsEveryMistake(t *testing.T) {
	require.NoError(t, DefaultConfig().Validate())
	none := DefaultConfig()
	none.Pairs, none.Groups = "", []string{"dach=DE,AT,CH"}
	require.NoError(t, none.Validate())
	err := Config{Listen: "nowhere", Postgres: "postgres://[", ClickHouse: "tcp://x", StaleAfter: -time.Second, Ingest: "ftp://x", Pairs: "category+language", Groups: []string{"x=EL"}}.Validate()
	for _, want := range []string{"listen:", "postgres:", "clickhouse:", "stale-after:", "ingest:", "slice-pairs:", "group:"} {
		require.ErrorContains(t, err, want)
	}
}

// Events sent to the API reach the ingestor whole, and its answer comes back.
func TestPassesEventsOn(t *testing.T) {
	ingestor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/events" || string(body) != `{"events":[]}` {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"accepted":0,"rejected":[]}`)
	}))
	defer ingestor.Close()
	api := startAPI(t, func(c *Config) {
		c.Postgres = "postgres://topk@" + enginetest.FreeAddress(t) + "/topk?sslmode=disable"
		c.Ingest = ingestor.URL
	})
	post := func() (int, string) {
		response, err := api.client.Post(api.url+"/v1/events", "application/json", strings.NewReader(`{"events":[]}`))
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode, string(body)
	}
	status, body := post()
	require.Equal(t, http.StatusAccepted, status)
	require.JSONEq(t, `{"accepted":0,"rejected":[]}`, body)

	ingestor.Close()
	status, body = post()
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "same ids")
}
