// Package clickhouse runs ClickHouse as a library in this process and speaks its HTTP interface, so that clickhouse-go,
// golang-migrate and curl use it as they would a server.
package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Server is the embedded ClickHouse. A process can run one, once.
type Server struct {
	config Config
	logger *slog.Logger
}

// New checks nothing and starts nothing.
func New(config Config, logger *slog.Logger) *Server { return &Server{config: config, logger: logger} }

// Run serves until ctx ends, then stops in order: no new connections, running queries, connections, engine. The port
// and the data directory are taken before the engine starts, so a mistake shows at once.
func (s *Server) Run(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("listen for ClickHouse's HTTP interface: %w", err)
	}
	defer func() { _ = listener.Close() }() // the HTTP server has closed it, unless the start failed
	if err := os.MkdirAll(s.config.DataDir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	lock, err := lockDir(s.config)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the end of the process closes it too
	if err := writeServerConfig(s.config); err != nil {
		return err
	}
	engine, err := startEngine(s.config)
	if err != nil {
		return err
	}
	s.logger.Info("clickhouse is ready", "listen", listener.Addr().String(), "version", engine.version, "data_dir", s.config.DataDir)
	return s.serve(ctx, listener, engine)
}

func (s *Server) serve(ctx context.Context, listener net.Listener, engine *engine) error {
	pool := newPool(engine, s.config.MaxQueries)
	h := &handler{engine: engine, pool: pool, sessions: newSessions(pool), running: newRunning(engine, s.logger), password: s.config.Password}
	queries, cancelQueries := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelQueries()
	var busy sync.WaitGroup
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			busy.Add(1)
			defer busy.Done()
			h.ServeHTTP(w, r)
		}),
		BaseContext:       func(net.Listener) context.Context { return queries },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve ClickHouse's HTTP interface: %w", err)
	case <-ctx.Done():
	}
	s.stop(server, h, cancelQueries, &busy)
	return nil
}

// stop ends everything within shutdownLimit: queries get shutdownGrace to end by themselves, then they are cancelled and
// their clients told so. Whatever does not end by then is left to the end of the process, which loses nothing that was
// acknowledged.
func (s *Server) stop(server *http.Server, h *handler, cancelQueries context.CancelFunc, busy *sync.WaitGroup) {
	start := time.Now()
	grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	if err := server.Shutdown(grace); errors.Is(err, context.DeadlineExceeded) {
		s.logger.Info("cancelling the queries that still run")
	}
	cancelQueries()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		busy.Wait()
		h.sessions.close()
		h.pool.close()
		if err := h.engine.stop(); err != nil {
			s.logger.Debug("join the engine's threads", "error", err)
		}
	}()
	select {
	case <-stopped:
		s.logger.Info("clickhouse has stopped", "seconds", time.Since(start).Seconds())
	case <-time.After(shutdownLimit):
		s.logger.Warn("clickhouse did not stop in time; leaving without it")
	}
	_ = server.Close()
}
