package ingestor

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends the text that the inside of a JSON string stands for. escapes is false when it has none: then nothing
// is appended. ok is false when half a surrogate pair stands alone, which no text contains. The string has been through
// the decoder, so its escapes are well formed.
func unescape(dst, s []byte) (text []byte, escapes, ok bool) {
	i := bytes.IndexByte(s, '\\')
	if i < 0 {
		return dst, false, true
	}
	ok = true
	for ; i >= 0; i = bytes.IndexByte(s, '\\') {
		dst = append(dst, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		if c != 'u' {
			dst = append(dst, unescaped(c))
			continue
		}
		r := hex4(s)
		s = s[4:]
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
				low = hex4(s[2:])
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				ok = false
			} else {
				s = s[6:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return append(dst, s...), true, ok
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // a quote, a backslash, a slash
}

func hex4(s []byte) (r rune) {
	for _, c := range s[:4] {
		switch {
		case c <= '9':
			c -= '0'
		case c <= 'F':
			c -= 'A' - 10
		default:
			c -= 'a' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}
