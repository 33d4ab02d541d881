package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"topk/internal/problem"
)

// health says that the process answers.
func (s *Server) health(c echo.Context, _ time.Time) error {
	return c.JSON(http.StatusOK, map[string]string{"status": "ok"})
}

// ready says that lists can be asked for. It stays so while PostgreSQL is away: what is in memory is served.
func (s *Server) ready(c echo.Context, now time.Time) error {
	lists := s.memory.load()
	if lists == nil {
		p := problem.New(http.StatusServiceUnavailable, "no list has been loaded from PostgreSQL yet")
		p.RetryAfterSeconds = 1
		return p
	}
	stale := 0
	for _, served := range lists.lists {
		if served.stale(now) {
			stale++
		}
	}
	return c.JSON(http.StatusOK, map[string]any{"status": "ready", "lists": len(lists.lists), "stale": stale})
}
