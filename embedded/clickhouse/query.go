package clickhouse

import (
	"context"
	"io"
	"strconv"

	"topk/embedded/clickhouse/internal/chdb"
	"topk/embedded/clickhouse/internal/statement"
)

// runSelect answers a query, in pieces where the format allows it.
func runSelect(ctx context.Context, conn *chdb.Connection, text, format string, request *request, out *output) error {
	if !isPiecewise(format) || request.buffered {
		return runWhole(conn, text, format, request, out)
	}
	stream, err := conn.Stream(text, format, request.params)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		piece, statistics, err := stream.Fetch()
		if err != nil {
			return err
		}
		out.start(format, statistics)
		if len(piece) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			stream.Cancel()
			return exception(codeQueryWasCancelled, "Query was cancelled. (QUERY_WAS_CANCELLED)")
		}
		if err := out.write(piece); err != nil {
			stream.Cancel()
			return err
		}
	}
}

// runWhole answers with a result that is made at once, and everything without a result.
func runWhole(conn *chdb.Connection, text, format string, request *request, out *output) error {
	result, statistics, err := conn.Query(text, format, request.params)
	if err != nil {
		return err
	}
	out.start(format, statistics)
	return out.write(result)
}

// bufferLimit makes the engine refuse a result that is too large to be made at once.
func bufferLimit(settings []setting) []setting {
	for _, s := range settings {
		if s.name == "max_result_bytes" {
			return settings
		}
	}
	return append(settings[:len(settings):len(settings)],
		setting{"max_result_bytes", strconv.Itoa(maxBufferedResult)}, setting{"result_overflow_mode", "throw"})
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
