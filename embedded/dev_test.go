package embedded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/embedded"
	"topk/embedded/child"
	"topk/internal/enginetest"
)

// dev is a running `topk dev`, as a user starts it.
type dev struct {
	cmd      *exec.Cmd
	out, err output
	ended    <-chan error
	ready    struct {
		embedded.Endpoints
		DataDir string         `json:"data_dir"`
		PIDs    map[string]int `json:"pids"`
	}
	readyFile string
}

// output is a file that a process writes. It can be read meanwhile.
type output struct{ path string }

func (o output) String() string {
	text, _ := os.ReadFile(o.path)
	return string(text)
}

func startDev(t *testing.T, services string, args ...string) *dev {
	dir := t.TempDir()
	d := &dev{readyFile: filepath.Join(dir, "ready.json")}
	d.out, d.err = output{filepath.Join(dir, "out.txt")}, output{filepath.Join(dir, "err.txt")}
	args = append([]string{"dev", "--services", services, "--verbose", "--ready-file", d.readyFile}, args...)
	for _, service := range embedded.Services() {
		port, err := embedded.FreePort()
		require.NoError(t, err)
		args = append(args, "--"+service+"-port", strconv.Itoa(port))
	}
	d.cmd = enginetest.Command(context.Background(), args...)
	d.cmd.Stdout, d.cmd.Stderr = create(t, d.out.path), create(t, d.err.path)
	var err error
	d.ended, err = child.Start(d.cmd, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it has ended by itself where the test went well
	})
	require.Eventually(t, func() bool {
		select {
		case err := <-d.ended:
			require.NoError(t, err, d.err.String())
			t.Fatal("topk dev ended")
		default:
		}
		text, err := os.ReadFile(d.readyFile)
		return err == nil && json.Unmarshal(text, &d.ready) == nil
	}, deadline, pollEvery)
	return d
}

func create(t *testing.T, path string) *os.File {
	file, err := os.Create(path)
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}

// process is told from a later one that got the same id by when it started.
type process struct {
	pid     int
	started string
}

// started is when a process did, in ticks since the machine started; empty when it does nothing any more: one that nobody waits for
// stays as a zombie.
func started(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, found := strings.Cut(string(text), ") ")
	if fields := strings.Fields(after); err == nil && found && len(fields) > 19 && fields[0] != "Z" {
		return fields[19]
	}
	return ""
}

// family is a process and all that it has started, and they have.
func family(pid int) []process {
	all := []process{{pid, started(pid)}}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field)
			all = append(all, family(child)...)
		}
	}
	return all
}

func requireGone(t *testing.T, family []process) {
	for _, p := range family {
		require.Eventually(t, func() bool { now := started(p.pid); return now == "" || now != p.started }, deadline, pollEvery, "process %d is an orphan", p.pid)
	}
}

func TestKilledDevLeavesNoOrphan(t *testing.T) {
	d := startDev(t, "postgres,kafka,clickhouse")
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(d.ready.DataDir)) }) // nobody is left to remove it
	all := family(d.cmd.Process.Pid)
	require.Greater(t, len(all), 1+3+3, "with the server of PostgreSQL and its workers: %v", all)
	require.NoError(t, d.cmd.Process.Kill())
	requireGone(t, all)
}

func TestInterruptedDevStopsInReverseAndLeavesNothing(t *testing.T) {
	d := startDev(t, "postgres,kafka")
	for _, line := range []string{
		"topk is ready, wall clock", d.ready.Kafka, d.ready.Postgres, d.ready.DataDir + " (removed at the end", "Ctrl-C",
	} {
		require.Contains(t, d.out.String(), line)
	}
	require.NotContains(t, d.out.String(), "/v1/topk", "there is no API to ask")
	all := family(d.cmd.Process.Pid)
	require.NoError(t, d.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, <-d.ended, d.err.String())
	requireGone(t, all)
	require.NoDirExists(t, d.ready.DataDir)
	require.NoFileExists(t, d.readyFile)
	require.Equal(t, []string{"kafka", "postgres"}, endings(d.err.String()))
}

func endings(log string) (services []string) {
	for _, match := range regexp.MustCompile(`msg=ended service=(\w+)`).FindAllStringSubmatch(log, -1) {
		services = append(services, match[1])
	}
	return services
}

func TestDevReportsAChildThatDiesAndStopsTheRest(t *testing.T) {
	d := startDev(t, "postgres,kafka")
	all := family(d.cmd.Process.Pid)
	require.NoError(t, syscall.Kill(d.ready.PIDs["kafka"], syscall.SIGKILL))
	var exit *exec.ExitError
	require.ErrorAs(t, <-d.ended, &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Contains(t, d.err.String(), "topk: kafka ended: signal: killed")
	require.Contains(t, d.err.String(), "kafka is ready", "its last lines")
	requireGone(t, all)
}

func TestTwoDevsRunSideBySideAndKeepTheirData(t *testing.T) {
	dir := t.TempDir()
	a, b := startDev(t, "kafka", "--data-dir", dir), startDev(t, "kafka")
	require.NotEqual(t, a.ready.Kafka, b.ready.Kafka)
	require.Contains(t, a.out.String(), dir+" (kept")
	for _, d := range []*dev{a, b} {
		require.NoError(t, d.cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, <-d.ended, d.err.String())
	}
	require.FileExists(t, filepath.Join(dir, "kafka", "topics.json"))
	again := startDev(t, "kafka", "--data-dir", dir)
	log, err := os.ReadFile(filepath.Join(dir, "log", "kafka.log"))
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(log), "made a topic"), "both at the first start only")
	require.NoError(t, again.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, <-again.ended)
}
