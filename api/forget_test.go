package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// A list whose pointer is removed is served no longer, and an item type without lists is unknown again.
func TestForgottenItemTypesAreUnknown(t *testing.T) {
	db := startDatabase(t)
	api := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })
	api.awaitVersion("/v1/topk?window=1m", db.publish(sample("video", "1m", 3, 30)))
	api.awaitVersion("/v1/topk?item_type=hashtag&window=1m", db.publish(sample("hashtag", "1m", 3, 30)))
	api.awaitVersion("/v1/topk?item_type=hashtag&window=5m", db.publish(sample("hashtag", "5m", 3, 30)))
	forget := func(window string) {
		db.exec(`WITH forgotten AS (DELETE FROM current_lists WHERE item_type = 'hashtag' AND window_name = $1 RETURNING item_type)
			SELECT pg_notify('topk_lists', json_build_object('item_type', item_type, 'window', $1::text, 'slice', 'global', 'version', 0)::text)
			FROM forgotten`, window)
	}
	forget("1m")
	require.Eventually(t, func() bool { return api.list("/v1/topk?item_type=hashtag&window=1m").Version == 0 }, pollEvery/2, 5*time.Millisecond,
		"the notification does it, not the comparison")
	require.Len(t, api.list("/v1/topk?item_type=hashtag&window=5m").Items, 3)
	forget("5m")
	require.Eventually(t, func() bool { return api.get("/v1/topk?item_type=hashtag&window=5m").status == http.StatusNotFound }, pollEvery/2, 5*time.Millisecond)
	require.Contains(t, string(api.get("/v1/topk?item_type=hashtag").body), "known: video")
	require.Len(t, api.list("/v1/topk?window=1m").Items, 3)
}

// However many item types are published, the API holds those published last, and a new one reaches it with the next
// comparison, also while notifications never end.
func TestItemTypesHeldAreBounded(t *testing.T) {
	db := startDatabase(t)
	conn := db.connect()
	defer func() { require.NoError(t, conn.Close(context.Background())) }()
	const surplus = 5
	for i := range list.MaxItemTypes + surplus {
		publishOver(t, conn, sample(fmt.Sprintf("t%d", i), "1m", 1, 1))
	}
	api := startAPI(t, func(c *Config) { c.Postgres = db.dsn() })
	api.awaitReady()
	path := func(i int) string { return fmt.Sprintf("/v1/topk?window=1m&item_type=t%d", i) }
	holds := func(i int) bool { return api.get(path(i)).status == http.StatusOK }
	require.False(t, holds(surplus-1))
	require.True(t, holds(surplus))
	full := fmt.Sprintf(`topk_api_lists{window="1m"} %d`, list.MaxItemTypes)
	require.Contains(t, string(api.get("/metrics").body), full)

	newest := list.MaxItemTypes + surplus
	publishOver(t, conn, sample(fmt.Sprintf("t%d", newest), "1m", 1, 1))
	require.Eventually(t, func() bool {
		publishOver(t, conn, sample(fmt.Sprintf("t%d", newest-1), "1m", 1, 1)) // keeps the API listening
		return holds(newest)
	}, 3*pollEvery, 20*time.Millisecond)
	require.False(t, holds(surplus))
	require.True(t, holds(newest-1))
	metrics := string(api.get("/metrics").body)
	require.Contains(t, metrics, full)
	require.True(t, strings.Contains(metrics, `topk_api_list_loads_total{result="put_off"} 1`), metrics)
}
