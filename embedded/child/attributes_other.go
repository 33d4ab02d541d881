//go:build !linux

package child

import "syscall"

// DiesWithParent does nothing here: only Linux has a parent-death signal, so after a kill -9 of the starter its children
// stay.
func DiesWithParent(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
