package clickhouse

import (
	"context"
	"io"

	"topk/embedded/clickhouse/internal/chdb"
	"topk/embedded/clickhouse/internal/statement"
)

// runWhole answers with a result that is made at once: of statements that have none, or a small one.
func runWhole(conn *chdb.Connection, text, format string, request *request, out *output) error {
	result, statistics, err := conn.Query(text, format, request.params)
	if err != nil {
		return err
	}
	out.start(format, statistics)
	return out.write(result)
}

// runInsert streams data into an INSERT. Memory stays bounded: the engine takes a piece when it is done with the last.
func runInsert(ctx context.Context, conn *chdb.Connection, insert statement.Statement, text string, data io.Reader,
	request *request, out *output) error {
	stream, err := conn.Insert(text, insert.Format, request.params)
	if err != nil {
		return err
	}
	defer stream.Destroy()
	buffer := make([]byte, insertChunk)
	for last := false; !last; {
		var n int
		n, last, err = fill(data, buffer)
		if err == nil && !last {
			err = ctx.Err()
		}
		if err != nil {
			stream.Cancel()
			return exception(codeIncorrectData, "Cannot read the request's body: %s. (INCORRECT_DATA)", err)
		}
		if err := stream.Append(buffer[:n]); err != nil {
			if _, doneErr := stream.Done(); doneErr != nil { // it says what went wrong; Append only that something did
				err = doneErr
			}
			return err
		}
	}
	statistics, err := stream.Done()
	if err != nil {
		return err
	}
	out.start(insert.Format, statistics)
	return nil
}

// fill reads until the buffer is full or the data ends. last is true only for an end that the reader calls one: io.EOF
// itself. io.ErrUnexpectedEOF, and an io.EOF within another error, are what a client that hangs up and a compressed stream
// that was cut look like. io.ReadFull answers the former for a short last piece too.
func fill(data io.Reader, buffer []byte) (n int, last bool, err error) {
	for n < len(buffer) {
		read, err := data.Read(buffer[n:])
		n += read
		if err == io.EOF {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}
