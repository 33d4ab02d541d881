package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"topk/internal/grade"
)

const (
	gradesRoute = "/v1/grades"
	// gradesCacheControl is how long it takes until memory has a new grade.
	gradesCacheControl = "public, max-age=10"
	defaultGrades      = 100
	maxGrades          = 1000 // half a megabyte
)

// Query parameters of grades, beside item_type and window.
const (
	parameterSince = "since"
	parameterLimit = "limit"
)

// gradesQuery is what a request for grades asks for. What is empty leaves nothing out.
type gradesQuery struct {
	itemType string
	window   string
	since    time.Time
	limit    int
}

// set takes one parameter.
func (q *gradesQuery) set(name, value string) (err error) {
	switch name {
	case parameterItemType:
		if !isItemType(value) {
			return fmt.Errorf("%q is not an item type: 1 to 32 of a-z, 0-9 and _, starting with a letter", shorten(value))
		}
		q.itemType = value
	case parameterWindow:
		q.window, err = grade.ParseWindow(value)
	case parameterSince:
		if q.since, err = time.Parse(time.RFC3339, value); err != nil {
			return fmt.Errorf("%q is not a time such as 2026-11-29T13:00:00Z (a + in it is written %%2B)", shorten(value))
		}
	case parameterLimit:
		if q.limit, err = strconv.Atoi(value); err != nil || q.limit < 1 || q.limit > maxGrades {
			return fmt.Errorf("%q is not a whole number from 1 to %d", shorten(value), maxGrades)
		}
	default:
		return errors.New("the parameter is not known; known are item_type, window, since and limit")
	}
	return err
}

// matches says whether a grade is asked for.
func (q *gradesQuery) matches(g *grade.Shown) bool {
	return (q.itemType == "" || q.itemType == g.ItemType) && (q.window == "" || q.window == g.Window) && !g.Until.Before(q.since)
}

// answeredGrades is the answer to GET /v1/grades.
type answeredGrades struct {
	Grades []grade.Shown `json:"grades"` // newest time first
	More   bool          `json:"more"`   // there are more than limit
}

// grades answers GET /v1/grades, from memory.
func (s *Server) grades(c echo.Context, _ time.Time) error {
	q := gradesQuery{limit: defaultGrades}
	if mistakes := parseParameters(c.Request().URL.RawQuery, q.set); len(mistakes) > 0 {
		return badRequest(mistakes)
	}
	held := s.graded.shown.Load()
	if held == nil {
		return unavailable("no grade has been loaded from PostgreSQL yet; try again in a moment")
	}
	answer := answeredGrades{Grades: []grade.Shown{}}
	for i := range *held {
		g := &(*held)[i]
		if !q.matches(g) {
			continue
		}
		if answer.More = len(answer.Grades) == q.limit; answer.More {
			break
		}
		answer.Grades = append(answer.Grades, *g)
	}
	c.Response().Header().Set("Cache-Control", gradesCacheControl)
	return c.JSON(http.StatusOK, answer)
}
