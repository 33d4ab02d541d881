package clickhouse

import (
	"bufio"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// zstdWindow bounds what a zstd stream may make its reader allocate.
const zstdWindow = 64 << 20

// openBody undoes Content-Encoding and ClickHouse's own framing. Nothing is read before it is asked for.
func openBody(w http.ResponseWriter, r *http.Request, framed bool) (io.Reader, error) {
	var body io.Reader = &patientReader{body: r.Body, control: http.NewResponseController(w)}
	decoded, err := decode(body, r.Header.Get("Content-Encoding"))
	if err != nil {
		return nil, err
	}
	if framed {
		buffered := bufio.NewReader(decoded)
		decoded = &frameReader{source: buffered, frames: compress.NewReader(buffered)}
	}
	return decoded, nil
}

func decode(body io.Reader, coding string) (io.Reader, error) {
	switch coding {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return &lazyReader{source: body, open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}, nil
	case "deflate":
		return &lazyReader{source: body, open: func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }}, nil
	case "zstd":
		return &lazyReader{source: body, open: openZstd}, nil
	case "lz4":
		return lz4.NewReader(body), nil
	case "br":
		return brotli.NewReader(body), nil
	}
	return nil, exception(codeNotImplemented, "Unknown Content-Encoding: %s. (NOT_IMPLEMENTED)", coding)
}

func openZstd(r io.Reader) (io.Reader, error) {
	reader, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return nil, err
	}
	return reader.IOReadCloser(), nil
}

// frameReader undoes ClickHouse's compressed frames. The data may end between two frames and nowhere else.
type frameReader struct {
	source *bufio.Reader
	frames *compress.Reader
}

func (f *frameReader) Read(p []byte) (int, error) {
	_, peekErr := f.source.Peek(1)
	n, err := f.frames.Read(p)
	if n == 0 && errors.Is(err, io.EOF) {
		if errors.Is(peekErr, io.EOF) {
			return 0, io.EOF
		}
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// lazyReader opens a decoder on the first read, because gzip reads its header when it is made. An empty body is empty.
type lazyReader struct {
	source io.Reader
	open   func(io.Reader) (io.Reader, error)
	reader io.Reader
	err    error
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.reader == nil && l.err == nil {
		l.reader, l.err = l.open(l.source)
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.reader.Read(p)
}

// patientReader gives each read of a body its own time limit: an insert may take hours, a stalled one may not.
type patientReader struct {
	body    io.Reader
	control *http.ResponseController
}

func (p *patientReader) Read(buffer []byte) (int, error) {
	// A connection that cannot have a deadline is one of a test; it has none then.
	_ = p.control.SetReadDeadline(time.Now().Add(bodyIdleTimeout))
	n, err := p.body.Read(buffer)
	_ = p.control.SetReadDeadline(time.Time{})
	return n, err
}
