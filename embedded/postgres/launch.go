package postgres

import (
	"os/exec"
	"runtime"
)

// launch starts a program as the owner and returns a channel that gets its end.
func launch(cmd *exec.Cmd, o owner) (<-chan error, error) {
	cmd.SysProcAttr = attributes()
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// The thread changes its user, and the kernel ties the parent-death signal to it: it stays until the program ends,
		// and goes with this goroutine.
		runtime.LockOSThread()
		err := o.become()
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
