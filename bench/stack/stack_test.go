package stack

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/apiclient"
)

// fakeTopk stands in for the binary: dev writes a ready file and burns a little processor time in a child, load prints a
// report.
const fakeTopk = `#!/bin/bash
if [ "$1" = load ]; then echo "{\"accepted\": 7, \"run\": \"$*\"}"; exit 0; fi
while [ $# -gt 0 ]; do
  if [ "$1" = --ready-file ]; then ready=$2; fi
  shift
done
bash -c 'for i in {1..200000}; do :; done; read < <(:); while :; do sleep 0.1; done' &
child=$!
trap 'kill $child; exit 0' TERM
echo "{\"clickhouse\":\"http://c/topk\",\"ingest\":\"http://i\",\"api\":\"http://a\",\"pid\":$$,\"pids\":{\"ingest\":$child}}" > $ready.tmp
mv $ready.tmp $ready
wait
`

func start(t *testing.T, script string) (*Stack, string, error) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "topk")
	require.NoError(t, os.WriteFile(binary, []byte(script), 0o755))
	s, err := Start(t.Context(), Config{Binary: binary, Dir: t.TempDir()})
	return s, binary, err
}

func TestStackIsWatchedFromStartToStop(t *testing.T) {
	s, binary, err := start(t, fakeTopk)
	require.NoError(t, err)
	require.Equal(t, Endpoints{ClickHouse: "http://c/topk", Ingest: "http://i", API: "http://a"}, s.Endpoints)
	w, err := s.Watch()
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		require.NoError(t, w.sample(false))
		usage := w.Usage()
		return usage["ingest"].CPUSeconds > 0 && usage["ingest"].PeakRSS > 0 && usage["dev"].PeakRSS > 0
	}, 20*time.Second, 10*time.Millisecond)
	report, err := s.Load(t.Context(), binary, "--rate", "5")
	require.NoError(t, err)
	require.EqualValues(t, 7, report.Accepted)
	require.Equal(t, "load --json --ingest http://i --api http://a --rate 5", report.Run)
	require.NoError(t, s.Stop())
}

func TestStackThatDoesNotStartSaysWhereToLook(t *testing.T) {
	_, _, err := start(t, "#!/bin/bash\nexit 3\n")
	require.ErrorContains(t, err, "topk dev ended before it was ready")
	require.ErrorContains(t, err, "dev.log")
}

func TestProcessIsParsed(t *testing.T) {
	stat := "42 (a) b) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1 0 100 1 2"
	status := "Name:\ta) b\nVmRSS:\t    2048 kB\nRssAnon:\t 1024 kB\nRssShmem:\t     512 kB\n"
	p, err := parseProcess([]byte(stat), []byte(status))
	require.NoError(t, err)
	require.Equal(t, process{parent: 7, ticks: 200, rss: 2 << 20, shared: 512 << 10}, p)
	for _, bad := range []string{"", "42 (a", "42 (a) S 1", "42 (a) S x 42 42 0 -1 4194560 1 2 3 4 y 50 0"} {
		_, err := parseProcess([]byte(bad), nil)
		require.Error(t, err, bad)
	}
}

func TestLagIsReadFromClickHouseAndTheList(t *testing.T) {
	at := time.Now().Add(-3 * time.Second)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && r.FormValue("query") == lagSQL {
			_, _ = w.Write([]byte("1000000000000\n"))
			return
		}
		_, _ = w.Write([]byte(`{"as_of":"` + at.UTC().Format(time.RFC3339Nano) + `"}`))
	}))
	t.Cleanup(server.Close)
	s := &Stack{Endpoints: Endpoints{ClickHouse: server.URL + "/topk", API: server.URL}}
	progress, err := s.progress(t.Context(), server.Client())
	require.NoError(t, err)
	require.EqualValues(t, 1_000_000_000_000, progress.UnixMilli())
	served, err := asOf(t.Context(), apiclient.New(s.API))
	require.NoError(t, err)
	require.WithinDuration(t, at, served, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	lags := s.WatchLag(ctx)
	require.NotZero(t, lags.List.Samples)
	require.Greater(t, lags.List.P50, 3*time.Second)
	require.LessOrEqual(t, lags.List.P50, lags.List.Max)
}

// A benchmark's stack is started in its own folder, watched while the load runs, and stopped; the temporary folder goes.
func TestCommandMeasuresOnAFreshStack(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "topk")
	require.NoError(t, os.WriteFile(binary, []byte(fakeTopk), 0o755))
	c := &Command{Name: "bench", Binary: binary}
	besideEnded := false
	err := c.within(t.Context(), func(ctx context.Context) error {
		require.DirExists(t, c.Dir)
		return c.OnStack(ctx, "one", func(s *Stack) error {
			report, usage, err := c.Watched(ctx, s, func(ctx context.Context) {
				<-ctx.Done()
				besideEnded = true
			}, "--rate", "5")
			require.NoError(t, err)
			require.EqualValues(t, 7, report.Accepted)
			require.Contains(t, usage, "ingest")
			require.FileExists(t, filepath.Join(c.Dir, "one", "dev.log"))
			return nil
		})
	})
	require.NoError(t, err)
	require.True(t, besideEnded)
	require.NoDirExists(t, c.Dir)
}
