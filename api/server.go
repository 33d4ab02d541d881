package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Bounds of a connection.
const (
	readHeaderTimeout = 5 * time.Second  // a client that drips its header holds a connection, not more
	readTimeout       = 30 * time.Second // a batch of events that is passed on, over a slow line
	writeTimeout      = 30 * time.Second // the same, with the time of a commit
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 16 << 10 // cookies of a shared domain fit; net/http adds 4 kB of its own
	shutdownTimeout   = 10 * time.Second
)

// Server is the API.
type Server struct {
	config  Config
	slicing slicing
	log     *slog.Logger
	memory  *memory
	graded  *gradeMemory
	charts  *chartMemory
	demand  *onDemand // nil where nothing is made on demand
	asker   *asker
	metrics *metrics
	gather  prometheus.Gatherer
	now     func() time.Time
}

// New makes a server that does nothing yet. The registry receives the API's metrics, and /metrics shows all of it.
func New(config Config, log *slog.Logger, registry *prometheus.Registry) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	asked, err := config.slicing()
	if err != nil {
		return nil, err
	}
	s := &Server{config: config, slicing: asked, log: log, memory: &memory{}, graded: &gradeMemory{}, gather: registry, now: time.Now}
	s.metrics = newMetrics(registry, s.memory, func() time.Time { return s.now() })
	s.charts = newChartMemory(s.metrics)
	clock := func() time.Time { return s.now() }
	onDemand := newDemandMetrics(registry)
	s.asker = newAsker(s.memory, onDemand, log, clock)
	if config.ClickHouse != "" {
		if s.demand, err = newOnDemand(config, asked.kept, log, registry, onDemand, clock); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run listens and serves until ctx ends, then lets requests finish.
func (s *Server) Run(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return s.Serve(ctx, listener)
}

// Serve is Run on a listener that is open already. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.charts.connect(ctx, s.config.Postgres); err != nil {
		return fmt.Errorf("charts: %w", err)
	}
	defer s.charts.pool.Close()
	if s.demand != nil {
		defer func() { _ = s.demand.conn.Close() }() // it has read all that it was asked for
	}
	f := &follower{
		dsn: s.config.Postgres, fresh: s.config.freshness(),
		memory: s.memory, graded: s.graded, charts: s.charts, metrics: s.metrics, log: s.log,
	}
	var following sync.WaitGroup
	following.Go(func() { f.run(ctx) })
	following.Go(func() { s.asker.run(ctx, s.charts.pool) })
	defer following.Wait()
	defer cancel() // before the wait above

	topKMetrics := s.metrics.route(topKRoute)
	handover := newHandover(listener.Addr())
	server := &http.Server{
		Handler:           s.routes(topKMetrics),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(handover) }()
	front := &front{
		slicing: s.slicing, answer: s.plain, metrics: topKMetrics, now: s.now, handover: handover, log: s.log,
		conns: make(map[net.Conn]struct{}),
	}
	s.log.Info("api listens", "address", listener.Addr().String())
	// The listener closes first, so a balancer's next request goes elsewhere; requests under way are answered.
	err := front.serve(ctx, listener)
	stopping, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer stop()
	err = errors.Join(err, server.Shutdown(stopping))
	if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
