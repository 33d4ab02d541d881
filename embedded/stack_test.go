package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/embedded"
	"topk/embedded/binary"
	"topk/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

const (
	deadline  = 60 * time.Second
	pollEvery = 20 * time.Millisecond
)

func start(t *testing.T, o embedded.Options) *embedded.Stack {
	o.Binary = binary.Path()
	if len(o.Services) == 0 {
		o.Services = []string{embedded.Kafka, embedded.Postgres}
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	s, err := embedded.Start(ctx, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

func postgres(t *testing.T, s *embedded.Stack, query string, into ...any) error {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.Endpoints().Postgres)
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	if len(into) > 0 {
		return conn.QueryRow(ctx, query).Scan(into...)
	}
	_, err = conn.Exec(ctx, query)
	return err
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestStackStartsServesAndLeavesNothing(t *testing.T) {
	s := start(t, embedded.Options{})
	require.NoError(t, postgres(t, s, "SELECT 1"))
	client, err := kgo.NewClient(kgo.SeedBrokers(s.Endpoints().Kafka))
	require.NoError(t, err)
	defer client.Close()
	topics, err := kadm.NewClient(client).ListTopics(t.Context(), wire.EventsTopic, wire.CountsTopic)
	require.NoError(t, err)
	require.NoError(t, topics.Error())
	kafka, keeper := s.PID(embedded.Kafka), s.PID(embedded.Postgres)
	require.NotZero(t, kafka)
	require.NotZero(t, keeper)
	require.Zero(t, s.PID(embedded.API), "not part of this stack")
	log, err := os.ReadFile(s.LogPath(embedded.Kafka))
	require.NoError(t, err)
	require.Contains(t, string(log), "kafka is ready")

	require.NoError(t, s.Stop())
	require.True(t, gone(kafka))
	require.True(t, gone(keeper))
	require.NoDirExists(t, s.DataDir())
	require.NoError(t, s.Stop(), "a second time does nothing")
	require.Error(t, s.Restart(t.Context(), embedded.Kafka))
}

func TestStackRestartsAServiceOnTheSamePortAndData(t *testing.T) {
	s := start(t, embedded.Options{})
	require.NoError(t, postgres(t, s, "CREATE TABLE kept AS SELECT 7 AS n"))
	for _, service := range []string{embedded.Postgres, embedded.Kafka} {
		before := s.PID(service)
		require.NoError(t, s.Signal(service, syscall.SIGKILL))
		require.Eventually(t, func() bool { return s.PID(service) == 0 }, deadline, pollEvery)
		require.NoError(t, s.Restart(t.Context(), service))
		require.NotEqual(t, before, s.PID(service))
	}
	var n int
	require.NoError(t, postgres(t, s, "SELECT n FROM kept", &n))
	require.Equal(t, 7, n)
	// Also without a kill before it.
	require.NoError(t, s.Restart(t.Context(), embedded.Kafka))
	select {
	case err := <-s.Done():
		require.NoError(t, err, "an end that was asked for is no crash")
	default:
	}
}

func TestStackPausesAWholeService(t *testing.T) {
	s := start(t, embedded.Options{Services: []string{embedded.Postgres}})
	require.NoError(t, s.Signal(embedded.Postgres, syscall.SIGSTOP))
	require.Error(t, postgres(t, s, "SELECT 1"))
	require.NoError(t, s.Signal(embedded.Postgres, syscall.SIGCONT))
	require.Eventually(t, func() bool { return postgres(t, s, "SELECT 1") == nil }, deadline, pollEvery)
	require.NoError(t, s.Signal(embedded.Postgres, syscall.SIGSTOP), "a paused service can be stopped")
}

func TestStackReportsAChildThatDies(t *testing.T) {
	s := start(t, embedded.Options{Services: []string{embedded.Kafka}})
	require.NoError(t, syscall.Kill(s.PID(embedded.Kafka), syscall.SIGKILL))
	select {
	case err := <-s.Done():
		var crash *embedded.CrashError
		require.ErrorAs(t, err, &crash)
		require.Equal(t, embedded.Kafka, crash.Service)
		require.Equal(t, "signal: killed", crash.Status)
		require.Contains(t, crash.LastLogs, "kafka is ready")
		require.ErrorContains(t, err, s.LogPath(embedded.Kafka))
	case <-time.After(deadline):
		t.Fatal("the death was not reported")
	}
}

func TestStackThatCannotStartSaysWhyAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := embedded.Start(t.Context(), embedded.Options{
		Binary: binary.Path(), DataDir: dir, Services: []string{embedded.Postgres, embedded.Kafka},
		Args: map[string][]string{embedded.Kafka: {"--partitions", "0"}},
	})
	var crash *embedded.CrashError
	require.ErrorAs(t, err, &crash)
	require.Equal(t, embedded.Kafka, crash.Service)
	require.ErrorContains(t, err, "partitions: 0 is not in 1..")
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		target, _ := os.Readlink(link)
		require.NotContains(t, target, dir, "no orphan")
	}
}

func TestEveryBusyPortIsNamed(t *testing.T) {
	listen := func() int {
		listener, err := net.Listen("tcp", embedded.Host+":0")
		require.NoError(t, err)
		t.Cleanup(func() { listener.Close() })
		return listener.Addr().(*net.TCPAddr).Port
	}
	ports := embedded.Ports{Kafka: listen(), API: listen()}
	_, err := embedded.Start(t.Context(), embedded.Options{Binary: binary.Path(), Ports: ports})
	var busy *embedded.BusyPortsError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, map[string]int{embedded.Kafka: ports.Kafka, embedded.API: ports.API}, busy.Ports)
	require.ErrorContains(t, err, fmt.Sprintf("%d (kafka): choose another with --kafka-port", ports.Kafka))
	require.ErrorContains(t, err, fmt.Sprintf("%d (api): choose another with --api-port", ports.API))

	_, err = embedded.Start(t.Context(), embedded.Options{Ports: embedded.Ports{Kafka: 1234, API: 1234}})
	require.ErrorContains(t, err, "port 1234 is meant for both kafka and api")
}

func TestSecondStackOnTheSameDirectoryIsTold(t *testing.T) {
	s := start(t, embedded.Options{Services: []string{embedded.Kafka}, DataDir: t.TempDir()})
	_, err := embedded.Start(t.Context(), embedded.Options{Binary: binary.Path(), DataDir: s.DataDir()})
	require.ErrorContains(t, err, fmt.Sprintf("data directory %s is in use by process %d", s.DataDir(), os.Getpid()))
}

func TestStartThatIsGivenUpLeavesNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	listener, err := net.Listen("tcp", embedded.Host+":0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	_, err = embedded.Start(ctx, embedded.Options{Ports: embedded.Ports{Kafka: listener.Addr().(*net.TCPAddr).Port}})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, time.Since(began), time.Second, "it does not wait for the busy port")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestOptionsReportEveryMistake(t *testing.T) {
	_, err := embedded.Start(t.Context(), embedded.Options{
		Clock: "sun", Services: []string{"mysql"}, Args: map[string][]string{"redis": nil},
	})
	require.ErrorContains(t, err, `clock: "sun"`)
	require.ErrorContains(t, err, `services: "mysql"`)
	require.ErrorContains(t, err, `args: "redis"`)
}

func TestDefaultPortsMoveTogether(t *testing.T) {
	a, b := embedded.DefaultPorts(0), embedded.DefaultPorts(100)
	for _, service := range embedded.Services() {
		require.Equal(t, *a.Of(service)+100, *b.Of(service), service)
	}
}
