package api

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"topk/internal/list"
	"topk/internal/problem"
)

// Header values that every list shares. They are assigned and never changed.
var (
	contentTypeJSON    = []string{"application/json"}
	varyAcceptEncoding = []string{"Accept-Encoding"}
)

// neverPublishedCacheControl is short: the list is awaited.
const neverPublishedCacheControl = "public, max-age=1"

// topK answers GET /v1/topk. A ready answer is a map look-up and a write of bytes.
// Most requests do not come here: see front.go.
func (s *Server) topK(c echo.Context, now time.Time) error {
	r := c.Request()
	q, mistakes := s.slicing.parseQuery(r.URL.RawQuery)
	if len(mistakes) > 0 {
		return badRequest(mistakes)
	}
	return s.answerList(c, q, now)
}

// answerList answers with the list that is asked for: a published one, or one that is made now.
func (s *Server) answerList(c echo.Context, q query, now time.Time) error {
	lists := s.memory.load()
	if lists == nil {
		return unavailable("no list has been loaded from PostgreSQL yet; try again in a moment")
	}
	found := lists.lists[q.key]
	if found == nil || found.short(&q) {
		return s.demanded(c, lists, q, found, now)
	}
	return answer(c, found, q, now)
}

// answer writes a published list.
func answer(c echo.Context, found *served, q query, now time.Time) error {
	if found.asks != nil {
		found.asks.note(now)
	}
	if p := refuse(found.list, q); p != nil {
		return p
	}
	page, err := found.page(q.k, q.least, found.stale(now))
	if err != nil {
		return err
	}
	return writePage(c, page)
}

// writePage answers with a page, or with 304 when the client holds it.
func writePage(c echo.Context, p *page) error {
	r, w := c.Request(), c.Response()
	chosen := p.choose(acceptsGzip(joined(r.Header["Accept-Encoding"])))
	h := w.Header()
	h["Etag"] = chosen.etag
	h["Cache-Control"] = chosen.cacheControl
	h["Vary"] = varyAcceptEncoding
	if held := r.Header["If-None-Match"]; held != nil && matches(joined(held), chosen.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h["Content-Type"] = contentTypeJSON
	h["Content-Length"] = chosen.length
	if chosen.encoding != nil {
		h["Content-Encoding"] = chosen.encoding
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	_, _ = w.Write(chosen.body) // the client is gone when this fails, and nobody is left to tell
	return nil
}

// joined is a header whose lines mean the same as one line with commas.
func joined(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return strings.Join(values, ",")
}

// neverPublished answers for a list that does not exist: an unknown item type is the caller's mistake, anything else is an
// empty list with a reason, so that a dashboard shows nothing instead of an error while the first list is made.
// why says more, and may be empty.
func (s *Server) neverPublished(c echo.Context, lists *snapshot, q query, why string) error {
	reason := fmt.Sprintf("no list of window %s has been published for %s yet", q.key.Window, q.key.ItemType)
	if q.key.Slice != list.GlobalSlice {
		reason = fmt.Sprintf("no list of window %s and slice %s has been published for %s yet", q.key.Window, q.key.Slice, q.key.ItemType)
	}
	if why != "" {
		reason += ", nor can it be made: " + why
	}
	switch {
	case len(lists.types) == 0:
		reason = "no list has been published yet: nothing has been counted, or the rollup worker is not running"
	case !lists.knows(q.key.ItemType):
		return problem.New(http.StatusNotFound, fmt.Sprintf("unknown item_type %q; known: %s",
			q.key.ItemType, joinSome(lists.types)))
	}
	if q.require != "" {
		return problem.New(http.StatusPreconditionFailed, reason)
	}
	body, err := marshal(&unpublishedList{
		ItemType: q.key.ItemType, Window: q.key.Window, Slice: q.key.Slice,
		Method: list.MethodVerified, Partial: []string{}, Reason: reason, Items: []list.Item{},
	})
	if err != nil {
		return err
	}
	hash := fnv.New64a()
	_, _ = hash.Write(body) // a hash never fails
	p, err := newPage(body, "0."+strconv.FormatUint(hash.Sum64(), 36), neverPublishedCacheControl, false)
	if err != nil {
		return err
	}
	return writePage(c, p)
}

// maxNamedTypes bounds how many item types an error lists.
const maxNamedTypes = 20

func joinSome(types []string) string {
	if len(types) > maxNamedTypes {
		return strings.Join(types[:maxNamedTypes], ", ") + ", ..."
	}
	return strings.Join(types, ", ")
}

// badRequest is the problem that lists every mistake of a query string.
func badRequest(mistakes []problem.Error) *problem.Problem {
	detail := mistakes[0].Detail
	if mistakes[0].Parameter != "" {
		detail = mistakes[0].Parameter + ": " + detail
	}
	if more := len(mistakes) - 1; more > 0 {
		detail += fmt.Sprintf(" (and %d more, see errors)", more)
	}
	p := problem.New(http.StatusBadRequest, detail)
	p.Errors = mistakes
	return p
}

// plain answers a plain request with what topK would, or leaves it to topK.
func (s *Server) plain(p *plainRequest, now time.Time) (head, body []byte, status int, ok bool) {
	lists := s.memory.load()
	if lists == nil || p.query.require != "" {
		return nil, nil, 0, false
	}
	found := lists.lists[p.query.key]
	if found == nil || found.short(&p.query) {
		return s.plainDemanded(p, found, now)
	}
	if found.asks != nil {
		found.asks.note(now)
	}
	page, err := found.page(p.query.k, p.query.least, found.stale(now))
	if err != nil {
		return nil, nil, 0, false // topK comes upon it again, and reports it
	}
	return p.choose(page)
}

// plainDemanded answers from a list that was made on demand just now.
func (s *Server) plainDemanded(p *plainRequest, found *served, now time.Time) (head, body []byte, status int, ok bool) {
	page, err := s.readyPage(p.query, found, now)
	if err != nil || page == nil {
		return nil, nil, 0, false
	}
	return p.choose(page)
}

// choose returns the answer that a page is to a request.
func (p *plainRequest) choose(page *page) (head, body []byte, status int, ok bool) {
	chosen := page.choose(p.gzip)
	if p.conditional && matches(p.ifNoneMatch, chosen.etag[0]) {
		return chosen.notModified, nil, http.StatusNotModified, true
	}
	return chosen.found, chosen.body, http.StatusOK, true
}
