package ingestor

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"topk/internal/problem"
)

// retryAfterSeconds is what a client is asked to wait: two flushes.
const retryAfterSeconds = 1

// routes builds the HTTP face. Nothing else is on the way of a request: no logging, no recovery beyond net/http's own.
func (in *Ingestor) routes() http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		status := http.StatusInternalServerError
		var he *echo.HTTPError
		if errors.As(err, &he) {
			status = he.Code
		}
		_ = problem.New(status, "").Write(c.Response())
	}
	e.POST("/v1/events", in.postEvents)
	e.POST("/views", in.postEvents)
	e.POST("/v1/watermark", in.postWatermark)
	e.GET("/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	e.GET("/readyz", in.ready)
	e.GET("/metrics", echo.WrapHandler(promhttp.HandlerFor(in.gatherer, promhttp.HandlerOpts{})))
	return e
}

// refuse answers a request that is refused as a whole.
func (in *Ingestor) refuse(c echo.Context, err error) error {
	status := in.statusOf(err)
	header := c.Response().Header()
	p := problem.New(status, err.Error())
	switch {
	case errors.Is(err, errUnknown):
		p.RetryAfterSeconds = retryAfterSeconds
		p.Detail += "; the events may have been accepted, try again with the same ids: they count once"
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		p.RetryAfterSeconds = retryAfterSeconds
		p.Detail += "; nothing was accepted, try again with the same ids"
	case status == http.StatusUnsupportedMediaType:
		header.Set("Accept-Encoding", "gzip, zstd, identity")
	}
	if errors.Is(err, errStopping) {
		header.Set("Connection", "close")
	}
	in.metrics.refused.WithLabelValues(strconv.Itoa(status)).Inc()
	return p.Write(c.Response())
}

// statusOf tells a caller who sends too much, 429, from one who can do nothing about it, 503.
func (in *Ingestor) statusOf(err error) int {
	if errors.Is(err, errWaiting) || errors.Is(err, errBusy) || errors.Is(err, errNoRoom) {
		if _, ready := in.flusher.state(); ready {
			return http.StatusTooManyRequests
		}
	}
	return statusOf(err)
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, errTooLarge), errors.Is(err, errTooManyEvents):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errEncoding), errors.Is(err, errMediaType):
		return http.StatusUnsupportedMediaType
	case errors.Is(err, errWallClock):
		return http.StatusConflict
	case errors.Is(err, errCompressed), errors.Is(err, errNotJSON), errors.Is(err, errNoEvents), errors.Is(err, errTwoEvents),
		errors.Is(err, errBadWatermark), errors.Is(err, errBodyRead):
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

var (
	errMediaType    = errors.New("Content-Type must be application/json or application/x-ndjson")
	errBodyRead     = errors.New("the body could not be read")
	errWaiting      = errors.New("too many requests wait already")
	errWallClock    = errors.New("a watermark is posted to an ingestor that follows the data's own time only (--clock event)")
	errBadWatermark = errors.New(`the body must be {"watermark":"RFC 3339 time between 1970 and 2100"}`)
)

// postEvents answers 202 once the request's good events are committed in Kafka.
func (in *Ingestor) postEvents(c echo.Context) error {
	if in.waiting.Add(1) > maxWaiting {
		in.waiting.Add(-1)
		return in.refuse(c, errWaiting)
	}
	defer in.waiting.Add(-1)
	b, v, err := in.accept(c.Request())
	defer func() { in.waitingEvents.Add(-v.events) }()
	if err != nil {
		return in.refuse(c, err)
	}
	for _, r := range v.rejected {
		in.metrics.rejected.WithLabelValues(r.problem.Kind).Inc()
	}
	if v.accepted > 0 {
		if err := wait(c.Request().Context(), b); err != nil {
			return in.refuse(c, err)
		}
	}
	return v.write(c)
}

// wait waits until a batch's transaction has ended.
func wait(ctx context.Context, b *batch) error {
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return ctx.Err() // the client has gone: nobody reads the answer
	}
}

// verdict is what a request will be told once its batch is committed. It is all that is kept of a request until then.
type verdict struct {
	accepted int
	rejected []rejection // in the order of the request
	events   int64       // of the budget of waiting events
}

// accept reads, judges and takes a request's events. The memory of the body and of the parser is free again when it
// returns.
func (in *Ingestor) accept(r *http.Request) (b *batch, v verdict, err error) {
	p := parsers.Get().(*parser)
	defer p.release()
	parse, err := parserFor(p, r.Header.Get(echo.HeaderContentType))
	if err != nil {
		return nil, v, err
	}
	body, err := in.bodies.read(r)
	defer body.release()
	if err != nil {
		if statusOf(err) == http.StatusServiceUnavailable && !errors.Is(err, errBusy) {
			err = errors.Join(errBodyRead, err)
		}
		return nil, v, err
	}
	if err := parse(body.bytes); err != nil {
		return nil, v, err
	}
	v.events = int64(p.index)
	if in.waitingEvents.Add(v.events) > maxWaitingEvents {
		return nil, v, errWaiting
	}
	if len(p.events) > 0 {
		if b, err = in.acc.add(r.Context(), p); err != nil {
			return nil, v, err
		}
	}
	p.sortRejected()
	v.accepted, v.rejected = p.accepted, slices.Clone(p.rejected)
	return b, v, nil
}

func parserFor(p *parser, contentType string) (func([]byte) error, error) {
	if contentType == "application/json" || contentType == "" {
		return p.parseJSON, nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, errMediaType
	}
	switch media {
	case "application/json":
		return p.parseJSON, nil
	case "application/x-ndjson", "application/ndjson", "application/jsonl":
		return p.parseLines, nil
	}
	return nil, errMediaType
}

// write writes the answer of a request that was taken.
func (v *verdict) write(c echo.Context) error {
	type rejected struct {
		Index  int    `json:"index"`
		Field  string `json:"field"`
		Reason string `json:"reason"`
	}
	answer := []byte(`{"accepted":`)
	answer = strconv.AppendInt(answer, int64(v.accepted), 10)
	answer = append(answer, `,"rejected":[`...)
	for i, r := range v.rejected {
		if i > 0 {
			answer = append(answer, ',')
		}
		one, err := json.Marshal(rejected{r.index, r.problem.Field, r.problem.Reason})
		if err != nil {
			return err
		}
		answer = append(answer, one...)
	}
	answer = append(answer, "]}\n"...)
	return c.Blob(http.StatusAccepted, echo.MIMEApplicationJSON, answer)
}

// postWatermark takes the promise of a replay that every event before a time has been sent, and answers once the promise
// is committed. The answer says which watermark holds: it never goes back.
func (in *Ingestor) postWatermark(c echo.Context) error {
	if in.cfg.Clock != ClockEvent {
		return in.refuse(c, errWallClock)
	}
	const maxBytes = 1024
	var request struct {
		Watermark time.Time `json:"watermark"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, maxBytes)).Decode(&request); err != nil {
		return in.refuse(c, errBadWatermark)
	}
	if y := request.Watermark.UTC().Year(); y < 1970 || y >= 2100 {
		return in.refuse(c, errBadWatermark)
	}
	b, err := in.acc.post(request.Watermark.UnixMilli())
	if err == nil {
		err = wait(c.Request().Context(), b)
	}
	if err != nil {
		return in.refuse(c, err)
	}
	return c.JSON(http.StatusOK, map[string]any{"watermark": time.UnixMilli(b.mark).UTC()})
}

func (in *Ingestor) ready(c echo.Context) error {
	if reason, ok := in.flusher.state(); !ok {
		return problem.New(http.StatusServiceUnavailable, reason).Write(c.Response())
	}
	return c.String(http.StatusOK, "ready\n")
}
