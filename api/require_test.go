package api

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// firstLine is that of the answer to the plainest request, on a connection of its own.
func firstLine(t *testing.T, api *running, path string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(api.url, "http://"))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: topk\r\n\r\n", path)
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// A list that is not what a request requires is refused with the reason, and the same list is served to who requires nothing.
func requires(t *testing.T, db *database, api *running) {
	until := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change  func(*list.List)
		asked   string
		refused string
	}{
		"certified":                  {func(*list.List) {}, "k=3&require=certified", ""},
		"exact":                      {func(*list.List) {}, "k=3&require=exact", ""},
		"exact hours":                {func(l *list.List) { l.Method = list.MethodExact }, "k=3&require=exact", ""},
		"not certified":              {func(l *list.List) { l.Floor = 28 }, "k=3&require=certified", "the list is not certified: it is not proven that no other item belongs among the first 3 (floor 28, max_overcount 0)"},
		"certified to fewer":         {func(l *list.List) { l.Floor = 28 }, "k=1&require=certified", ""},
		"not proven is not exact":    {func(l *list.List) { l.Floor = 28 }, "k=3&require=exact", "the list is not exact: it is not proven"},
		"sent twice":                 {func(l *list.List) { l.MaxOvercount, l.ExactUntil = 1, &until }, "k=1&require=exact", "the list is not exact: 1 views were sent more than once, since 2026-03-01T10:00:00Z, and any count may be too high by so many"},
		"sent twice and yet certain": {func(l *list.List) { l.MaxOvercount = 0 }, "k=1&require=certified", ""},
		"waiting":                    {func(l *list.List) { l.Partial = []string{"2026-03-01T08:00:00Z"} }, "k=1&require=exact", "the list is not exact: events came late for 2026-03-01T08:00:00Z and are not counted yet"},
		"estimated":                  {func(l *list.List) { l.Method = list.MethodEstimated }, "k=1&require=exact", "the list is not exact: its counts are estimated"},
	} {
		t.Run(name, func(t *testing.T) {
			l := sample("page", "24h", 3, 30)
			c.change(l)
			api.awaitVersion("/v1/topk?item_type=page&window=1d", db.publish(l))
			got := api.get("/v1/topk?item_type=page&window=24h&" + c.asked)
			if c.refused == "" {
				require.Equal(t, http.StatusOK, got.status, string(got.body))
				return
			}
			require.Equal(t, http.StatusPreconditionFailed, got.status)
			require.Contains(t, string(got.body), c.refused)
			require.Equal(t, "HTTP/1.1 412 Precondition Failed", firstLine(t, api, "/v1/topk?item_type=page&window=24h&"+c.asked), "by a connection that nothing else was asked on")
		})
	}
}
