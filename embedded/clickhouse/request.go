package clickhouse

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"topk/embedded/clickhouse/internal/chdb"
)

// request is what a caller asks for, apart from the statement itself.
type request struct {
	query      string // ?query=
	id         string
	state      state
	params     []chdb.Param
	format     string // wanted where the statement names none
	protocol   int    // client_protocol_version: the revision clickhouse-go expects its first answer in
	maxQuery   int    // bytes of statement text
	buffered   bool   // answer only once the whole result is known
	compress   bool   // answer in ClickHouse's own compressed frames
	zstd       bool   // ... with ZSTD instead of LZ4
	decompress bool   // the body is in such frames
	httpCoding bool   // Accept-Encoding counts
	session    sessionRequest
}

type sessionRequest struct {
	id      string
	timeout time.Duration
	check   bool // it must exist already
}

// transport are the URL parameters about HTTP itself, and settings that mean nothing to one engine on loopback. They
// never reach the engine.
var transport = map[string]func(*request, string) error{
	"query":                      func(r *request, v string) error { r.query = v; return nil },
	"query_id":                   func(r *request, v string) error { r.id = v; return nil },
	"database":                   func(r *request, v string) error { r.state.database = v; return nil },
	"default_format":             func(r *request, v string) error { r.format = v; return nil },
	"client_protocol_version":    number(func(r *request, n int) { r.protocol = n }),
	"max_query_size":             number(setMaxQuery),
	"compress":                   flag(func(r *request, on bool) { r.compress = on }),
	"decompress":                 flag(func(r *request, on bool) { r.decompress = on }),
	"enable_http_compression":    flag(func(r *request, on bool) { r.httpCoding = on }),
	"wait_end_of_query":          flag(func(r *request, on bool) { r.buffered = on }),
	"network_compression_method": func(r *request, v string) error { r.zstd = strings.EqualFold(v, "ZSTD"); return nil },
	"session_id":                 func(r *request, v string) error { r.session.id = v; return nil },
	"session_check":              flag(func(r *request, on bool) { r.session.check = on }),
	"session_timeout":            sessionTimeout,

	"user": ignored, "password": ignored, "quota_key": ignored, "role": ignored, "stacktrace": ignored,
	"buffer_size": ignored, "network_zstd_compression_level": ignored, "http_zlib_compression_level": ignored,
	"send_progress_in_http_headers": ignored, "http_headers_progress_interval_ms": ignored,
	"add_http_cors_header": ignored, "http_write_exception_in_output_format": ignored,
	// Every insert is in a part before it is answered, whatever was asked: that is the stronger promise.
	"async_insert": ignored, "wait_for_async_insert": ignored, "wait_for_async_insert_timeout": ignored,
	"async_insert_busy_timeout_ms": ignored, "async_insert_max_data_size": ignored,
}

// setMaxQuery leaves the engine room for the marker that is added to the statement.
func setMaxQuery(r *request, n int) {
	r.maxQuery = min(max(n, 0), maxQuerySizeAllowed)
	r.state.settings = append(r.state.settings, setting{"max_query_size", strconv.Itoa(r.maxQuery + maxMarkerSize)})
}

func ignored(*request, string) error { return nil }

func number(set func(*request, int)) func(*request, string) error {
	return func(r *request, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is no number", text)
		}
		set(r, n)
		return nil
	}
}

func flag(set func(*request, bool)) func(*request, string) error {
	return func(r *request, text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is no boolean", text)
		}
		set(r, on)
		return nil
	}
}

func sessionTimeout(r *request, text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds <= 0 || seconds > maxSessionTimeout.Seconds() {
		return exception(codeInvalidSessionTimeout, "Invalid session timeout: '%s'. (INVALID_SESSION_TIMEOUT)", text)
	}
	r.session.timeout = time.Duration(seconds * float64(time.Second))
	return nil
}

// parseRequest reads the URL and the X-ClickHouse headers; a parameter wins over a header, as in ClickHouse.
func parseRequest(r *http.Request) (*request, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, exception(codeBadArguments, "Cannot parse the URL: %s. (BAD_ARGUMENTS)", err)
	}
	parsed := &request{
		id:       r.Header.Get("X-ClickHouse-Query-Id"),
		format:   r.Header.Get("X-ClickHouse-Format"),
		state:    state{database: r.Header.Get("X-ClickHouse-Database"), readonly: r.Method != http.MethodPost},
		maxQuery: maxQuerySize,
		session:  sessionRequest{timeout: defaultSessionTimeout},
	}
	for name, list := range values {
		if err := parsed.set(name, list[len(list)-1]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(parsed.state.settings, func(a, b setting) int { return strings.Compare(a.name, b.name) })
	if parsed.id == "" {
		parsed.id = newID()
	}
	if len(parsed.id) > maxQueryID {
		return nil, exception(codeBadArguments, "The query_id is longer than %d bytes. (BAD_ARGUMENTS)", maxQueryID)
	}
	return parsed, nil
}

func (r *request) set(name, value string) error {
	if name == "" { // ?a=b&&c=d: ClickHouse skips these too
		return nil
	}
	if read, ok := transport[name]; ok {
		if err := read(r, value); err != nil {
			var known *Exception
			if errors.As(err, &known) {
				return known
			}
			return exception(codeBadArguments, "Parameter %s: %s. (BAD_ARGUMENTS)", name, err)
		}
		return nil
	}
	if param, ok := strings.CutPrefix(name, "param_"); ok {
		r.params = append(r.params, chdb.Param{Name: param, Value: value})
		return nil
	}
	r.state.settings = append(r.state.settings, setting{name, value})
	return nil
}

// newID makes a random version 4 UUID, as ClickHouse does for a query that names none.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
