package api

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"topk/internal/list"
	"topk/internal/problem"
)

const (
	// chartRoute is the name of the charts' route in metrics.
	chartRoute = "/v1/charts/day"
	chartPath  = chartRoute + "/:" + parameterDay
	// A final chart changes only when an hour of its day is recounted, and a client may learn that an hour later.
	finalCacheControl = "public, max-age=3600"
	// A provisional one has a successor in a quarter of an hour as a rule, and at any moment when its day is final.
	provisionalCacheControl = "public, max-age=60"
)

// chart answers GET /v1/charts/day/{day}.
func (s *Server) chart(c echo.Context, now time.Time) error {
	q, mistakes := parseChartQuery(c.Param(parameterDay), c.Request().URL.RawQuery)
	if len(mistakes) > 0 {
		return badRequest(mistakes)
	}
	index := s.charts.index.Load()
	if index == nil {
		return unavailable("which charts there are has not been loaded from PostgreSQL yet; try again in a moment")
	}
	day, ok := index.days[q.key.chartDay]
	if !ok {
		return notCharted(q, index, now)
	}
	if !slices.Contains(day.types, q.key.itemType) {
		return s.emptyChart(c, q, index, day)
	}
	page, err := s.charts.page(c.Request().Context(), q, day)
	if err != nil {
		s.log.Warn("a chart cannot be loaded", "error", err, "zone", q.key.zone, "day", q.key.day, "item_type", q.key.itemType)
		return unavailable("the chart is not in memory, and PostgreSQL does not answer; try again in a moment")
	}
	return writePage(c, page)
}

// notCharted says why a day has no charts, and how to get some.
func notCharted(q chartQuery, index *chartIndex, now time.Time) error {
	if q.from.After(now) {
		return badRequest([]problem.Error{{Parameter: parameterDay, Detail: fmt.Sprintf("%s has not begun in %s: it begins at %s",
			q.key.day, q.key.zone, q.from.Format(time.RFC3339))}})
	}
	made := fmt.Sprintf("made by: topk chart --day %s --tz %s", q.key.day, q.key.zone)
	if len(index.zones) == 0 {
		return problem.New(http.StatusNotFound, "no chart has been made yet; one is "+made)
	}
	if days, ok := index.zones[q.key.zone]; ok {
		return problem.New(http.StatusNotFound, fmt.Sprintf("%s has no chart in %s, where there are charts from %s to %s; one is %s",
			q.key.day, q.key.zone, days.first, days.last, made))
	}
	return problem.New(http.StatusNotFound, fmt.Sprintf(
		"no chart has been made in %s; there are charts in: %s. One is %s, and every day's with --chart-zones of topk rollup",
		q.key.zone, joinSome(index.zoneNames), made))
}

// emptyChart answers for an item type that was not viewed on a day. A type that never was is the caller's mistake.
func (s *Server) emptyChart(c echo.Context, q chartQuery, index *chartIndex, day *chartedDay) error {
	lists := s.memory.load()
	if _, known := slices.BinarySearch(index.types, q.key.itemType); !known && (lists == nil || !lists.knows(q.key.itemType)) {
		return problem.New(http.StatusNotFound, fmt.Sprintf("unknown item_type %q; charts have: %s", q.key.itemType, joinSome(index.types)))
	}
	body, err := marshal(&list.Chart{
		ItemType: q.key.itemType, Zone: q.key.zone, Day: q.key.day, From: q.from, Until: q.until, AsOf: day.asOf,
		Provisional: day.provisional, Cap: day.cap, Reason: fmt.Sprintf("no %s was counted on that day", q.key.itemType),
		Items: []list.ChartItem{},
	})
	if err != nil {
		return err
	}
	hash := fnv.New64a()
	_, _ = hash.Write(body) // a hash never fails
	p, err := newPage(body, "0."+strconv.FormatUint(hash.Sum64(), 36), chartCacheControl(day.provisional), false)
	if err != nil {
		return err
	}
	return writePage(c, p)
}

func chartCacheControl(provisional bool) string {
	if provisional {
		return provisionalCacheControl
	}
	return finalCacheControl
}

// page returns the answer for the first k positions of a chart. It loads the chart when memory has none, or an older one; when that
// fails, the older one is served.
func (m *chartMemory) page(ctx context.Context, q chartQuery, day *chartedDay) (*page, error) {
	held := m.get(q.key)
	if held == nil || held.round < day.round {
		loaded, err := m.fetch(ctx, q.key, day.round)
		if err != nil && held == nil {
			return nil, err
		}
		if err == nil {
			held = loaded
		}
	}
	if ready := m.ready(held, q.k); ready != nil {
		return ready, nil
	}
	chart := held.chart.Cut(q.k)
	body, err := marshal(chart)
	if err != nil {
		return nil, err
	}
	tag := strconv.FormatInt(chart.Revision, 10) + "." + held.made + "." + strconv.Itoa(q.k)
	made, err := newPage(body, tag, chartCacheControl(chart.Provisional), true)
	if err != nil {
		return nil, err
	}
	m.keep(q.key, held, q.k, made)
	return made, nil
}
