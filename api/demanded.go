package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"topk/internal/list"
	"topk/internal/problem"
	"topk/rollups/slices"
)

// short says that a published list of a slice ends before what is asked for: more of it is known than was published. A list of fewer items
// than are usually asked for is all that is known, and one of items that trend says itself whether there are more.
func (s *served) short(q *query) bool {
	n := len(s.list.Items)
	switch {
	case q.k <= n || s.list.Slice == list.GlobalSlice:
		return false
	case s.list.Window == list.TrendingWindow:
		return s.list.More
	default:
		return n >= list.DefaultK && s.list.Floor >= q.least
	}
}

// demanded answers for a list that is not published, or that is longer than the published one, found.
func (s *Server) demanded(c echo.Context, lists *snapshot, q query, found *served, now time.Time) error {
	published := func(why string) error {
		if found != nil {
			return answer(c, found, q, now) // short, and true
		}
		return s.neverPublished(c, lists, q, why)
	}
	if s.demand == nil || q.key.Slice == list.GlobalSlice || !lists.knows(q.key.ItemType) {
		return published("")
	}
	made, stale, err := s.demand.list(c.Request().Context(), q.key)
	switch {
	case err == nil:
	case errors.Is(err, errNothingFilled) || errors.Is(err, slices.ErrNotFilled):
		return published(err.Error())
	case found != nil:
		return published("")
	case errors.Is(err, errBusy):
		return unavailable("too many lists of slices are being made; try again in a moment")
	default:
		return unavailable("the list of slice " + q.key.Slice + " cannot be made, because ClickHouse does not answer in time; published lists are served")
	}
	s.noteDemanded(made, found, now)
	if p := refuse(made.list, q); p != nil {
		return p
	}
	page, err := s.demand.cache.page(q.key, made, q, stale || made.stale(now))
	if err != nil {
		return err
	}
	return writePage(c, page)
}

// readyPage is an answer from a list that was made on demand just now, or nil.
func (s *Server) readyPage(q query, found *served, now time.Time) (*page, error) {
	if s.demand == nil {
		return nil, nil
	}
	made := s.demand.ready(q.key)
	if made == nil {
		return nil, nil
	}
	s.noteDemanded(made, found, now)
	return s.demand.cache.page(q.key, made, q, made.stale(now))
}

// noteDemanded notes what is asked for. A slice without views is not: anybody can make up more of them.
func (s *Server) noteDemanded(made *demanded, found *served, now time.Time) {
	switch {
	case found != nil && found.asks != nil:
		found.asks.note(now)
	case made.viewed():
		s.asker.ask(made.list.Key())
	}
}

// unavailable says that there is nothing to answer from now, and that there may be soon.
func unavailable(detail string) error {
	p := problem.New(http.StatusServiceUnavailable, detail)
	p.RetryAfterSeconds = 1
	return p
}
