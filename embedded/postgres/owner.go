package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"topk/embedded/child"
)

// unprivileged is who PostgreSQL runs as when the caller is root, which it refuses.
const unprivileged = "nobody"

// unprivilegedID serves where that user is not known, as in a bare container.
const unprivilegedID = 65534

// owner is who runs PostgreSQL and owns its files.
type owner struct {
	change       bool // from root to another user
	uid, gid     uint32
	capabilities []uintptr // kept on that way, to pass through folders that only root may enter
}

func (o owner) String() string {
	if !o.change {
		return "caller"
	}
	return "uid " + strconv.Itoa(int(o.uid))
}

// chooseOwner settles who runs PostgreSQL: the caller, or nobody when the caller is root. It sees to it that this user
// reaches the programs and the data, or says which folder is in the way.
func chooseOwner(native, dataDir string) (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	o := owner{change: true, uid: unprivilegedID, gid: unprivilegedID}
	if u, err := user.Lookup(unprivileged); err == nil {
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			o.uid, o.gid = uint32(uid), uint32(gid)
		}
	}
	for _, path := range []string{filepath.Join(native, "bin"), dataDir} {
		closed, err := closedFolder(path, o)
		if err != nil {
			return owner{}, err
		}
		if closed == "" {
			continue
		}
		if o.capabilities = searchCapability(); len(o.capabilities) == 0 {
			return owner{}, fmt.Errorf("PostgreSQL does not run as root, and the user it runs as (uid %d) may not enter %s: "+
				"run `chmod o+x %s`, choose another --data-dir, or start as another user", o.uid, closed, closed)
		}
	}
	return o, nil
}

// start starts a program of PostgreSQL as the owner. It ends when this process does: at once, to recover at the next
// start.
func (o owner) start(cmd *exec.Cmd) (<-chan error, error) {
	cmd.SysProcAttr = child.DiesWithParent(syscall.SIGQUIT)
	return child.Start(cmd, o.become)
}

// take gives a folder and all in it to the owner.
func (o owner) take(dir string) error {
	if !o.change {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return root.Lchown(path, int(o.uid), int(o.gid))
	})
	return errors.Join(err, root.Close())
}

// closedFolder returns the first folder on the way to path that the owner may not enter, or "".
func closedFolder(path string, o owner) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return "", err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		mode := info.Mode().Perm()
		enter := mode&0o001 != 0
		if ok && stat.Uid == o.uid {
			enter = mode&0o100 != 0
		} else if ok && stat.Gid == o.gid {
			enter = mode&0o010 != 0
		}
		if !enter {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", nil
		}
	}
}
