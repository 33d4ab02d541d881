package clickhouse

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"topk/embedded/clickhouse/internal/chdb"
)

// engine is the library with its first connection. That connection boots the engine and holds it for as long as the
// process runs; afterwards it only stops other queries.
type engine struct {
	config   Config
	lib      *chdb.Library
	home     chan func() // work for the thread that booted the engine
	control  *chdb.Connection
	stopping sync.Mutex // the control connection runs one statement at a time
	version  string
	timezone string
	name     string
}

// startEngine loads the library and boots the engine. The thread that boots it becomes the engine's main thread, so it is
// kept for that and for stopping it.
func startEngine(config Config) (*engine, error) {
	path, err := FindLibrary(config.Library)
	if err != nil {
		return nil, err
	}
	e := &engine{config: config, home: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for work := range e.home {
			work()
		}
	}()
	e.atHome(func() { err = e.boot(path) })
	return e, err
}

func (e *engine) atHome(work func()) {
	done := make(chan struct{})
	e.home <- func() { defer close(done); work() }
	<-done
}

func (e *engine) boot(path string) (err error) {
	if e.lib, err = chdb.Load(path); err != nil {
		return err
	}
	e.control, err = e.lib.Connect("--path="+e.config.dataPath(), "--config-file="+e.config.configPath(), "--log-level=information")
	if err != nil {
		return fmt.Errorf("start ClickHouse on %s: %w (log: %s)", e.config.DataDir, err, e.config.logPath())
	}
	answer, _, err := e.control.Query("SELECT version(), timezone(), displayName()", "TSV", nil)
	if err != nil {
		return fmt.Errorf("ask ClickHouse for its version: %w", err)
	}
	fields := strings.Split(strings.TrimSpace(string(answer)), "\t")
	if len(fields) != 3 {
		return fmt.Errorf("ask ClickHouse for its version: unexpected answer %q", answer)
	}
	e.version, e.timezone, e.name = fields[0], fields[1], fields[2]
	return nil
}

// connect opens one more connection; it starts in the database default with the default profile.
func (e *engine) connect() (*chdb.Connection, error) {
	return e.lib.Connect("--path=" + e.config.dataPath())
}

// kill cancels the statement with a caller's query id. It returns at once; the statement ends with QUERY_WAS_CANCELLED.
func (e *engine) kill(id string) error {
	e.stopping.Lock()
	defer e.stopping.Unlock()
	if e.control == nil {
		return nil
	}
	_, _, err := e.control.Query(killStatement(id), "Null", nil)
	return err
}

// stop closes the last connection, with which the engine shuts its tables down, and then joins the library's threads.
// Every other connection must be closed. The library (26.7.3) reports that it could not join them once a MergeTree table
// was open; by then everything is on disk, and the end of the process takes them.
func (e *engine) stop() (err error) {
	e.atHome(func() {
		e.stopping.Lock()
		defer e.stopping.Unlock()
		e.control.Close()
		e.control = nil
		err = e.lib.Shutdown()
	})
	close(e.home)
	return err
}
