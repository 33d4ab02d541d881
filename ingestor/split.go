package ingestor

import "bytes"

// splitEvents finds the events of a document that has a syntax error somewhere, by strings and brackets alone: it does
// not ask whether what stands between them is JSON. ok is false when not even that much structure is there.
func splitEvents(body []byte) (elements [][]byte, ok bool) {
	s := splitter{b: body}
	switch s.peek() {
	case '[':
	case '{':
		if !s.enterEvents() {
			return nil, false
		}
	default:
		return nil, false
	}
	return s.elements()
}

type splitter struct {
	b []byte
	i int
}

// peek skips space and returns the next byte, 0 at the end.
func (s *splitter) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// take consumes c if it is next.
func (s *splitter) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

// enterEvents goes to the array of the top-level field "events".
func (s *splitter) enterEvents() bool {
	s.i++ // the brace
	for {
		key, ok := s.value()
		if !ok || !s.take(':') {
			return false
		}
		if string(key) == `"events"` {
			return s.peek() == '['
		}
		if _, ok := s.value(); !ok || !s.take(',') {
			return false
		}
	}
}

// elements splits the array that s stands at.
func (s *splitter) elements() (elements [][]byte, ok bool) {
	s.i++ // the bracket
	if s.take(']') {
		return nil, true
	}
	for {
		element, ok := s.value()
		if !ok || len(elements) > MaxEvents {
			return elements, len(elements) > MaxEvents
		}
		elements = append(elements, element)
		switch {
		case s.take(','):
		case s.take(']'):
			return elements, true
		default:
			return nil, false
		}
	}
}

// value consumes one value. Nesting is counted, not followed, so its depth costs nothing.
func (s *splitter) value() (value []byte, ok bool) {
	s.peek()
	start, depth := s.i, 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if !s.skipString() {
				return nil, false
			}
		case '{', '[':
			depth++
			s.i++
		case '}', ']':
			if depth == 0 {
				return s.b[start:s.i], s.i > start
			}
			depth--
			s.i++
		case ',', ':':
			if depth == 0 {
				return s.b[start:s.i], s.i > start
			}
			s.i++
		default:
			s.i++
			continue // a scalar or space goes on until a separator
		}
		if depth == 0 && s.i < len(s.b) {
			if c := s.peek(); c == ',' || c == ':' || c == ']' || c == '}' {
				return bytes.TrimSpace(s.b[start:s.i]), true
			}
		}
	}
	return nil, false
}

func (s *splitter) skipString() bool {
	for s.i++; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case '\\':
			s.i++
		case '"':
			s.i++
			return true
		}
	}
	return false
}
