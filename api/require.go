package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"topk/internal/list"
	"topk/internal/problem"
)

// What a request may require of a list. One that is not is refused with 412 and the reason.
const (
	requireExact     = "exact"     // every count is the truth, and membership is proven
	requireCertified = "certified" // membership is proven
)

// refuse says why a list is not what a request requires; nil when it is.
func refuse(l *list.List, q query) *problem.Problem {
	if q.require == "" {
		return nil
	}
	no := func(format string, a ...any) *problem.Problem {
		return problem.New(http.StatusPreconditionFailed, fmt.Sprintf("the list is not "+q.require+": "+format, a...))
	}
	if q.require == requireExact {
		open := ""
		if l.ExactUntil != nil {
			open = ", since " + l.ExactUntil.Format(time.RFC3339)
		}
		switch {
		case l.Method == list.MethodEstimated:
			return no("its counts are estimated%s", open)
		case len(l.Partial) > 0:
			return no("events came late for %s and are not counted yet", strings.Join(l.Partial, ", "))
		case l.MaxOvercount > 0:
			return no("%d views were sent more than once%s, and any count may be too high by so many", l.MaxOvercount, open)
		}
	}
	if cut := l.CutAt(q.k, q.least); !cut.Certified {
		return no("it is not proven that no other item belongs among the first %d (floor %d, max_overcount %d)", q.k, l.Floor, l.MaxOvercount)
	}
	return nil
}
