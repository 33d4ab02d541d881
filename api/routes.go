package api

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"topk/internal/problem"
)

// topKRoute is the name of the lists' route in metrics, aliases included.
const topKRoute = "/v1/topk"

// routes is everything the API answers.
func (s *Server) routes(topKMetrics *routeMetrics) http.Handler {
	e := echo.New()
	e.Logger.SetOutput(io.Discard) // errors become problems; nothing is logged per request
	others := s.metrics.route("other")
	e.HTTPErrorHandler = func(err error, c echo.Context) { s.fail(err, c, others) }

	read := []string{http.MethodGet, http.MethodHead}
	topK := s.measured(topKMetrics, s.topK)
	for _, path := range listPaths {
		e.Match(read, path, topK)
	}
	e.Match(read, trendingRoute, s.measured(s.metrics.route(trendingRoute), s.trending))
	e.Match(read, gradesRoute, s.measured(s.metrics.route(gradesRoute), s.grades))
	e.Match(read, chartPath, s.measured(s.metrics.route(chartRoute), s.chart))
	e.Match(read, "/healthz", s.measured(s.metrics.route("/healthz"), s.health))
	e.Match(read, "/readyz", s.measured(s.metrics.route("/readyz"), s.ready))
	metrics := promhttp.HandlerFor(s.gather, promhttp.HandlerOpts{})
	e.Match(read, "/metrics", s.measured(s.metrics.route("/metrics"), func(c echo.Context, _ time.Time) error {
		metrics.ServeHTTP(c.Response(), c.Request())
		return nil
	}))

	if s.config.Ingest != "" {
		forward := s.measured(s.metrics.route("/v1/events"), s.forward())
		e.POST("/v1/events", forward)
		e.POST("/views", forward)
	}
	return e
}

// handler answers a request that came in at now.
type handler func(c echo.Context, now time.Time) error

// measured counts and times a handler, and turns its error into a problem. It is no Echo middleware, because those are put
// together anew for each request.
func (s *Server) measured(m *routeMetrics, h handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		if err := h(c, s.now()); err != nil {
			s.writeProblem(err, c)
		}
		m.observe(c.Response().Status, time.Since(start))
		return nil
	}
}

// fail answers what no handler took: unknown routes and methods.
func (s *Server) fail(err error, c echo.Context, m *routeMetrics) {
	s.writeProblem(err, c)
	m.observe(c.Response().Status, 0)
}

// writeProblem answers with an error.
func (s *Server) writeProblem(err error, c echo.Context) {
	if c.Response().Committed {
		s.log.Error("an answer broke off", "error", err, "path", c.Path())
		return
	}
	p := s.problemOf(err, c)
	_ = p.Write(c.Response()) // the client is gone when this fails
}

// problemOf finds the problem in an error. An error of the API's own is logged, and the client learns nothing of it.
func (s *Server) problemOf(err error, c echo.Context) *problem.Problem {
	var p *problem.Problem
	if errors.As(err, &p) {
		return p
	}
	var known *echo.HTTPError
	if errors.As(err, &known) {
		switch known.Code {
		case http.StatusNotFound:
			return problem.New(known.Code, "there is nothing at this path; lists are at /v1/topk")
		case http.StatusMethodNotAllowed:
			return problem.New(known.Code, "the method is not one of: "+c.Response().Header().Get("Allow"))
		}
		return problem.New(known.Code, http.StatusText(known.Code))
	}
	s.log.Error("a request failed", "error", err, "path", c.Path())
	return problem.New(http.StatusInternalServerError, "something went wrong here; it has been logged")
}
