package rollups

import (
	"iter"
	"time"
)

// span is [from, until).
type span struct{ from, until time.Time }

// seconds are the epoch seconds in s, whose ends are whole ones.
func (s span) seconds() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for second := s.from.Unix(); second < s.until.Unix(); second++ {
			if !yield(second) {
				return
			}
		}
	}
}

// split cuts s at a moment; either part may be empty.
func (s span) split(at time.Time) (before, after span) {
	if at.Before(s.from) {
		at = s.from
	}
	if at.After(s.until) {
		at = s.until
	}
	return span{s.from, at}, span{at, s.until}
}

func (s span) empty() bool { return !s.from.Before(s.until) }

// times are epoch seconds as a parameter of a question.
func times(seconds []int64) []time.Time {
	all := make([]time.Time, len(seconds))
	for i, second := range seconds {
		all[i] = time.Unix(second, 0)
	}
	return all
}
