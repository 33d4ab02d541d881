package clickhouse

import (
	"fmt"
	"strings"

	"topk/embedded/clickhouse/internal/chdb"
)

// defaultFormat is ClickHouse's over HTTP.
const defaultFormat = "TabSeparated"

func contentType(format string) string {
	name := strings.ToLower(format)
	switch {
	case strings.HasPrefix(name, "csv"):
		if strings.Contains(name, "withnames") {
			return "text/csv; charset=UTF-8; header=present"
		}
		return "text/csv; charset=UTF-8; header=absent"
	case strings.HasPrefix(name, "tabseparated"), strings.HasPrefix(name, "tsv"):
		return "text/tab-separated-values; charset=UTF-8"
	case strings.HasSuffix(name, "eachrow"), name == "jsonlines", name == "ndjson":
		return "application/x-ndjson; charset=UTF-8"
	case strings.HasPrefix(name, "json"):
		return "application/json; charset=UTF-8"
	case name == "xml":
		return "application/xml; charset=UTF-8"
	case strings.HasPrefix(name, "pretty"), name == "vertical", name == "values", name == "tskv", name == "markdown":
		return "text/plain; charset=UTF-8"
	}
	return "application/octet-stream"
}

// summary is the value of X-ClickHouse-Summary; ClickHouse writes its numbers as strings.
func summary(s chdb.Statistics) string {
	return fmt.Sprintf(`{"read_rows":"%d","read_bytes":"%d","written_rows":"%d","written_bytes":"%d",`+
		`"total_rows_to_read":"0","result_rows":"%d","result_bytes":"0"}`,
		s.RowsRead, s.BytesRead, s.RowsWritten, s.BytesWritten, s.ResultRows)
}
