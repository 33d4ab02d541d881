package test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README opens with make demo: its command runs to the comparison, on ports of its own, and the answer is the truth.
func TestDemoShowsTheKnownTruth(t *testing.T) {
	out := topk(t, "demo", "--once", "--data", "testdata/nasa_http", "--port-offset", freeOffset(t))
	require.Contains(t, out, "Equal, position for position.")
	require.Contains(t, out, "/images/")
}

// freeOffset finds a --port-offset at which the default ports are free.
func freeOffset(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return "20000"
}
