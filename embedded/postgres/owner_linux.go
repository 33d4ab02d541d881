package postgres

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// secbitNoSetuidFixup is SECBIT_NO_SETUID_FIXUP of linux/securebits.h.
const secbitNoSetuidFixup = 1 << 2

// become turns the calling thread, and with it what it starts, into the owner. The thread must be locked to its
// goroutine and never unlocked: the rest of the process stays root.
//
// It is done here rather than with SysProcAttr.Credential because a program in a folder that only root may enter has to
// be found after the change: the capability must be in effect before exec, and os/exec raises it for after exec only.
func (o owner) become() error {
	if !o.change {
		return nil
	}
	if len(o.capabilities) > 0 {
		// It keeps capabilities through the change of user, and in access(2), by which PostgreSQL looks for its files.
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, secbitNoSetuidFixup, 0, 0, 0); err != nil {
			return fmt.Errorf("keep capabilities: %w", err)
		}
	}
	for _, call := range []struct {
		name               string
		number, a1, a2, a3 uintptr
	}{
		{"setgroups", unix.SYS_SETGROUPS, 0, 0, 0},
		{"setresgid", unix.SYS_SETRESGID, uintptr(o.gid), uintptr(o.gid), uintptr(o.gid)},
		{"setresuid", unix.SYS_SETRESUID, uintptr(o.uid), uintptr(o.uid), uintptr(o.uid)},
	} {
		// The functions of package syscall would change every thread.
		if _, _, errno := unix.RawSyscall(call.number, call.a1, call.a2, call.a3); errno != 0 {
			return fmt.Errorf("%s: %w", call.name, errno)
		}
	}
	return keep(o.capabilities)
}

// keep leaves the thread and its children with these capabilities and no others.
func keep(capabilities []uintptr) error {
	if len(capabilities) == 0 {
		return nil // the change of user has dropped them all
	}
	var data [2]unix.CapUserData
	for _, capability := range capabilities {
		bit := uint32(1) << capability // all that are used here are in the first word
		data[0].Effective |= bit
		data[0].Permitted |= bit
		data[0].Inheritable |= bit
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("set capabilities: %w", err)
	}
	for _, capability := range capabilities {
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, capability, 0, 0); err != nil {
			return fmt.Errorf("hand down a capability: %w", err)
		}
	}
	return nil
}

// searchCapability returns the least capability that root has here and that lets another user pass through root's own
// folders: entering and reading anything, else (in a container) what root itself may do to files.
func searchCapability() []uintptr {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return nil
	}
	for _, capability := range []uintptr{unix.CAP_DAC_READ_SEARCH, unix.CAP_DAC_OVERRIDE} {
		if data[0].Permitted&(1<<capability) != 0 {
			return []uintptr{capability}
		}
	}
	return nil
}
