package rollups

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/internal/wire"
	"topk/rollups/store"
)

const deadline = 60 * time.Second // a loaded machine is slow; the pace itself is tested in schedule_test.go

// heartbeat lands one block of every partition of both topics, with that watermark, and commits its offsets.
func (e *engines) heartbeat(t *testing.T, mark time.Time, partitions, present int) {
	t.Helper()
	for partition := range present {
		e.offset++
		at, now := mark.UTC().Format("2006-01-02 15:04:05.000"), time.Now().UTC().Format("2006-01-02 15:04:05.000")
		e.Query(t, fmt.Sprintf(`INSERT INTO topk.counts_in (n, ingestor, sequence, topic, partition, offset, partitions, watermark, sent_at)
			VALUES (0, 'test@1', %d, '%s', %d, %d, %d, '%s', '%s')`, e.offset, wire.CountsTopic, partition, e.offset, partitions, at, now))
		e.Query(t, fmt.Sprintf(`INSERT INTO topk.events_in (ingestor, topic, partition, offset, partitions, watermark, sent_at)
			VALUES ('test@1', '%s', %d, %d, %d, '%s', '%s')`, wire.EventsTopic, partition, e.offset, partitions, at, now))
		for _, topic := range topics {
			e.commit(t, topic, int32(partition), e.offset+1)
		}
	}
}

// startWorker runs a worker until the test ends, or stop is called.
func (e *engines) startWorker(t *testing.T, listen string, change ...func(*Config)) (w *Worker, stop func()) {
	t.Helper()
	config := DefaultConfig()
	config.ClickHouse, config.Postgres, config.Listen, config.Clock = e.DSN, e.postgres, listen, ClockEvent
	config.Brokers = []string{e.kafka}
	for _, f := range change {
		f(&config)
	}
	w, err := New(config, quiet(), prometheus.NewRegistry())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, <-ended)
		}
	}
	t.Cleanup(stop)
	return w, stop
}

// current is what the API would serve.
func current(t *testing.T, conn *pgx.Conn, window string) *list.List {
	t.Helper()
	var raw []byte
	var version int64
	err := conn.QueryRow(t.Context(), `SELECT version, body FROM current_lists JOIN lists USING (version)
		WHERE current_lists.item_type = 'video' AND current_lists.window_name = $1 AND current_lists.slice = 'global'`, window).Scan(&version, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	require.NoError(t, err)
	var l list.List
	require.NoError(t, json.Unmarshal(raw, &l))
	l.Version = version
	return &l
}

func (e *engines) connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), e.postgres)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	return conn
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, deadline, 50*time.Millisecond, what)
}

func TestWorker(t *testing.T) {
	e := startEngines(t)
	conn := e.connect(t)
	start := e.newDay().Add(12 * time.Hour)
	var rows []count
	for i, id := range strangeIDs {
		rows = append(rows, views(id, uint64(100-i), start)...)
	}
	e.land(t, wire.CountsTopic, e.message(rows...))
	first, stopFirst := e.startWorker(t, enginetest.FreeAddress(t))
	second, stopSecond := e.startWorker(t, enginetest.FreeAddress(t))

	asOf := start.Add(10 * time.Second)
	e.heartbeat(t, asOf, 2, 1)
	e.heartbeat(t, asOf.Add(time.Second), 2, 1)
	eventually(t, "the missing partitions are noticed", func() bool {
		line := first.line.Load()
		return line != nil && slices.Contains(line.missing, wire.EventsTopic+"/1")
	})
	require.Nil(t, current(t, conn, "1m"), "a partition is missing")

	e.heartbeat(t, asOf.Add(1500*time.Millisecond), 2, 2)
	for _, w := range list.Live {
		eventually(t, w.Name+" is published for the final watermark", func() bool {
			l := current(t, conn, w.Name)
			return l != nil && l.AsOf.Equal(asOf.Add(time.Second))
		})
		l := current(t, conn, w.Name)
		require.Len(t, l.Items, len(strangeIDs))
		for i, item := range l.Items {
			require.Equal(t, strangeIDs[i], item.ItemID)
		}
	}
	requireOneLeader(t, first, second)

	t.Run("an older list never replaces a newer one", func(t *testing.T) { testPointerNeverMovesBack(t, conn, current(t, conn, "5m")) })
	t.Run("late events revise a list that stands still", func(t *testing.T) {
		e.land(t, wire.CountsTopic, e.message(views("late", 1_000, start)...))
		eventually(t, "the late item is listed", func() bool { return current(t, conn, "1m").Items[0].ItemID == "late" })
		require.True(t, current(t, conn, "1m").AsOf.Equal(asOf.Add(time.Second)))
	})
	t.Run("the standby takes over", func(t *testing.T) {
		// The first was started first, but either may have been faster to the lock.
		stopFirst()
		e.heartbeat(t, asOf.Add(2*time.Hour), 2, 2)
		eventually(t, "lists move on", func() bool { return current(t, conn, "1m").AsOf.Equal(asOf.Add(2 * time.Hour)) })
	})
	t.Run("old versions go, the served one stays", func(t *testing.T) {
		served := current(t, conn, "1m").Version
		eventually(t, "only the served version is left", func() bool {
			_, err := store.Prune(t.Context(), conn, "1m", store.Age{Before: time.Now().Add(time.Minute), Ungraded: start})
			require.NoError(t, err)
			var left int
			require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM lists WHERE window_name = '1m' AND version <= $1`, served).Scan(&left))
			return left <= 1
		})
	})
	t.Run("lists of hours' ends are graded", func(t *testing.T) { testGraded(t, e, stopSecond) })
}

// requireOneLeader reads the gauge of each.
func requireOneLeader(t *testing.T, workers ...*Worker) {
	t.Helper()
	leading := 0.0
	for _, w := range workers {
		families, err := w.gatherer.Gather()
		require.NoError(t, err)
		for _, f := range families {
			if f.GetName() == "topk_rollup_leading" {
				leading += f.GetMetric()[0].GetGauge().GetValue()
			}
		}
	}
	require.Equal(t, 1.0, leading)
}

func testPointerNeverMovesBack(t *testing.T, conn *pgx.Conn, served *list.List) {
	other, err := pgx.Connect(t.Context(), conn.Config().ConnString())
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close(context.Background())) }()
	_, err = other.Exec(t.Context(), "LISTEN topk_lists")
	require.NoError(t, err)
	store := func(asOf time.Time, slice string) int {
		l := *served
		l.Slice, l.AsOf = slice, asOf
		encoded, err := store.Encode(&l)
		require.NoError(t, err)
		require.NotContains(t, string(encoded), "published_at")
		n, err := store.Publish(t.Context(), conn, []*list.List{&l}, [][]byte{encoded})
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 1, store(served.AsOf, "country=XX"))
	require.Zero(t, store(served.AsOf.Add(-time.Second), "country=XX"))
	require.Equal(t, 1, store(served.AsOf, "country=XX"), "a revision has the same as_of")
	for {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		notification, err := other.WaitForNotification(ctx)
		cancel()
		require.NoError(t, err)
		var payload struct {
			ItemType string `json:"item_type"`
			Window   string `json:"window"`
			Slice    string `json:"slice"`
			Version  int64  `json:"version"`
		}
		require.NoError(t, json.Unmarshal([]byte(notification.Payload), &payload))
		if payload.Slice == "country=XX" {
			require.Equal(t, "video", payload.ItemType)
			require.Equal(t, "5m", payload.Window)
			require.Positive(t, payload.Version)
			return
		}
	}
}

// A block counts once its offsets are committed. An attempt that failed is read again from its start, and proves nothing.
func TestProgressIsOfWholeBlocks(t *testing.T) {
	e := startEngines(t)
	consumers, err := newConsumers([]string{e.kafka})
	require.NoError(t, err)
	t.Cleanup(consumers.close)
	land := func(offset int64, mark int) {
		e.Query(t, fmt.Sprintf(`INSERT INTO topk.counts_in (n, ingestor, sequence, topic, partition, offset, partitions, watermark, sent_at)
			SELECT 0, arrayJoin(['a@1', 'b@1']) AS ingestor, 1, '%s', 0, %d + (ingestor = 'a@1') * 5, 1, toDateTime64(%d, 3), now64(3)`, wire.CountsTopic, offset, mark))
	}
	marks := func() map[string]int64 {
		committed, err := consumers.committed(t.Context())
		require.NoError(t, err)
		rows, err := readProgress(t.Context(), e.conn, committed, narrowRange)
		require.NoError(t, err)
		found := map[string]int64{}
		for _, row := range rows {
			found[row.ingestor] = row.watermark.Unix()
		}
		return found
	}
	land(10, 100)
	require.Empty(t, marks(), "nothing has been committed yet, the group is unknown")
	e.commit(t, wire.CountsTopic, 1, 1000)
	require.Empty(t, marks(), "another partition")
	e.commit(t, wire.CountsTopic, 0, 11)
	require.Equal(t, map[string]int64{"b@1": 100}, marks())
	e.commit(t, wire.CountsTopic, 0, 16)
	require.Equal(t, map[string]int64{"a@1": 100, "b@1": 100}, marks())
	land(20, 200)
	for range 2 { // the block of offset 20 fails in some view, and is read again with what came since
		e.Query(t, fmt.Sprintf(`INSERT INTO topk.counts_in (n, ingestor, sequence, topic, partition, offset, partitions, watermark, sent_at)
			SELECT 0, 'a@1', 1, '%s', 0, arrayJoin([20, 40]), 1, toDateTime64(400, 3), now64(3)`, wire.CountsTopic))
		require.Equal(t, map[string]int64{"a@1": 100, "b@1": 100}, marks())
	}
	e.commit(t, wire.CountsTopic, 0, 41)
	require.Equal(t, map[string]int64{"a@1": 400, "b@1": 200}, marks())
}
