package migrations

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/wire"
)

const hour = 1764547200 // 2025-12-01 00:00:00 UTC, where most tests put their rows

func row(itemID string, n, sequence uint64) countRow {
	return countRow{itemType: "video", itemID: itemID, country: "IN", category: "music", language: "hi", second: hour, n: n,
		ingestor: "test@1", sequence: sequence}
}

const insertByHand = "INSERT INTO topk.counts_in (item_type, item_id, second, n, ingestor, sequence) "

// Two blocks of equal rows are two facts when ingestor or sequence differ, and one fact when they do not: by key, never by
// the hash of the block.
func TestIdenticalBlocksAreNotDroppedAsRetries(t *testing.T) {
	p := newPipe(t, 1)
	for _, sequence := range []int{1, 2, 2} {
		p.Query(t, fmt.Sprintf(insertByHand+"VALUES ('video', 'a', %d, 3, 'test@1', %d)", hour, sequence))
	}
	require.Equal(t, "6", p.Query(t, "SELECT sum(n) FROM topk.counts_second FINAL"))
	require.Equal(t, "9", p.Query(t, "SELECT sum(n) FROM topk.counts_minute"))
	require.Equal(t, "9", p.Query(t, "SELECT sum(applied) FROM topk.topk_10s"))

	p.send(t, wire.CountsTopic, 0, encodeCounts(row("b", 1, 1)))
	p.send(t, wire.CountsTopic, 0, encodeCounts(row("b", 1, 2)))
	p.eventually(t, "2", "SELECT sum(n) FROM topk.counts_second FINAL WHERE item_id = 'b'")
	p.eventually(t, "2", "SELECT sum(n) FROM topk.landed FINAL")
}

// A queue is read as soon as a view reads it: whatever waits there must meet every view.
func TestRowsSentBeforeTheSchemaAreCounted(t *testing.T) {
	p := newPipeWith(t, 1, func(p *pipe) {
		for sequence := range uint64(3) {
			p.send(t, wire.CountsTopic, 0, encodeCounts(row("early", 1, sequence), countRow{n: 1}))
			p.send(t, wire.EventsTopic, 0, encodeEvents(eventRow{eventID: fmt.Sprint(sequence), itemType: "video", itemID: "early", milliseconds: hour * 1000}, eventRow{eventID: "x", itemType: "video", milliseconds: 1}))
		}
	})
	p.eventually(t, "3", "SELECT sum(n) FROM topk.counts_second FINAL")
	p.eventually(t, "3", "SELECT sum(n) FROM topk.counts_minute")
	p.eventually(t, "3", "SELECT count() FROM topk.events FINAL")
	p.eventually(t, "3\t3", "SELECT countIf(topic = '"+wire.CountsTopic+"'), countIf(topic = '"+wire.EventsTopic+"') FROM topk.dead_letters")
}

// Late events touch many hours at once, and each hour is a partition.
func TestOneBlockAcross500HoursIsCounted(t *testing.T) {
	p := newPipe(t, 1)
	p.Query(t, fmt.Sprintf(insertByHand+"SELECT 'video', 'a', %d - number * 3600, 1, 'test@1', 1 FROM numbers(500)", hour))
	require.Equal(t, "500\t500", p.Query(t, "SELECT sum(n), uniqExact(toStartOfHour(second)) FROM topk.counts_second FINAL"))

	rows := make([]countRow, 500)
	events := make([]eventRow, 500)
	for i := range rows {
		rows[i] = row("b", 1, 7)
		rows[i].second -= uint32(i * 3600)
		events[i] = eventRow{eventID: fmt.Sprint(i), itemType: "video", itemID: "b", milliseconds: int64(hour-i*3600) * 1000, stamped: byte(i % 3)}
	}
	p.send(t, wire.CountsTopic, 0, encodeCounts(rows...))
	p.send(t, wire.EventsTopic, 0, encodeEvents(events...))
	p.eventually(t, "500", "SELECT sum(n) FROM topk.counts_second FINAL WHERE item_id = 'b'")
	p.eventually(t, "500", "SELECT sum(n) FROM topk.landed FINAL")
	p.eventually(t, "500", "SELECT count() FROM topk.events FINAL")
	p.eventually(t, "500\t500", "SELECT sum(length(identities)), sum(i.events) FROM topk.event_identities AS i")
	for _, table := range []string{"events", "event_identities"} {
		require.Equal(t, "167\t167\t166", p.Query(t, "SELECT countIf(stamped = 0), countIf(stamped = 1), countIf(stamped = 2) FROM topk."+table+" FINAL"), table)
	}
}

// A replay is one row in what is read with FINAL, and twice in what is additive.
func TestReplayedMessageChangesNeitherCountsSecondNorLanded(t *testing.T) {
	p := newPipe(t, 1)
	message := encodeCounts(row("a", 3, 9), row("b", 4, 9))
	p.send(t, wire.CountsTopic, 0, message)
	p.eventually(t, "7", "SELECT sum(n) FROM topk.counts_minute")
	p.send(t, wire.CountsTopic, 0, message)
	p.eventually(t, "14", "SELECT sum(n) FROM topk.counts_minute")
	p.eventually(t, "14", "SELECT sum(applied) FROM topk.topk_10s")
	p.eventually(t, "7", "SELECT sum(n) FROM topk.counts_second FINAL")
	p.eventually(t, "7", "SELECT sum(n) FROM topk.landed FINAL")
	p.eventually(t, "1", "SELECT max(last_offset) FROM topk.ingest_progress")
}

// FINAL of a range reads that range's partitions only: the two settings, and keys that hold what partitions are made of.
func TestFinalReadsOnlyItsPartitions(t *testing.T) {
	p := newPipe(t, 1)
	for sequence := range 2 {
		p.Query(t, fmt.Sprintf(insertByHand+"SELECT 'video', 'a', %d + number * 3600, 1, 'test@1', %d FROM numbers(24)", hour, sequence))
	}
	p.Query(t, fmt.Sprintf("INSERT INTO topk.events_in (event_id, item_type, item_id, event_time) SELECT 'e', 'video', 'a', %d + number * 3600 FROM numbers(24)", hour))
	for table, column := range map[string]string{"counts_second": "second", "landed": "second", "events": "event_time"} {
		parts := p.Query(t, fmt.Sprintf(`SELECT sum(parts) <= 2 AND sum(parts) > 0 FROM (
			EXPLAIN ESTIMATE SELECT count() FROM topk.%s FINAL WHERE %s >= %d AND %s < %d)`, table, column, hour, column, hour+3600))
		require.Equal(t, "1", parts, table)
	}
	require.Equal(t, "2", p.Query(t, fmt.Sprintf("SELECT count() FROM topk.counts_second FINAL WHERE second = %d", hour)))
}

// Totals of summaries, of minutes and of what landed are the same sum.
func TestSummariesAndMinutesHoldTheLandedTotal(t *testing.T) {
	p := newPipe(t, 2)
	var total uint64
	for message := range 10 {
		rows := make([]countRow, 300)
		for i := range rows {
			rows[i] = row(fmt.Sprintf("v_%d", (i*i+message)%97), uint64(1+i%5), uint64(message))
			rows[i].second += uint32(i + message*60)
			rows[i].country = fmt.Sprint(i)
			total += rows[i].n
		}
		p.send(t, wire.CountsTopic, int32(message%2), encodeCounts(rows...))
	}
	p.eventually(t, fmt.Sprint(total), "SELECT sum(n) FROM topk.landed FINAL")
	p.eventually(t, fmt.Sprint(total), "SELECT sum(n) FROM topk.counts_second FINAL")
	p.eventually(t, fmt.Sprint(total), "SELECT sum(applied) FROM topk.topk_10s")
	require.Equal(t, fmt.Sprintf("%d\t0", total), p.Query(t, "SELECT sum(item.count), max(item.error) FROM topk.topk_10s ARRAY JOIN items AS item"))
	p.eventually(t, fmt.Sprint(total), "SELECT sum(n) FROM topk.counts_minute")
}

// A sketch of an hour holds the maximum of what it was filled with: a filling that is repeated adds nothing, whole or in part.
func TestFillingASketchTwiceAddsNothing(t *testing.T) {
	p := newPipe(t, 1)
	p.Query(t, fmt.Sprintf(insertByHand+"SELECT 'video', 'v_' || toString(number %% 50), %d + number, 1, 'test@1', 1 FROM numbers(3000)", hour))
	fill := `INSERT INTO topk.cms_hour SELECT item_type, 'global', toStartOfHour(minute), topk_cms_width('global') AS width, row,
		topk_cms_cell(row, item_id, width) AS cell, sum(m.n) FROM topk.counts_minute AS m ARRAY JOIN topk_cms_rows() AS row %s GROUP BY ALL`
	total := "SELECT sum(n) FROM (SELECT max(n) AS n FROM topk.cms_hour WHERE row = 0 GROUP BY item_type, slice, bucket, width, row, cell)"
	p.Query(t, fmt.Sprintf(fill, fmt.Sprintf("WHERE minute < %d", hour+1200)))
	require.Equal(t, "1200", p.Query(t, total))
	for range 2 {
		p.Query(t, fmt.Sprintf(fill, ""))
		require.Equal(t, "3000", p.Query(t, total))
	}
	p.Query(t, "OPTIMIZE TABLE topk.cms_hour FINAL")
	require.Equal(t, "3000", p.Query(t, total))
}

// What COMMENTs and headers of counts_in and landed promise to somebody who writes by hand.
func TestBackfillByHandNeedsNoKafkaColumns(t *testing.T) {
	p := newPipe(t, 1)
	p.Query(t, fmt.Sprintf("INSERT INTO topk.events_in (event_id, item_type, item_id, event_time) SELECT toString(number), 'video', 'a', %d + number %% 60 FROM numbers(300)", hour))
	p.Query(t, insertByHand+"SELECT item_type, item_id, toDateTime(event_time, 'UTC') AS second, count(), 'backfill', 1 FROM topk.events FINAL GROUP BY ALL")
	require.Equal(t, "300", p.Query(t, "SELECT sum(n) FROM topk.counts_second FINAL"))
	require.Equal(t, "300", p.Query(t, "SELECT sum(n) FROM topk.counts_minute"))
	require.Equal(t, "300", p.Query(t, "SELECT sum(applied) FROM topk.topk_10s"))
	require.Equal(t, "0\t300", p.Query(t, "SELECT sum(n), sum(by_hand) FROM topk.landed FINAL"), "landed tells it from what came through Kafka")
	require.Equal(t, "0", p.Query(t, "SELECT count() FROM topk.ingest_progress"))
}

// landed rests on this: all rows of a message are in one block, also when they are more than a block should hold. And a block
// of the queue stays one block behind the array join, or progress would run ahead of counts: together these messages exceed
// max_block_size, max_insert_block_size and min_insert_block_size_rows.
func TestMessageIsNeverSplitBetweenBlocks(t *testing.T) {
	const seconds = 3
	var want []string
	total := 0
	p := newPipeWith(t, 1, func(p *pipe) {
		for sequence, rows := range []int{200_000, 50_000, 50_000, 50_000, 50_000, 1_200_000, 200_000, 200_000, 200_000} {
			r := make([]countRow, rows)
			for i := range r {
				r[i] = row(fmt.Sprintf("v_%d", i%500), 1, uint64(sequence))
				r[i].second += uint32(i % seconds)
			}
			p.send(t, wire.CountsTopic, 0, encodeCounts(r...))
			for second := range seconds {
				want = append(want, fmt.Sprintf("%d\t%d\t%d", sequence, second, (rows+seconds-1-second)/seconds))
			}
			total += rows
		}
	})
	p.eventually(t, fmt.Sprint(total), "SELECT sum(n) FROM topk.counts_minute")
	p.eventually(t, strings.Join(want, "\n"), fmt.Sprintf("SELECT sequence, toUInt32(second) - %d AS s, n FROM topk.landed ORDER BY sequence, s", hour))
	p.eventually(t, "1", "SELECT count() <= (SELECT value FROM system.events WHERE event = 'KafkaCommits') FROM topk.topk_10s")
}

// Queues go on where they stopped, after a stop and after a kill; what a kill repeats changes no landed count.
func TestQueuesResumeAfterARestart(t *testing.T) {
	p := newPipe(t, 2)
	sent := uint64(0)
	send := func() {
		for range 20 {
			sent++
			p.send(t, wire.CountsTopic, int32(sent%2), encodeCounts(row("a", 1, sent)))
			p.send(t, wire.EventsTopic, int32(sent%2), encodeEvents(eventRow{eventID: fmt.Sprint(sent), itemType: "video", itemID: "a", milliseconds: hour * 1000}))
		}
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		send()
		err := p.Stop(signal)
		require.Equal(t, signal == syscall.SIGTERM, err == nil, "a clean end: %v", err)
		send()
		p.Start(t)
		p.eventually(t, fmt.Sprint(sent), "SELECT sum(n) FROM topk.counts_second FINAL")
		p.eventually(t, fmt.Sprint(sent), "SELECT sum(n) FROM topk.landed FINAL")
		p.eventually(t, fmt.Sprint(sent), "SELECT count() FROM topk.events FINAL")
	}
}
