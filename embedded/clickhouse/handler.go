package clickhouse

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"topk/embedded/clickhouse/internal/chdb"
	"topk/embedded/clickhouse/internal/statement"
)

// handler speaks ClickHouse's HTTP interface.
type handler struct {
	engine   *engine
	pool     *pool
	sessions *sessions
	running  *running
	password string
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-ClickHouse-Server-Display-Name", h.engine.name)
	header.Set("X-ClickHouse-Timezone", h.engine.timezone)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		header.Set("Allow", "GET, HEAD, POST")
		http.Error(w, "Method "+r.Method+" is not supported.", http.StatusMethodNotAllowed)
	case r.URL.Path == "/ping", r.URL.Path == "/replicas_status",
		r.Method != http.MethodPost && r.URL.Path == "/" && !r.URL.Query().Has("query"):
		header.Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = io.WriteString(w, "Ok.\n")
	case r.Method != http.MethodPost && r.URL.Path != "/" && !r.URL.Query().Has("query"):
		http.Error(w, "There is no handle "+r.URL.Path+"\n\nUse / or /ping for health checks.\nSend queries to / with the query in the body or in ?query=.", http.StatusNotFound)
	default:
		h.query(w, r)
	}
}

func (h *handler) query(w http.ResponseWriter, r *http.Request) {
	request, err := parseRequest(r)
	if err != nil {
		newOutput(w, r, &request0).fail(err)
		return
	}
	w.Header().Set("X-ClickHouse-Query-Id", request.id)
	out := newOutput(w, r, request)
	body := io.Reader(http.NoBody)
	err = authenticate(r, h.password)
	if err == nil {
		body, err = openBody(w, r, request.decompress)
	}
	if err == nil {
		err = h.answer(r, request, body, out)
	}
	if err == nil {
		err = out.finish()
	}
	if err != nil {
		err = readonlyHint(r, err)
		_, _ = io.CopyN(io.Discard, &patientReader{body: r.Body, control: http.NewResponseController(w)}, maxDrained)
		out.fail(err)
	}
}

// request0 stands for a request that could not be read.
var request0 request

// answer takes the statement out of URL and body and runs it.
func (h *handler) answer(r *http.Request, request *request, body io.Reader, out *output) error {
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media == "multipart/form-data" {
		return exception(codeNotImplemented, "External tables in multipart/form-data are not supported by the embedded ClickHouse. (NOT_IMPLEMENTED)")
	}
	source, rest, err := readSource(request, body)
	if err != nil {
		return err
	}
	parsed, err := statement.Parse(source)
	if err != nil {
		return err
	}
	switch {
	case parsed.Kind == statement.Empty:
		return exception(codeSyntaxError, "Syntax error: failed at position 1 (end of query): empty query. (SYNTAX_ERROR)")
	case parsed.Kind != statement.Insert && rest != nil:
		return exception(codeSyntaxError, "Syntax error: Max query size exceeded: the statement is longer than max_query_size = %d. (SYNTAX_ERROR)", request.maxQuery)
	case isHello(parsed.Text, request.format, request.protocol):
		return h.hello(request, out)
	}
	end, err := h.running.begin(request.id)
	if err != nil {
		return err
	}
	defer end()
	leave, err := h.pool.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	data := io.Reader(strings.NewReader(source[parsed.Data:]))
	if rest != nil {
		data = io.MultiReader(data, rest)
	}
	return h.run(r, request, parsed, data, out)
}

func (h *handler) hello(request *request, out *output) error {
	answer, err := h.engine.hello(request.protocol)
	if err != nil {
		return err
	}
	out.start("Native", chdb.Statistics{})
	return out.write(answer)
}

// readSource joins the query of the URL and the body as ClickHouse does, with a line end between them, and reads as
// much of it as a statement may be long. rest is what comes after, nil if that was all.
func readSource(request *request, body io.Reader) (source string, rest io.Reader, err error) {
	text := request.query
	if text != "" {
		text += "\n"
	}
	var head bytes.Buffer
	head.WriteString(text)
	limit := int64(max(request.maxQuery, len(text))) + 1
	_, err = io.CopyN(&head, body, limit-int64(len(text)))
	switch {
	case errors.Is(err, io.EOF):
		return head.String(), nil, nil
	case err != nil:
		return "", nil, exception(codeIncorrectData, "Cannot read the request's body: %s. (INCORRECT_DATA)", err)
	}
	return head.String(), body, nil
}

// run gets a connection in the request's state and runs the statement on it.
func (h *handler) run(r *http.Request, request *request, parsed statement.Statement, data io.Reader, out *output) (err error) {
	format := parsed.Format
	if format == "" || parsed.Kind == statement.Insert {
		format = request.format
	}
	if format == "" {
		format = defaultFormat
	}
	conn, give, err := h.connection(request.session, request.state, parsed.Kind)
	if err != nil {
		return err
	}
	defer func() { give(err == nil) }()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer h.running.watch(ctx, request.id)()
	text := parsed.Text + marker(request.id)
	switch parsed.Kind {
	case statement.Insert:
		return runInsert(ctx, conn, parsed, text, data, request, out)
	case statement.Select:
		return runSelect(ctx, cancel, conn, parsed, format, request, out)
	case statement.Kill:
		if parsed.Target != "" {
			text = killStatement(parsed.Target)
		}
	default: // a small result or none
	}
	return runWhole(conn, text, format, request, out)
}

// connection returns one for a statement, and what gives it back once it is known whether the statement succeeded. The
// library leaves what a failed statement had written so far in its connection, where the next result would begin with
// it; and a statement that changes its session leaves a connection behind that nobody else may get.
func (h *handler) connection(session sessionRequest, state state, kind statement.Kind) (*chdb.Connection, func(ok bool), error) {
	if session.id != "" {
		return h.sessions.take(session, state, kind)
	}
	conn, err := h.pool.take(state)
	if err != nil {
		return nil, nil, err
	}
	return conn, func(ok bool) {
		if ok && kind != statement.Session {
			h.pool.put(conn, state)
		} else {
			conn.Close()
		}
	}, nil
}
