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

// representation is a body with the headers that belong to it, in both forms in which an answer leaves. Header values are
// slices because that is what http.Header holds: a request assigns them and allocates nothing.
type representation struct {
	body         []byte
	etag         []string
	length       []string
	encoding     []string // nil for a plain body
	cacheControl []string

	found       []byte // the head of a 200 as bytes, all but Date and the empty line
	notModified []byte // the same of a 304
}

// newPage makes a page of a JSON body.
func newPage(body []byte, tag, cacheControl string, compress bool) (*page, error) {
	p := &page{plain: newRepresentation(body, tag, "", cacheControl)}
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
	compressed := newRepresentation(buffer.Bytes(), tag+".gzip", "gzip", cacheControl)
	p.compressed = &compressed
	return p, nil
}

func newRepresentation(body []byte, tag, encoding, cacheControl string) representation {
	r := representation{
		body:         body,
		etag:         []string{`"` + tag + `"`},
		length:       []string{strconv.Itoa(len(body))},
		cacheControl: []string{cacheControl},
	}
	shared := "Cache-Control: " + cacheControl + "\r\nEtag: " + r.etag[0] + "\r\nVary: " + varyAcceptEncoding[0] + "\r\n"
	own := ""
	if encoding != "" {
		r.encoding = []string{encoding}
		own = "Content-Encoding: " + encoding + "\r\n"
	}
	own += "Content-Length: " + r.length[0] + "\r\nContent-Type: " + contentTypeJSON[0] + "\r\n"
	r.found = []byte("HTTP/1.1 200 OK\r\n" + shared + own)
	r.notModified = []byte("HTTP/1.1 304 Not Modified\r\n" + shared)
	return r
}

// size is about what the page takes in memory.
func (p *page) size() int {
	bytes := len(p.plain.body)
	if p.compressed != nil {
		bytes += len(p.compressed.body)
	}
	return bytes
}

// choose returns the representation for a client that takes gzip, or does not.
func (p *page) choose(gzip bool) *representation {
	if gzip && p.compressed != nil {
		return p.compressed
	}
	return &p.plain
}
