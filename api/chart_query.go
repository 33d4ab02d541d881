package api

import (
	"fmt"
	"time"

	"topk/internal/event"
	"topk/internal/list"
	"topk/internal/problem"
	"topk/internal/zone"
)

// chartQuery is what a request for a day chart asks for.
type chartQuery struct {
	key         chartKey
	k           int
	from, until time.Time // of the day
}

// chartKey names a chart.
type chartKey struct {
	chartDay
	itemType string
}

// chartDay names a day in a time zone.
type chartDay struct{ zone, day string }

// Parameters of a day chart; the day is in the path.
const (
	parameterDay  = "day"
	parameterZone = "tz"
)

// parseChartQuery reads the day of a path and a raw query string. It returns every mistake, or none.
func parseChartQuery(day, raw string) (chartQuery, []problem.Error) {
	q := chartQuery{key: chartKey{chartDay{zone: zone.Default}, event.DefaultItemType}, k: list.DefaultK}
	mistakes := parseParameters(raw, q.set)
	date, err := zone.ParseDay(day)
	if err != nil {
		mistakes = append(mistakes, problem.Error{Parameter: parameterDay, Detail: err.Error()})
	}
	location, err := zone.Load(q.key.zone)
	if err != nil {
		mistakes = append(mistakes, problem.Error{Parameter: parameterZone, Detail: err.Error()})
	}
	if len(mistakes) > 0 {
		return q, mistakes
	}
	q.key.day = date.String()
	q.from, q.until = date.Bounds(location)
	if q.from.Equal(q.until) {
		mistakes = append(mistakes, problem.Error{Parameter: parameterDay, Detail: fmt.Sprintf("%s was left out in %s", date, q.key.zone)})
	}
	return q, mistakes
}

// set takes one parameter.
func (q *chartQuery) set(name, value string) error {
	switch name {
	case parameterItemType:
		return setItemType(&q.key.itemType, value)
	case parameterK:
		return setK(&q.k, value)
	case parameterZone:
		q.key.zone = value
		return nil
	default:
		return fmt.Errorf("the parameter is not known; known are %s, %s and %s", parameterItemType, parameterZone, parameterK)
	}
}
