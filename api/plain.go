package api

import (
	"bytes"
	"strings"
)

// plainRequest is a request for a list, of the plainest kind: GET over HTTP/1.1, nothing unusual in its head.
type plainRequest struct {
	query       query
	gzip        bool // the client takes it
	conditional bool // ifNoneMatch was given
	ifNoneMatch string
}

// listPaths are the paths of a list: the first is its name, the others are aliases.
var listPaths = []string{topKRoute, "/topk", "/top"}

var (
	endOfHead = []byte("\r\n\r\n")
	getMethod = []byte("GET ")
	version11 = []byte(" HTTP/1.1")
)

// parsePlain reads the head of a request, up to and with its empty line. It is strict, and says no to whatever it is not
// sure of: net/http then decides, so there is one judge of malformed requests. What it takes, net/http would read the
// same way.
func (s slicing) parsePlain(head []byte) (*plainRequest, bool) {
	lines, ok := bytes.CutSuffix(head, endOfHead)
	if !ok {
		return nil, false
	}
	first, rest, _ := bytes.Cut(lines, []byte("\r\n"))
	target, ok := bytes.CutPrefix(first, getMethod)
	if !ok {
		return nil, false
	}
	if target, ok = bytes.CutSuffix(target, version11); !ok {
		return nil, false
	}
	p := &plainRequest{}
	if !p.target(string(target), s) || !p.fields(rest) {
		return nil, false
	}
	return p, true
}

// target takes the path and the query, when both are without a mistake.
func (p *plainRequest) target(target string, s slicing) bool {
	for i := range len(target) {
		if target[i] <= ' ' || target[i] >= 0x7f || target[i] == '#' {
			return false
		}
	}
	path, raw, _ := strings.Cut(target, "?")
	for _, known := range listPaths {
		if path == known {
			parsed, mistakes := s.parseQuery(raw)
			p.query = parsed
			return len(mistakes) == 0
		}
	}
	return false
}

// fields takes the header fields.
func (p *plainRequest) fields(rest []byte) bool {
	hosts := 0
	var encodings, tags []string
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, ok := parseField(line)
		if !ok {
			return false
		}
		switch strings.ToLower(name) {
		case "host":
			hosts++
			if !isPlainHost(value) {
				return false
			}
		case "accept-encoding":
			encodings = append(encodings, value)
		case "if-none-match":
			tags = append(tags, value)
		case "connection":
			if !strings.EqualFold(value, "keep-alive") {
				return false
			}
		case "content-length", "transfer-encoding", "trailer", "expect", "upgrade", "te":
			return false // a body, or another protocol
		}
	}
	p.gzip = acceptsGzip(joined(encodings))
	p.conditional, p.ifNoneMatch = len(tags) > 0, joined(tags)
	return hosts == 1
}

// parseField reads "Name: value", with white space around the value and nothing else around.
func parseField(line []byte) (name, value string, ok bool) {
	before, after, found := bytes.Cut(line, []byte(":"))
	if !found || len(before) == 0 {
		return "", "", false
	}
	for _, b := range before {
		if !isLetterDigitOrDash(b) {
			return "", "", false
		}
	}
	for _, b := range after {
		if (b < ' ' && b != '\t') || b >= 0x7f {
			return "", "", false
		}
	}
	return string(before), strings.Trim(string(after), " \t"), true
}

func isLetterDigitOrDash(b byte) bool {
	return b == '-' || (b >= '0' && b <= '9') || (b|0x20 >= 'a' && b|0x20 <= 'z')
}

// isPlainHost takes names and addresses with a port. Anything else a host may be is left to net/http.
func isPlainHost(host string) bool {
	for i := range len(host) {
		if b := host[i]; !isLetterDigitOrDash(b) && b != '.' && b != ':' && b != '[' && b != ']' {
			return false
		}
	}
	return host != ""
}
