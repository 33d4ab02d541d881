package child

import "syscall"

// DiesWithParent asks for a signal when the starter ends, however it ends.
func DiesWithParent(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}
