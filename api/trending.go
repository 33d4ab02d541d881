package api

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"topk/internal/list"
	"topk/internal/problem"
)

// trendingRoute is where lists of items that trend are.
const trendingRoute = "/v1/trending"

// trendingParameters are those of lists that an order by score has a meaning for.
var trendingParameters = []string{parameterItemType, parameterK, parameterCountry, parameterCategory, parameterLanguage, parameterRegion}

// parseTrending reads a raw query string. It returns every mistake, or none.
func (s slicing) parseTrending(raw string) (query, []problem.Error) {
	return s.parse(raw, list.TrendingWindow, func(name string) error {
		if !slices.Contains(trendingParameters, name) {
			return errors.New("the parameter is not known; known are " + strings.Join(trendingParameters, ", "))
		}
		return nil
	})
}

// trending answers GET /v1/trending.
func (s *Server) trending(c echo.Context, now time.Time) error {
	q, mistakes := s.slicing.parseTrending(c.Request().URL.RawQuery)
	if len(mistakes) > 0 {
		return badRequest(mistakes)
	}
	return s.answerList(c, q, now)
}
