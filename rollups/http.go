package rollups

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"
)

const (
	headerTimeout = 5 * time.Second
	stopTimeout   = 5 * time.Second
	// answeredWithin is how long ago both engines may have answered for the worker to be ready.
	answeredWithin = 15 * time.Second
)

// serve answers /healthz, /readyz and /metrics.
func (w *Worker) serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { answer(rw, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", w.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(w.gatherer, promhttp.HandlerOpts{}))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", w.config.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve metrics: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		return server.Shutdown(stop)
	})
	return group.Wait()
}

// ready says whether the engines answer. A worker on standby is ready, and so is one that waits for the first event.
func (w *Worker) ready(rw http.ResponseWriter, _ *http.Request) {
	for _, engine := range []struct {
		name     string
		answered int64
	}{{"Kafka or ClickHouse", w.asked.Load()}, {"PostgreSQL", w.elected.Load()}} {
		if time.Since(time.Unix(0, engine.answered)) > answeredWithin {
			answer(rw, http.StatusServiceUnavailable, engine.name+" does not answer")
			return
		}
	}
	answer(rw, http.StatusOK, "ready")
}

func answer(rw http.ResponseWriter, status int, text string) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	rw.WriteHeader(status)
	_, _ = fmt.Fprintln(rw, text) // a caller who has gone away needs no answer
}
