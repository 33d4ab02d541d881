package clickhouse

import (
	"fmt"
	"strings"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// helloQuery is the first thing clickhouse-go asks. It reads the answer at its own protocol revision, and everything
// after at the revision that the answer names.
const helloQuery = "SELECT displayName(), version(), revision(), timezone()"

func isHello(text, format string, protocol int) bool {
	return protocol > 0 && strings.EqualFold(format, "Native") && strings.TrimSpace(text) == helloQuery
}

// hello answers with revision 0, at which Native over HTTP is what the library writes.
func (e *engine) hello(protocol int) ([]byte, error) {
	block := proto.NewBlock()
	for _, names := range [][2]string{{"displayName()", "String"}, {"version()", "String"}, {"revision()", "UInt32"}, {"timezone()", "String"}} {
		if err := block.AddColumn(names[0], column.Type(names[1])); err != nil {
			return nil, fmt.Errorf("answer the client's hello: %w", err)
		}
	}
	if err := block.Append(e.name, e.version, uint32(0), e.timezone); err != nil {
		return nil, fmt.Errorf("answer the client's hello: %w", err)
	}
	var buffer chproto.Buffer
	if err := block.Encode(&buffer, uint64(protocol)); err != nil {
		return nil, fmt.Errorf("answer the client's hello: %w", err)
	}
	return buffer.Buf, nil
}
