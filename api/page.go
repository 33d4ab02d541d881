package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
)

// minCompressedBytes is the smallest body worth compressing: less fits one packet as it is.
const minCompressedBytes = 1024

// page is a whole answer in each encoding.
type page struct {
	plain      representation
	compressed *representation // gzip; nil where it does not pay
}

// representation is a body with the headers that belong to it. Header values are slices because that is what http.Header
// holds: a request assigns them and allocates nothing.
type representation struct {
	body     []byte
	etag     []string
	length   []string
	encoding []string // nil for a plain body
}

func newPage(body []byte, tag string, compress bool) (*page, error) {
	p := &page{plain: representation{
		body:   body,
		etag:   []string{`"` + tag + `"`},
		length: []string{strconv.Itoa(len(body))},
	}}
	if !compress || len(body) < minCompressedBytes {
		return p, nil
	}
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	if _, err := w.Write(body); err != nil {
		return nil, fmt.Errorf("compress list: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress list: %w", err)
	}
	p.compressed = &representation{
		body:     buffer.Bytes(),
		etag:     []string{`"` + tag + `.gzip"`},
		length:   []string{strconv.Itoa(buffer.Len())},
		encoding: []string{"gzip"},
	}
	return p, nil
}

// choose returns the representation for a client's Accept-Encoding.
func (p *page) choose(acceptEncoding string) *representation {
	if p.compressed != nil && acceptEncoding != "" && acceptsGzip(acceptEncoding) {
		return p.compressed
	}
	return &p.plain
}
