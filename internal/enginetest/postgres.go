package enginetest

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Postgres is `topk dev postgres` on one address and directory.
type Postgres struct {
	*Process
	Address string // host:port
	DataDir string
	DSN     string
}

// StartPostgres starts PostgreSQL on a fresh directory and returns its DSN.
func StartPostgres(t testing.TB) string {
	t.Helper()
	engine := NewPostgres(t, t.TempDir())
	// A clean end removes what a kill leaves in the system: shared memory and semaphores.
	t.Cleanup(func() { require.NoError(t, engine.Stop(syscall.SIGTERM)) })
	engine.Start(t)
	return engine.DSN
}

// NewPostgres chooses an address and starts nothing.
func NewPostgres(t testing.TB, dataDir string) *Postgres {
	t.Helper()
	engine := &Postgres{Address: FreeAddress(t), DataDir: dataDir}
	engine.DSN = fmt.Sprintf("postgres://topk@%s/topk?sslmode=disable", engine.Address)
	engine.Process = New(t, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, engine.DSN)
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	}, "dev", "postgres", "--listen", engine.Address, "--data-dir", dataDir)
	return engine
}
