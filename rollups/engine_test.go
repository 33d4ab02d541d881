package rollups

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/embedded/binary"
	"topk/internal/clickhouse"
	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/internal/wire"
	"topk/migrations"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

// engines are a ClickHouse and a PostgreSQL with the schema, shared by the tests of one function: each keeps to item types
// and hours of its own.
type engines struct {
	*enginetest.ClickHouse
	conn     driver.Conn
	postgres string
	kafka    string // broker
	admin    *kadm.Client
	sequence uint64 // of the last message
	offset   int64
	day      int
}

func startEngines(t *testing.T) *engines {
	t.Helper()
	e := &engines{ClickHouse: enginetest.StartClickHouse(t, ""), postgres: enginetest.StartPostgres(t)}
	migrator, err := migrations.New(migrations.Config{ClickHouse: e.DSN, Postgres: e.postgres, LockWait: time.Minute}, quiet())
	require.NoError(t, err)
	_, err = migrator.Up(t.Context())
	require.NoError(t, err)
	e.conn, err = clickhouse.Open(e.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.conn.Close()) })
	e.kafka = enginetest.StartKafka(t, 2, wire.CountsTopic, wire.EventsTopic)
	client, err := kgo.NewClient(kgo.SeedBrokers(e.kafka))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	e.admin = kadm.NewClient(client)
	return e
}

// commit is what ClickHouse does once every view has the block that ends before an offset.
func (e *engines) commit(t *testing.T, topic string, partition int32, offset int64) {
	t.Helper()
	group := map[string]string{wire.CountsTopic: wire.CountsGroup, wire.EventsTopic: wire.EventsGroup}[topic]
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: topic, Partition: partition, At: offset, LeaderEpoch: -1})
	require.NoError(t, e.admin.CommitAllOffsets(t.Context(), group, offsets))
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// newDay returns midnight of a day that no other test of this engine uses.
func (e *engines) newDay() time.Time {
	e.day++
	return time.Date(1995, 7, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 2*e.day)
}

// count is a combined row.
type count struct {
	itemType, id, country string
	second                time.Time
	n                     uint64
}

// message is what an ingestor sends at once.
type message struct {
	ingestor string
	sequence uint64
	rows     []count
}

func (e *engines) message(rows ...count) message {
	e.sequence++
	return message{ingestor: "test@1", sequence: e.sequence, rows: rows}
}

// land brings messages to ClickHouse as one block of the Kafka table would. topic is empty for rows written by hand.
func (e *engines) land(t testing.TB, topic string, messages ...message) {
	t.Helper()
	batch, err := e.conn.PrepareBatch(context.Background(), `INSERT INTO topk.counts_in
		(item_type, item_id, country, second, n, ingestor, sequence, topic, partition, offset, partitions)`)
	require.NoError(t, err)
	for _, m := range messages {
		e.offset++
		for _, r := range m.rows {
			require.NoError(t, batch.Append(r.itemType, r.id, r.country, r.second, r.n, m.ingestor, m.sequence, topic, uint32(0), e.offset, uint32(1)))
		}
	}
	require.NoError(t, batch.Send())
}

// event is one accepted event.
type event struct {
	itemType, id, eventID string
	at                    time.Time
	stamped               wire.Stamp
}

func (e *engines) landEvents(t testing.TB, events []event) {
	t.Helper()
	batch, err := e.conn.PrepareBatch(context.Background(), `INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, stamped, topic, offset, partitions)`)
	require.NoError(t, err)
	e.offset++
	for _, v := range events {
		require.NoError(t, batch.Append(v.eventID, v.itemType, v.id, v.at, uint8(v.stamped), wire.EventsTopic, e.offset, uint32(1)))
	}
	require.NoError(t, batch.Send())
}

// builder has generous budgets unless changed.
func (e *engines) builder(change ...func(*BuilderConfig)) *Builder {
	config := BuilderConfig{VerifyTimeout: time.Minute, DuplicateRows: 2_000_000}
	for _, f := range change {
		f(&config)
	}
	return NewBuilder(e.conn, config, quiet(), nil)
}

func window(t testing.TB, name string) list.Window {
	t.Helper()
	w, err := list.ParseWindow(name)
	require.NoError(t, err)
	return w
}

// build returns the list of one item type.
func build(t testing.TB, b *Builder, name, itemType string, asOf time.Time) *list.List {
	t.Helper()
	lists, err := b.Build(context.Background(), window(t, name), asOf)
	require.NoError(t, err)
	at := slices.IndexFunc(lists, func(l *list.List) bool { return l.ItemType == itemType })
	require.GreaterOrEqual(t, at, 0, "no list of %s", itemType)
	return lists[at]
}

// show is a list as text, to compare what two builds found.
func show(l *list.List) string {
	text := fmt.Sprintf("total %d other %d overcount %d method %s\n", l.Total, l.Other, l.MaxOvercount, l.Method)
	for _, item := range l.Items {
		text += fmt.Sprintf("%d %d %q %d [%d, %d]\n", item.Position, item.Rank, item.ItemID, item.Count, item.Lower, item.Upper)
	}
	return text
}
