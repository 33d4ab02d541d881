package clickhouse

import (
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/klauspost/compress/zstd"

	"topk/embedded/clickhouse/internal/chdb"
)

// frameSize is how much goes into one compressed frame; readers allocate it at once.
const frameSize = 1 << 20

// output is the answer to one request. Until the first byte is written it can still become an error with a status of
// its own.
type output struct {
	w       http.ResponseWriter
	r       *http.Request
	request *request
	tag     string // marks an exception within the body as ours
	sink    io.Writer
	closers []io.Closer
	started bool
}

func newOutput(w http.ResponseWriter, r *http.Request, request *request) *output {
	return &output{w: w, r: r, request: request, tag: strings.ReplaceAll(newID(), "-", "")[:16]}
}

// start sends the status and headers of a success.
func (o *output) start(format string, statistics chdb.Statistics) {
	if o.started {
		return
	}
	o.started = true
	header := o.w.Header()
	header.Set("Content-Type", contentType(format))
	header.Set("X-ClickHouse-Format", format)
	header.Set("X-ClickHouse-Exception-Tag", o.tag)
	header.Set("X-ClickHouse-Summary", summary(statistics))
	o.sink = o.w
	if coding := o.acceptedCoding(); coding != "" {
		header.Set("Content-Encoding", coding)
		o.encode(coding)
	}
	if o.request.compress {
		o.sink = &frameWriter{sink: o.sink, writer: compress.NewWriter(compress.LevelZero, o.frameMethod())}
	}
	o.w.WriteHeader(http.StatusOK)
}

func (o *output) frameMethod() compress.Method {
	if o.request.zstd {
		return compress.ZSTD
	}
	return compress.LZ4
}

// acceptedCoding answers Accept-Encoding, if the request turns HTTP compression on.
func (o *output) acceptedCoding() string {
	if !o.request.httpCoding {
		return ""
	}
	for _, coding := range []string{"gzip", "deflate", "zstd"} {
		if strings.Contains(o.r.Header.Get("Accept-Encoding"), coding) {
			return coding
		}
	}
	return ""
}

func (o *output) encode(coding string) {
	var writer io.WriteCloser
	switch coding {
	case "gzip":
		writer, _ = gzip.NewWriterLevel(o.sink, gzip.BestSpeed) // the level is a valid one
	case "deflate":
		writer, _ = zlib.NewWriterLevel(o.sink, zlib.BestSpeed)
	default:
		writer, _ = zstd.NewWriter(o.sink, zstd.WithEncoderConcurrency(1))
	}
	o.sink = writer
	o.closers = append(o.closers, writer)
}

// write sends a piece of the result. A client that does not read for too long is given up: it holds a query's turn.
func (o *output) write(piece []byte) error {
	_ = http.NewResponseController(o.w).SetWriteDeadline(time.Now().Add(bodyIdleTimeout)) // only a test's writer has none
	_, err := o.sink.Write(piece)
	return err
}

// finish ends a success.
func (o *output) finish() error {
	for _, closer := range o.closers {
		if err := closer.Close(); err != nil {
			return err
		}
	}
	return nil
}

// fail answers with an error: with its status while nothing was sent, else within the body. Then the connection is cut
// before the end of the chunked encoding, so that even a client that does not know ClickHouse sees that rows miss.
func (o *output) fail(err error) {
	problem := asException(err)
	if !o.started {
		header := o.w.Header()
		header.Set("Content-Type", "text/plain; charset=UTF-8")
		header.Set("X-ClickHouse-Exception-Code", fmt.Sprint(problem.Code))
		if problem.Code == codeTooManyQueries {
			header.Set("Retry-After", "1")
		}
		o.w.WriteHeader(problem.status())
		_, _ = io.WriteString(o.w, problem.Text+"\n") // whoever does not read it is gone
		return
	}
	const marker = "__exception__"
	text := problem.Text[:min(len(problem.Text), 16<<10)]
	block := fmt.Sprintf("\r\n%s\r\n%s\r\n%s\n%d %s\r\n%s\r\n", marker, o.tag, text, len(text)+1, o.tag, marker)
	if o.request.compress && len(o.closers) == 0 {
		o.sink = o.w // a frame would hide the marker
	}
	_, _ = io.WriteString(o.sink, block)
	_ = o.finish()
	_ = http.NewResponseController(o.w).Flush()
	panic(http.ErrAbortHandler)
}

// frameWriter writes ClickHouse's compressed frames.
type frameWriter struct {
	sink   io.Writer
	writer *compress.Writer
}

func (f *frameWriter) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		piece := rest[:min(len(rest), frameSize)]
		rest = rest[len(piece):]
		if err := f.writer.Compress(piece); err != nil {
			return 0, err
		}
		if _, err := f.sink.Write(f.writer.Data); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}
