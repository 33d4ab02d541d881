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
	for {
		n, readErr := io.ReadFull(data, buffer)
		if n > 0 {
			if err := stream.Append(buffer[:n]); err != nil {
				_, doneErr := stream.Done() // it says what went wrong; Append only that something did
				if doneErr != nil {
					err = doneErr
				}
				return err
			}
		}
		if readErr == io.EOF || readErr == io.ErrUnexpectedEOF {
			break
		}
		if readErr == nil {
			readErr = ctx.Err()
		}
		if readErr != nil {
			stream.Cancel()
			return exception(codeIncorrectData, "Cannot read the request's body: %s. (INCORRECT_DATA)", readErr)
		}
	}
	statistics, err := stream.Done()
	if err != nil {
		return err
	}
	out.start(insert.Format, statistics)
	return nil
}
