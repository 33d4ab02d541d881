package enginetest

import (
	"io/fs"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

// Statements are the up steps of a history in a folder of files, in their order, of the names that are wanted: as in
// 000004_events.up.sql.
func Statements(tb testing.TB, files fs.FS, folder string, wanted func(name string) bool) (statements []string) {
	tb.Helper()
	steps, err := fs.Glob(files, folder+"/*.up.sql")
	require.NoError(tb, err)
	for _, step := range steps {
		if !wanted(path.Base(step)) {
			continue
		}
		text, err := fs.ReadFile(files, step)
		require.NoError(tb, err)
		statements = append(statements, string(text))
	}
	require.NotEmpty(tb, statements)
	return statements
}
