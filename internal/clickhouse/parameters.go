package clickhouse

import (
	"fmt"
	"strings"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
)

// Parameters are bound by the server, so no text of a client is ever part of a statement.
type Parameters map[string]any

func (p Parameters) encode() ch.Parameters {
	encoded := make(ch.Parameters, len(p))
	for name, value := range p {
		encoded[name] = encodeParameter(value)
	}
	return encoded
}

// encodeParameter writes a value as ClickHouse reads parameters: arrays as literals, plain texts with tab-separated escapes.
func encodeParameter(value any) string {
	switch v := value.(type) {
	case time.Time:
		return v.UTC().Format(time.DateTime)
	case []time.Time:
		literals := make([]string, len(v))
		for i, t := range v {
			literals[i] = "'" + t.UTC().Format(time.DateTime) + "'"
		}
		return "[" + strings.Join(literals, ",") + "]"
	case []uint64, []int64:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ",")
	case []string:
		literals := make([]string, len(v))
		for i, s := range v {
			literals[i] = "'" + quoteEscapes.Replace(s) + "'"
		}
		return "[" + strings.Join(literals, ",") + "]"
	case string:
		return textEscapes.Replace(v)
	default:
		return fmt.Sprint(v)
	}
}

var (
	quoteEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	textEscapes  = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`)
)
