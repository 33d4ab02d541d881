package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"topk/embedded/clickhouse/internal/chdb"
	"topk/embedded/clickhouse/internal/statement"
)

// runSelect answers a query of any size. The library's own streaming makes a whole document of every block, which is
// wrong for each format that has a header, so the query writes INTO OUTFILE instead, and the file is a pipe: the engine
// formats as a server does, and is held back when the client reads slowly.
//
// The first holdback bytes wait for more, so that a query that fails early is answered with the error's own status.
func runSelect(ctx context.Context, cancel func(), conn *chdb.Connection, parsed statement.Statement, format string,
	request *request, out *output) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open a pipe for the result: %w", err)
	}
	defer func() { _ = reader.Close() }() // a pipe keeps nothing
	text, clause := intoFile(parsed, format, writer, request.id)
	ended := make(chan ending, 1)
	go func() {
		_, statistics, err := conn.Query(text, format, request.params)
		_ = writer.Close() // the engine writes to a descriptor of its own
		ended <- ending{statistics, withoutClause(err, clause)}
	}()
	sent := &holdback{out: out, format: format, limit: holdbackSize}
	if request.buffered {
		sent.limit = maxBufferedResult
	}
	_, copyErr := io.CopyBuffer(struct{ io.Writer }{sent}, struct{ io.Reader }{reader}, make([]byte, pipeChunk))
	if copyErr != nil {
		// The client is gone or asked for too much. The query is cancelled and what it still writes is thrown away: a
		// closed pipe would send SIGPIPE to a thread of the engine.
		cancel()
		_, _ = io.Copy(io.Discard, reader)
	}
	end := <-ended
	switch {
	case copyErr != nil:
		return copyErr
	case end.err != nil:
		return end.err
	case ctx.Err() != nil:
		return exception(codeQueryWasCancelled, "Query was cancelled. (QUERY_WAS_CANCELLED)")
	}
	return sent.release(end.statistics)
}

// ending is how a query in the engine ended.
type ending struct {
	statistics chdb.Statistics
	err        error
}

// intoFile adds where the result goes, and returns the clause too.
func intoFile(parsed statement.Statement, format string, file *os.File, id string) (text, clause string) {
	path := "/proc/self/fd"
	if runtime.GOOS == "darwin" {
		path = "/dev/fd"
	}
	clause = fmt.Sprintf("\nINTO OUTFILE '%s/%d' APPEND ", path, file.Fd())
	after := parsed.Text[parsed.Cut:]
	if after == "" {
		after = "FORMAT " + format
	}
	return parsed.Text[:parsed.Cut] + clause + after + marker(id), clause
}

// withoutClause takes the added clause out of an error that quotes the statement.
func withoutClause(err error, clause string) error {
	if err == nil || !strings.Contains(err.Error(), clause) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), clause, " "))
}

// holdback keeps the first bytes of a result until there are more than limit, or the query has ended well.
type holdback struct {
	out    *output
	format string
	limit  int
	kept   []byte
}

func (h *holdback) Write(piece []byte) (int, error) {
	if !h.out.started && len(h.kept)+len(piece) <= h.limit {
		h.kept = append(h.kept, piece...)
		return len(piece), nil
	}
	if !h.out.started && h.out.request.buffered {
		return 0, exception(codeTooManyBytes, "The result is larger than %d bytes, which wait_end_of_query=1 would keep in memory. "+
			"(TOO_MANY_ROWS_OR_BYTES)", h.limit)
	}
	if err := h.release(chdb.Statistics{}); err != nil {
		return 0, err
	}
	return len(piece), h.out.write(piece)
}

// release sends the headers and what was kept.
func (h *holdback) release(statistics chdb.Statistics) error {
	h.out.start(h.format, statistics)
	kept := h.kept
	h.kept = nil
	if len(kept) == 0 {
		return nil
	}
	return h.out.write(kept)
}
