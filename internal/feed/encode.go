package feed

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// appendString appends s, which must be valid UTF-8, as a JSON string. encoding/json would escape <, > and & for
// browsers and use reflection, which costs a generator more than everything else it does.
func appendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' || c >= utf8.RuneSelf {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if c == '"' || c == '\\' {
			dst = append(dst, '\\', c)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendField appends a comma, the name and the value as JSON, or nothing when the value is empty.
func appendField(dst []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return appendString(dst, value)
}

// An events body is bodyOpen, events with commas between, bodyClose.
const (
	bodyOpen  = `{"events":[`
	bodyClose = `]}`
)
