package clickhouse

import (
	"context"
	"errors"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// timeoutCode is ClickHouse's TIMEOUT_EXCEEDED.
const timeoutCode = 159

// TimedOut tells a query that took too long from one that failed.
func TimedOut(err error) bool {
	var exception *proto.Exception
	if errors.As(err, &exception) {
		return exception.Code == timeoutCode
	}
	return errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "TIMEOUT_EXCEEDED")
}
