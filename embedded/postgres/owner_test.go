package postgres

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClosedFolderIsFound(t *testing.T) {
	root := t.TempDir()
	closed := filepath.Join(root, "closed")
	inner := filepath.Join(closed, "open")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	require.NoError(t, os.Chmod(closed, 0o750))

	stranger := owner{change: true, uid: 12345, gid: 12345}
	found, err := closedFolder(inner, stranger)
	require.NoError(t, err)
	require.Equal(t, closed, found)

	self := owner{change: true, uid: uint32(os.Getuid()), gid: uint32(os.Getgid())}
	found, err = closedFolder(inner, self)
	require.NoError(t, err)
	require.Empty(t, found)

	require.NoError(t, os.Chmod(closed, 0o711))
	found, err = closedFolder(closed, stranger)
	require.NoError(t, err)
	require.NotEqual(t, closed, found)
}

func TestConfigReportsEveryMistake(t *testing.T) {
	err := Config{Listen: "0.0.0.0:5432"}.Validate()
	require.ErrorContains(t, err, "native")
	require.ErrorContains(t, err, "data-dir")
	require.ErrorContains(t, err, "loopback")
}
