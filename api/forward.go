package api

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"topk/internal/problem"
)

// forward passes events on to the ingestor, so that a small installation has one address. The ingestor's limits hold, and
// its answer is the client's.
func (s *Server) forward() handler {
	target, err := url.Parse(s.config.Ingest)
	if err != nil {
		// Validate has parsed it before.
		target = &url.URL{}
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
		},
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			s.log.Warn("the ingestor does not answer", "error", err)
			p := problem.New(http.StatusServiceUnavailable,
				"the ingestor does not answer; send the events again with the same ids: a repeat is counted once")
			p.RetryAfterSeconds = 1
			_ = p.Write(w) // the client is gone when this fails
		},
	}
	return func(c echo.Context, _ time.Time) error {
		proxy.ServeHTTP(c.Response(), c.Request())
		return nil
	}
}
