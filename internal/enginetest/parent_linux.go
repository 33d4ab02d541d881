package enginetest

import "syscall"

// endWithParent ends an engine with the test, also when that is killed.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
