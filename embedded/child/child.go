// Package child starts processes that end when their starter does.
package child

import (
	"os/exec"
	"runtime"
)

// Start starts a program on a thread of its own and returns a channel that gets what Wait says of its end. The function
// before, if any, runs on that thread first; what it changes of the thread, the program inherits and nothing else does.
func Start(cmd *exec.Cmd, before func() error) (<-chan error, error) {
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// The kernel sends the parent-death signal when the thread that started the child ends, not the process. So the
		// thread stays until the child has ended. It is never unlocked, so it then goes with this goroutine.
		runtime.LockOSThread()
		var err error
		if before != nil {
			err = before()
		}
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return ended, nil
}
