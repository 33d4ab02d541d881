package ingestor

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var (
	errTooLarge   = fmt.Errorf("the body is larger than %d bytes, or %d as sent when compressed", MaxBodyBytes, MaxCompressedBytes)
	errEncoding   = errors.New("Content-Encoding must be gzip, zstd or identity")
	errCompressed = errors.New("the body does not decompress")
	errBusy       = errors.New("too many bodies are being read at once")
)

// bodies reads request bodies within a budget of memory that all of them share.
type bodies struct {
	inFlight atomic.Int64
	zstd     *zstd.Decoder
	buffers  sync.Pool // *[]byte
	gzips    sync.Pool // *gzip.Reader
}

func newBodies() (*bodies, error) {
	// For DecodeAll only: it keeps no goroutines and no window, and refuses what would become larger.
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxBodyBytes))
	if err != nil {
		return nil, fmt.Errorf("making a zstd decoder: %w", err)
	}
	return &bodies{zstd: d}, nil
}

// body is one request's bytes, decompressed. release gives its memory back.
type body struct {
	bytes  []byte
	held   int64 // of the budget
	buffer *[]byte
	from   *bodies
}

// smallBody is what a pooled buffer starts with: a request of 50 events or so. keptBody is what one may keep.
const (
	smallBody = 16 << 10
	keptBody  = 1 << 20
)

func (s *bodies) newBody() *body {
	buffer, _ := s.buffers.Get().(*[]byte)
	if buffer == nil {
		b := make([]byte, 0, smallBody)
		buffer = &b
	}
	return &body{buffer: buffer, from: s}
}

func (b *body) release() {
	b.from.inFlight.Add(-b.held)
	b.held, b.bytes = 0, nil
	if cap(*b.buffer) <= keptBody {
		b.from.buffers.Put(b.buffer)
	}
	b.buffer = nil
}

// hold charges the budget with n bytes in all, or what the buffer takes anyway, if it allows.
func (b *body) hold(n int) error {
	n = max(n, cap(*b.buffer))
	if more := int64(n) - b.held; more > 0 {
		if b.from.inFlight.Add(more) > maxInFlightBytes {
			b.from.inFlight.Add(-more)
			return errBusy
		}
		b.held = int64(n)
	}
	return nil
}

// reserve makes the buffer hold n bytes, if the budget allows.
func (b *body) reserve(n int) error {
	if err := b.hold(n); err != nil {
		return err
	}
	if cap(*b.buffer) < n {
		*b.buffer = append(make([]byte, 0, n), *b.buffer...)
	}
	return nil
}

// fill reads r to its end, at most limit bytes. size is what is expected, negative when unknown.
func (b *body) fill(r io.Reader, size int64, limit int) error {
	if size > int64(limit) {
		return errTooLarge
	}
	*b.buffer = (*b.buffer)[:0]
	want := smallBody
	if size >= 0 {
		want = int(size) + 1 // room to see the end without growing
	}
	for {
		if err := b.reserve(min(want, limit+1)); err != nil {
			return err
		}
		buf := *b.buffer
		n, err := r.Read(buf[len(buf):cap(buf)])
		*b.buffer = buf[:len(buf)+n]
		switch {
		case len(*b.buffer) > limit:
			return errTooLarge
		case err == io.EOF:
			b.bytes = *b.buffer
			return nil
		case err != nil:
			return err
		}
		if len(*b.buffer) == cap(*b.buffer) {
			want = 2 * cap(*b.buffer)
		}
	}
}

// read reads and decompresses a request's body. The caller releases it, also after an error.
func (s *bodies) read(r *http.Request) (*body, error) {
	b := s.newBody()
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return b, b.fill(r.Body, r.ContentLength, MaxBodyBytes)
	case "gzip", "x-gzip":
		return b, s.readGzip(b, r)
	case "zstd":
		return b, s.readZstd(b, r)
	default:
		return b, errEncoding
	}
}

// compressedReader fails with errTooLarge after MaxCompressedBytes.
type compressedReader struct {
	r    io.Reader
	left int
}

func (c *compressedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p[:min(len(p), c.left+1)])
	if c.left -= n; c.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

func (s *bodies) readGzip(b *body, r *http.Request) error {
	source := &compressedReader{r: r.Body, left: MaxCompressedBytes}
	gz, _ := s.gzips.Get().(*gzip.Reader)
	if gz == nil {
		gz = new(gzip.Reader)
	}
	defer s.gzips.Put(gz)
	err := gz.Reset(source)
	if err == nil {
		err = b.fill(gz, -1, MaxBodyBytes)
	}
	if err == nil || errors.Is(err, errTooLarge) || errors.Is(err, errBusy) {
		return err
	}
	return fmt.Errorf("%w: %w", errCompressed, err)
}

func (s *bodies) readZstd(b *body, r *http.Request) error {
	packed := s.newBody()
	defer packed.release()
	if err := packed.fill(r.Body, r.ContentLength, MaxCompressedBytes); err != nil {
		return err
	}
	var header zstd.Header
	if err := header.Decode(packed.bytes); err != nil {
		return fmt.Errorf("%w: %w", errCompressed, err)
	}
	// The budget is charged with what the body may become: a frame that does not say its size may become anything.
	size := MaxBodyBytes
	if header.HasFCS {
		if header.FrameContentSize > MaxBodyBytes {
			return errTooLarge
		}
		size = int(header.FrameContentSize)
	}
	if err := b.hold(size); err != nil {
		return err
	}
	out, err := s.zstd.DecodeAll(packed.bytes, (*b.buffer)[:0])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || len(out) > MaxBodyBytes {
		return errTooLarge
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errCompressed, err)
	}
	b.bytes, *b.buffer = out, out
	return nil
}
