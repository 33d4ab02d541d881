//go:build !linux

package enginetest

import "syscall"

func endWithParent() *syscall.SysProcAttr { return nil }
