package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// create makes the cluster and the database on the first start. It works in a folder beside the final one and renames it
// at the end, so a start that is cut short leaves nothing half made.
func create(ctx context.Context, c Config, owner owner, log *slog.Logger) error {
	if _, err := os.Stat(c.clusterDir()); err == nil {
		return owner.take(c.clusterDir())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	log.Info("makes the database", "data_dir", c.DataDir)
	fresh := c.clusterDir() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	if err := owner.take(fresh); err != nil {
		return err
	}
	initdb := exec.CommandContext(ctx, c.program("initdb"), "-D", fresh, "--username="+Role, "--encoding=UTF8",
		"--locale=C", "--auth-host=trust", "--auth-local=reject", "--no-instructions")
	if err := run(initdb, owner, fresh); err != nil {
		return err
	}
	// In single-user mode a database needs no connection, so this is done before anybody can connect.
	single := exec.CommandContext(ctx, c.program("postgres"), "--single", "-D", fresh, "postgres")
	single.Stdin = strings.NewReader("CREATE DATABASE " + Database + ";\n")
	if err := run(single, owner, fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, c.clusterDir()); err != nil {
		return err
	}
	return syncDir(c.DataDir)
}

// run runs one of PostgreSQL's programs, and shows what it said when it fails.
func run(cmd *exec.Cmd, owner owner, dir string) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	ended, err := owner.start(cmd)
	if err == nil {
		err = <-ended
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, strings.TrimSpace(out.String()))
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
