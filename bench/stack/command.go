package stack

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"topk/internal/feed"
)

// Command is what every benchmark of a whole stack is started with.
type Command struct {
	Name       string
	Binary     string // topk
	PortOffset int
	Dir        string // holds data and logs of each stack; a temporary folder when it is empty
	Keep       bool   // the temporary folder
}

// NewCommand defines the flags that such benchmarks share. The caller adds its own, then calls Run.
func NewCommand(name string) *Command {
	c := &Command{Name: name}
	flag.StringVar(&c.Binary, "topk", "bin/topk", "the binary")
	flag.IntVar(&c.PortOffset, "port-offset", 3000, "moves the default ports")
	flag.StringVar(&c.Dir, "dir", "", "folder for data and logs (default a temporary one)")
	flag.BoolVar(&c.Keep, "keep", false, "keep the temporary folder, as is done after an error")
	return c
}

// Run parses the flags, runs the benchmark until it is done or interrupted, and ends the process where it fails.
func (c *Command) Run(run func(context.Context) error) {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c.within(ctx, run)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, c.Name+":", err)
		os.Exit(1)
	}
}

// within runs with a folder that is there. A temporary one goes afterwards, unless errors name the logs in it.
func (c *Command) within(ctx context.Context, run func(context.Context) error) (err error) {
	if c.Dir == "" {
		if c.Dir, err = os.MkdirTemp("", "topk-"+c.Name+"-"); err != nil {
			return err
		}
		defer func() {
			if err == nil && !c.Keep {
				err = os.RemoveAll(c.Dir)
			}
		}()
	}
	return run(ctx)
}

// OnStack starts a fresh stack, whose data and log are in a folder of the given name, lets measure use it, and stops it.
func (c *Command) OnStack(ctx context.Context, name string, measure func(*Stack) error) error {
	s, err := Start(ctx, Config{Binary: c.Binary, Dir: filepath.Join(c.Dir, name), PortOffset: c.PortOffset})
	if err != nil {
		return err
	}
	return errors.Join(measure(s), s.Stop())
}

// Watched runs `topk load`, watching what the services take and whatever beside does until its context ends. beside may be nil.
func (c *Command) Watched(ctx context.Context, s *Stack, beside func(context.Context), args ...string) (*feed.LoadReport, map[string]Usage, error) {
	watcher, err := s.Watch()
	if err != nil {
		return nil, nil, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	watched, done := make(chan error, 1), make(chan struct{})
	go func() { watched <- watcher.Run(watching) }()
	go func() {
		defer close(done)
		if beside != nil {
			beside(watching)
		}
	}()
	report, err := s.Load(ctx, c.Binary, args...)
	stop()
	<-done
	return report, watcher.Usage(), errors.Join(err, <-watched)
}
