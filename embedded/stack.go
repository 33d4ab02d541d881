package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"topk/embedded/dirlock"
)

// Stack is a running set of services.
type Stack struct {
	options   Options
	ports     Ports
	endpoints Endpoints
	dataDir   string
	temporary bool
	lock      *dirlock.Lock
	crashed   chan error

	mu        sync.Mutex
	processes map[string]*process // the latest run of each service
	stopped   bool
}

// Start checks the ports, starts the services in order and waits until each is ready. The context bounds the start only;
// the stack runs until Stop.
func Start(ctx context.Context, o Options) (*Stack, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Stack{options: o, ports: o.Ports, processes: map[string]*process{}, crashed: make(chan error, 1)}
	if err := s.makeDataDir(ctx); err != nil {
		return nil, err
	}
	// After the directory is locked: a stack that runs there already is the better explanation of busy ports.
	err = s.ports.settle(ctx, o.Services)
	s.endpoints = endpoints(s.ports)
	if err == nil {
		err = s.startAll(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// makeDataDir takes the data directory for this stack alone.
func (s *Stack) makeDataDir(ctx context.Context) error {
	dir, err := filepath.Abs(s.options.DataDir)
	if s.options.DataDir == "" {
		s.temporary = true
		dir, err = os.MkdirTemp("", "topk-")
	}
	if err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	s.dataDir = dir
	if s.lock, err = dirlock.Acquire(ctx, dir); err != nil {
		if s.temporary {
			err = errors.Join(err, os.RemoveAll(dir)) // nobody else can be in it
		}
		return err
	}
	// PostgreSQL runs as another user when this one is root, and must get through.
	if s.temporary {
		err = os.Chmod(dir, 0o711)
	}
	if err := errors.Join(err, os.MkdirAll(s.logDir(), 0o755)); err != nil {
		return errors.Join(fmt.Errorf("make data directory: %w", err), s.Stop())
	}
	return nil
}

func (s *Stack) startAll(ctx context.Context) error {
	if err := s.startStage(ctx, stageEngines); err != nil {
		return err
	}
	if s.options.has(ClickHouse) && s.options.has(Postgres) {
		if err := s.migrate(ctx); err != nil {
			return err
		}
	}
	return s.startStage(ctx, stageServices)
}

// startStage starts the services of a stage side by side and waits for each.
func (s *Stack) startStage(ctx context.Context, stage int) error {
	var started []service
	for _, service := range services {
		if service.stage != stage || !s.options.has(service.name) {
			continue
		}
		if err := s.launch(service); err != nil {
			return err
		}
		started = append(started, service)
	}
	// All at once: one that ends at its start fails the stage without waiting for the others.
	group, ctx := errgroup.WithContext(ctx)
	for _, service := range started {
		group.Go(func() error { return s.awaitReady(ctx, service) })
	}
	return group.Wait()
}

func (s *Stack) launch(service service) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.New("the stack has been stopped")
	}
	args := append(service.args(s), s.options.Args[service.name]...)
	p, err := launch(service.name, s.options.Binary, s.logDir(), args)
	if err != nil {
		return err
	}
	s.options.Log.Info("started", "service", service.name, "pid", p.pid)
	s.processes[service.name] = p
	go s.watch(p)
	return nil
}

// watch reports a death that nobody asked for.
func (s *Stack) watch(p *process) {
	<-p.done
	if p.expected.Load() {
		s.options.Log.Info("ended", "service", p.name, "status", p.status())
		return
	}
	select {
	case s.crashed <- p.crash():
	default: // the first death is the one that counts
	}
}

func (s *Stack) awaitReady(ctx context.Context, service service) error {
	p, err := s.process(service.name)
	if err != nil {
		return err
	}
	if err := awaitReady(ctx, p, service.ready(s.endpoints)); err != nil {
		return err
	}
	s.options.Log.Info("ready", "service", service.name)
	return nil
}

// migrate brings both schemas up to date.
func (s *Stack) migrate(ctx context.Context) error {
	args := append(migrateArgs(s), s.options.Args[Migrate]...)
	p, err := launch(Migrate, s.options.Binary, s.logDir(), args)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		return errors.Join(ctx.Err(), p.stop())
	}
	if p.err != nil {
		return p.crash()
	}
	s.options.Log.Info("migrated")
	return nil
}

// Stop ends the services in reverse order, each by SIGTERM and, if it does not end, by SIGKILL. A second call does
// nothing. The error names the services that did not end well.
func (s *Stack) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	var errs []error
	for _, service := range slices.Backward(services) {
		if p := s.processes[service.name]; p != nil {
			errs = append(errs, p.stop())
		}
	}
	errs = append(errs, s.lock.Release())
	if s.temporary && !s.options.Keep {
		errs = append(errs, os.RemoveAll(s.dataDir))
	}
	return errors.Join(errs...)
}

// Signal sends a signal to a service. An end that follows from it is not reported as a crash.
func (s *Stack) Signal(service string, sig syscall.Signal) error {
	p, err := s.process(service)
	if err != nil {
		return err
	}
	if sig != syscall.SIGSTOP && sig != syscall.SIGCONT && sig != 0 {
		p.expected.Store(true)
	}
	return p.signal(sig)
}

// Restart starts a service again on the same port and directory, after stopping it if it still runs, and waits until it
// is ready.
func (s *Stack) Restart(ctx context.Context, name string) error {
	p, err := s.process(name)
	if err != nil {
		return err
	}
	// An error here tells how the old run ended, which is what a fault test is about.
	if err := p.stop(); err != nil {
		s.options.Log.Warn("ended badly before its restart", "service", name, "error", err)
	}
	i := slices.IndexFunc(services, func(s service) bool { return s.name == name })
	if err := s.launch(services[i]); err != nil {
		return err
	}
	return s.awaitReady(ctx, services[i])
}

// Done gets the first child that died unasked, as a *CrashError.
func (s *Stack) Done() <-chan error { return s.crashed }

// Endpoints are where the services are reached.
func (s *Stack) Endpoints() Endpoints { return s.endpoints }

// DataDir is where the engines keep their data, and the services their logs.
func (s *Stack) DataDir() string { return s.dataDir }

// Temporary says whether the data directory goes with the stack.
func (s *Stack) Temporary() bool { return s.temporary && !s.options.Keep }

// PID of a service's process, 0 when it does not run. That of PostgreSQL is its keeper's: the server is its child.
func (s *Stack) PID(service string) int {
	p, err := s.process(service)
	if err != nil || !p.alive() {
		return 0
	}
	return p.pid
}

// LogPath is where a service's output goes.
func (s *Stack) LogPath(service string) string { return filepath.Join(s.logDir(), service+".log") }

func (s *Stack) logDir() string { return filepath.Join(s.dataDir, "log") }

func (s *Stack) process(service string) (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.processes[service]
	if p == nil {
		return nil, fmt.Errorf("service %q is not part of this stack", service)
	}
	return p, nil
}
