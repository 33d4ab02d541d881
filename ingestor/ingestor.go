// Package ingestor takes events over HTTP, combines them per item and second, and commits both the events and their counts
// to Kafka in one transaction per flush. Requests are answered after the commit. See the README.
package ingestor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Ingestor is one instance. New makes it inert, Run makes it work.
type Ingestor struct {
	cfg      Config
	log      *slog.Logger
	gatherer prometheus.Gatherer
	metrics  *metrics
	bodies   *bodies
	acc      *accumulator
	flusher  *flusher
	addr     atomic.Pointer[string]

	waiting       atomic.Int64 // requests being served
	waitingEvents atomic.Int64 // events of them
}

// Registry is where metrics go and where /metrics reads them.
type Registry interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// New makes an ingestor. It does no I/O.
func New(cfg Config, log *slog.Logger, reg Registry) (*Ingestor, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("ingestor config: %w", err)
	}
	bodies, err := newBodies()
	if err != nil {
		return nil, err
	}
	in := &Ingestor{cfg: cfg, log: log, gatherer: reg, bodies: bodies}
	in.metrics = newMetrics(reg, func() float64 { return float64(in.waiting.Load()) })
	in.acc = newAccumulator(&in.cfg, in.metrics, time.Now)
	in.flusher = newFlusher(&in.cfg, log, in.metrics, in.acc, time.Now)
	return in, nil
}

// Addr is the address that Run listens on, "" before.
func (in *Ingestor) Addr() string {
	if addr := in.addr.Load(); addr != nil {
		return *addr
	}
	return ""
}

// Run serves until ctx ends, then flushes and answers what it accepted. It returns an error when it could not listen, when
// the topics do not fit together, when another instance of the same name took over (ErrFenced), or when the last flush
// failed.
func (in *Ingestor) Run(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", in.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	addr := listener.Addr().String()
	in.addr.Store(&addr)
	server := &http.Server{
		Handler:           in.routes(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second, // longer than two flushes may take
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(in.log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	in.log.Info("ingestor listens", "addr", addr, "instance", in.flusher.instance, "clock", in.cfg.Clock)

	running, cancel := context.WithCancel(ctx)
	defer cancel()
	flushed := make(chan error, 1)
	go func() { flushed <- in.flusher.run(running) }()
	select {
	case err = <-flushed: // stopped by ctx, or by something final
	case err = <-served:
		cancel()
		err = errors.Join(fmt.Errorf("serving: %w", err), <-flushed)
	}
	return errors.Join(err, in.shutdown(ctx, server))
}

// shutdown lets the answers out.
func (in *Ingestor) shutdown(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("shutting down: %w", err)
	}
	in.log.Info("ingestor stopped", "instance", in.flusher.instance)
	return nil
}
