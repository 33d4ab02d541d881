package api

import "strings"

// matches says whether an If-None-Match header names etag, compared weakly (RFC 9110, 13.1.2): W/ makes no difference. A
// header that is malformed matches up to where it makes sense.
func matches(ifNoneMatch, etag string) bool {
	if ifNoneMatch == etag {
		return true
	}
	rest := ifNoneMatch
	for {
		rest = strings.TrimLeft(rest, " \t,")
		if strings.HasPrefix(rest, "*") {
			return true
		}
		rest = strings.TrimPrefix(rest, "W/")
		if !strings.HasPrefix(rest, `"`) {
			return false
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return false
		}
		if rest[:end+2] == etag {
			return true
		}
		rest = rest[end+2:]
	}
}

// acceptsGzip says whether an Accept-Encoding header allows gzip (RFC 9110, 12.5.3).
func acceptsGzip(acceptEncoding string) bool {
	any := false
	for coding := range strings.SplitSeq(acceptEncoding, ",") {
		name, weight, _ := strings.Cut(coding, ";")
		name = strings.TrimSpace(name)
		switch {
		case strings.EqualFold(name, "gzip") || strings.EqualFold(name, "x-gzip"):
			return !isZero(weight)
		case name == "*":
			any = !isZero(weight)
		}
	}
	return any
}

// isZero recognises a weight of nothing: q=0, q=0.0, q=0.00 or q=0.000.
func isZero(weight string) bool {
	name, value, found := strings.Cut(strings.TrimSpace(weight), "=")
	if !found || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return false
	}
	value = strings.TrimSpace(value)
	return strings.HasPrefix(value, "0") && strings.Trim(value, "0.") == ""
}
