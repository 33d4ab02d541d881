package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// asking is an API that makes lists on demand.
type asking struct {
	*running
	clock   *clock
	db      *database
	minutes *minutes
}

// startAsking starts an API over two engines. A list of all views is published, so that the item type is known.
func startAsking(t testing.TB, db *database, m *minutes, change ...func(*Config)) *asking {
	t.Helper()
	a := &asking{clock: &clock{}, db: db, minutes: m}
	a.running = startAPI(t, func(c *Config) {
		c.Postgres, c.ClickHouse, c.StaleAfter = db.dsn(), m.DSN, 0
		for _, f := range change {
			f(c)
		}
	}, a.clock.use)
	a.awaitVersion("/v1/topk", db.publish(sample("video", "1h", 300, 5000)))
	return a
}

// metric is the value of a line of /metrics.
func (r *running) metric(line string) (value float64) {
	r.t.Helper()
	for text := range strings.Lines(string(r.get("/metrics").body)) {
		if name, number, found := strings.Cut(strings.TrimSpace(text), " "); found && name == line {
			_, err := fmt.Sscan(number, &value)
			require.NoError(r.t, err)
			return value
		}
	}
	require.Fail(r.t, "there is no metric "+line)
	return 0
}

func (r *running) builds(result string) float64 {
	return r.metric(`topk_api_on_demand_builds_total{result="` + result + `"}`)
}

// asked are the rows of asked_slices, sorted.
func (a *asking) asked() (rows []string) {
	conn := a.db.connect()
	found, err := conn.Query(context.Background(), "SELECT item_type || ' ' || window_name || ' ' || slice FROM asked_slices ORDER BY 1")
	require.NoError(a.t, err)
	for found.Next() {
		var row string
		require.NoError(a.t, found.Scan(&row))
		rows = append(rows, row)
	}
	require.NoError(a.t, found.Err())
	require.NoError(a.t, conn.Close(context.Background()))
	return rows
}

// TestOnDemand runs on one pair of engines, with an API for each case.
func TestOnDemand(t *testing.T) {
	db, m := startDatabase(t), startMinutes(t)
	t.Run("nothing is filled", func(t *testing.T) { nothingFilled(t, startAsking(t, db, m)) })
	m.land(t, noon, randomViews(1, 6000, 800)...)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *asking)
	}{
		{"a union is what it is made of", unionEqualsTruth},
		{"answers are those of published lists", answersAsPublished},
		{"what trends", trendsOnDemand},
		{"a crowd costs one build", crowdCostsOneBuild},
		{"min_count", leavesOutFew},
		{"more than is published", moreThanPublished},
		{"more trends than are published", moreTrendsThanPublished},
		{"what is asked for twice is entered", entersWhatIsAskedFor},
		{"items of few viewers", itemsOfFewViewers},
		{"made-up slices", madeUpSlices},
		{"an item comes late", comesLate},
		{"too many at once", tooManyAtOnce},
		{"a minute is not filled", notFilled},
		{"ClickHouse is killed", clickHouseKilled}, // the last
	} {
		t.Run(test.name, func(t *testing.T) {
			db.exec("TRUNCATE lists, current_lists, asked_slices RESTART IDENTITY")
			test.run(t, startAsking(t, db, m))
		})
	}
}

// Where no list can be made the answer says why.
func nothingFilled(t *testing.T, a *asking) {
	l := a.list("/v1/topk?country=DE,FR")
	require.Empty(t, l.Items)
	require.False(t, *l.Precomputed)
	require.Contains(t, l.Reason, "no list of window 1h and slice country=DE|FR has been published for video yet, nor can it be made: no minute of slices has been filled")
	require.Equal(t, http.StatusPreconditionFailed, a.get("/v1/topk?country=DE&require=certified").status)
	require.Equal(t, http.StatusNotFound, a.get("/v1/topk?country=DE&item_type=sound").status)
}

func unionEqualsTruth(t *testing.T, a *asking) {
	for path, name := range map[string]string{
		"country=DE,FR,IT":                        "country=DE|FR|IT",
		"country=FR":                              "country=FR",
		"region=eu":                               "country=" + strings.Join(a.server.slicing.groups["eu"], "|"),
		"region=eu&category=music,news":           "country=" + strings.Join(a.server.slicing.groups["eu"], "|") + ",category=music|news",
		"category=a%252Cb":                        "category=a%2Cb",
		"country=,IN":                             "",
		"country=&language=":                      "country=,language=",
		"category=%D1%84%D0%B8%D0%BB%D1%8C%D0%BC": "category=фильм",
	} {
		for _, window := range []string{"1m", "5m", "1h"} {
			path := "/v1/topk?k=1000&window=" + window + "&" + path
			if name == "" {
				require.Equal(t, http.StatusBadRequest, a.get(path).status)
				continue
			}
			l := a.list(path)
			require.Equal(t, name, l.Slice)
			require.False(t, *l.Precomputed)
			require.Zero(t, l.Version)
			require.Equal(t, noon, l.AsOf)
			require.WithinDuration(t, time.Now(), l.PublishedAt, time.Minute)
			truth, total := a.minutes.truth(t, name, l.From)
			require.Equal(t, total, l.Total, path)
			require.True(t, l.Certified, path)
			require.Len(t, l.Items, min(1000, len(truth)), path)
			for i, item := range l.Items {
				require.Equal(t, truth[i].ItemID, item.ItemID, path)
				require.Equal(t, truth[i].Count, item.Count, path)
			}
		}
	}
	l := a.list("/v1/topk?window=24h&country=DE&k=10") // nothing is closed yet, so it reaches back to the first view
	truth, total := a.minutes.truth(t, "country=DE", l.From)
	require.Equal(t, total, l.Total)
	require.Equal(t, truth[0].ItemID, l.Items[0].ItemID)
}

func trendsOnDemand(t *testing.T, a *asking) {
	l := a.list("/v1/trending?country=DE,FR&k=3")
	require.Equal(t, "country=DE|FR", l.Slice)
	require.Equal(t, list.TrendingWindow, l.Window)
	require.False(t, *l.Precomputed)
	require.True(t, l.Certified)
	require.Len(t, l.Items, 3)
	for i, item := range l.Items {
		require.NotNil(t, item.Trend)
		want := list.TrendScore(item.Trend.Fast, item.Trend.Slow, item.Trend.Floor, item.Trend.Views, l.AsOf.Sub(item.Trend.FirstSeen))
		require.InEpsilon(t, want, item.Trend.Score, 1e-9)
		require.True(t, i == 0 || item.Trend.Score <= l.Items[i-1].Trend.Score)
	}
	require.Empty(t, a.list("/v1/trending?country=AQ").Items, "a slice that nobody has seen")
	require.NotEmpty(t, a.list("/v1/trending?country=AQ").Reason)
	require.Empty(t, a.list("/v1/trending").Items, "that of all views is published, or not there")
	for query, detail := range map[string]string{"window=1h": "window", "min_count=2": "min_count", "require=exact": "require", "k=0": "k", "country=xx": "country"} {
		answer := a.get("/v1/trending?" + query)
		require.Equal(t, http.StatusBadRequest, answer.status, query)
		require.Contains(t, string(answer.body), detail)
	}
	require.Equal(t, http.StatusBadRequest, a.get("/v1/topk?window=trending").status)
}

func answersAsPublished(t *testing.T, a *asking) {
	const path = "/v1/topk?country=DE,FR&k=100"
	whole := a.get(path)
	etag := whole.header.Get("Etag")
	require.Equal(t, "public, max-age=5", whole.header.Get("Cache-Control"))
	require.Equal(t, "Accept-Encoding", whole.header.Get("Vary"))
	require.Equal(t, "application/json", whole.header.Get("Content-Type"))
	require.Regexp(t, `^"0\.[^"]+"$`, etag)
	again := a.get(path)
	require.Equal(t, whole.body, again.body)
	require.Equal(t, whole.header.Get("Etag"), again.header.Get("Etag"))
	require.Equal(t, http.StatusNotModified, a.do("GET", path, http.Header{"If-None-Match": {etag}}).status)
	require.NotEqual(t, etag, a.get("/v1/topk?country=DE,FR&k=99").header.Get("Etag"))
	require.NotEqual(t, etag, a.get("/v1/topk?country=DE,FR&k=100&min_count=2").header.Get("Etag"))
	head := a.do("HEAD", path, nil)
	require.Equal(t, http.StatusOK, head.status)
	require.Empty(t, head.body)
	require.Equal(t, fmt.Sprint(len(whole.body)), head.header.Get("Content-Length"))
	packed := a.do("GET", path, http.Header{"Accept-Encoding": {"gzip"}})
	require.Equal(t, "gzip", packed.header.Get("Content-Encoding"))
	require.Less(t, len(packed.body), len(whole.body)/3)
	require.Equal(t, http.StatusOK, a.get(path+"&require=certified").status)
	require.Equal(t, float64(1), a.builds(builtOK))

	a.clock.pass(demandFresh)
	later := a.get(path)
	require.NotEqual(t, etag, later.header.Get("Etag"), "it was made anew")
	require.Equal(t, float64(2), a.builds(builtOK))
	for k := range 50 {
		require.Len(t, a.list(fmt.Sprintf("/v1/topk?country=DE,FR&k=%d", k+1)).Items, k+1)
	}
	require.Equal(t, float64(1), a.metric(`topk_api_on_demand_cache_entries{cache="views"}`))
	require.Less(t, a.metric(`topk_api_on_demand_cache_bytes{cache="views"}`), 4e6)
	require.Greater(t, a.metric(`topk_api_on_demand_cache_bytes{cache="views"}`), float64(len(whole.body)))
}

func crowdCostsOneBuild(t *testing.T, a *asking) {
	var crowd sync.WaitGroup
	tags := make([]string, 200)
	for i := range tags {
		crowd.Go(func() {
			if got, err := a.try(http.MethodGet, "/v1/topk?region=eu&k=50", nil); err == nil && got.status == http.StatusOK {
				tags[i] = got.header.Get("Etag")
			}
		})
	}
	crowd.Wait()
	for _, tag := range tags {
		require.NotEmpty(t, tag)
		require.Equal(t, tags[0], tag)
	}
	require.Equal(t, float64(1), a.builds(builtOK))
	require.Equal(t, float64(200), a.metric(`topk_api_on_demand_answers_total{from="cache"}`)+a.metric(`topk_api_on_demand_answers_total{from="build"}`))
}

func leavesOutFew(t *testing.T, a *asking) {
	truth, total := a.minutes.truth(t, "country=US", noon.Add(-time.Hour))
	for _, least := range []uint64{1, 2, 5, 1000} {
		l := a.list(fmt.Sprintf("/v1/topk?country=US&k=1000&min_count=%d", least))
		want := 0
		for want < len(truth) && truth[want].Count >= least {
			want++
		}
		require.Len(t, l.Items, want)
		require.True(t, l.Certified)
		require.Equal(t, total, l.Total)
		require.Equal(t, want == 0, l.Reason != "")
	}
	require.Len(t, a.list("/v1/topk?k=200&min_count=4900").Items, 101, "of published lists as well")
	require.True(t, *a.list("/v1/topk?k=200&min_count=4900").Precomputed)
	require.Equal(t, http.StatusBadRequest, a.get("/v1/topk?country=US&min_count=0").status)
}

// A published list of a slice is short. Who asks for more gets one that is made.
func moreThanPublished(t *testing.T, a *asking) {
	published := sample("video", "1h", 120, 5000)
	published.Slice, published.Floor = "country=IN", 4000
	version := a.db.publish(published)
	a.awaitVersion("/v1/topk?country=IN&k=120", version)
	l := a.list("/v1/topk?country=IN&k=121")
	require.False(t, *l.Precomputed)
	truth, _ := a.minutes.truth(t, "country=IN", noon.Add(-time.Hour))
	require.Len(t, l.Items, 121)
	require.Equal(t, truth[120].ItemID, l.Items[120].ItemID)
	require.True(t, *a.list("/v1/topk?country=IN&k=121&min_count=4001").Precomputed, "no other item has so many")
	a.get("/v1/topk?country=IN&k=121")
	a.get("/v1/topk?country=IN&k=121")

	published.Floor = 0
	a.awaitVersion("/v1/topk?country=IN&k=120", a.db.publish(published))
	require.Len(t, a.list("/v1/topk?country=IN&k=1000").Items, 120, "there are no others")
	published.Items, published.Floor = published.Items[:99], 3
	a.awaitVersion("/v1/topk?country=IN&k=120", a.db.publish(published))
	require.True(t, *a.list("/v1/topk?country=IN&k=1000").Precomputed, "no more is known")
}

// A published list of items that trend is short as well: who asks for more of a slice gets one that is made, and of all views one that says that
// there are more.
func moreTrendsThanPublished(t *testing.T, a *asking) {
	published := sample("video", list.TrendingWindow, 2, 30)
	published.Slice, published.More = "country=IN", true
	a.awaitVersion("/v1/trending?country=IN&k=2", a.db.publish(published))
	require.True(t, a.list("/v1/trending?country=IN&k=2").Certified)
	l := a.list("/v1/trending?country=IN&k=1000")
	require.False(t, *l.Precomputed)
	truth, _ := a.minutes.truth(t, "country=IN", noon.Add(-time.Hour))
	require.Len(t, l.Items, len(truth))
	require.False(t, l.More)
	require.True(t, l.Certified)

	published.More = false
	a.awaitVersion("/v1/trending?country=IN&k=2", a.db.publish(published))
	require.True(t, *a.list("/v1/trending?country=IN&k=1000").Precomputed, "there are no others")
	published.Slice, published.More = list.GlobalSlice, true
	a.awaitVersion("/v1/trending?k=2", a.db.publish(published))
	require.True(t, a.list("/v1/trending?k=2").Certified)
	l = a.list("/v1/trending?k=3")
	require.Len(t, l.Items, 2)
	require.True(t, l.More)
	require.False(t, l.Certified, "the third is not there")
}

// What was made up a moment ago and is viewed now is found, when a minute is filled again and when one is filled for the first time.
func comesLate(t *testing.T, a *asking) {
	const path = "/v1/topk?category=news,rising"
	const made = "/v1/topk?category=rising"
	require.Empty(t, a.list(made).Items)
	a.minutes.land(t, noon, view{"riser", "DE", "rising", "de", noon.Add(-30 * time.Minute), 7})
	a.clock.pass(demandFresh)
	require.Equal(t, "riser", a.list(made).Items[0].ItemID)
	require.Equal(t, uint64(7), a.list(made).Items[0].Count)
	truth, total := a.minutes.truth(t, "category=news|rising", noon.Add(-time.Hour))
	require.Equal(t, total, a.list(path).Total)
	require.Equal(t, truth[0].ItemID, a.list(path).Items[0].ItemID)
	require.Empty(t, a.list(made+"&window=5m").Items, "not in the last five minutes")
}
