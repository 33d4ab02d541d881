package rollups

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/wire"
)

// at is a moment of a test, in milliseconds.
func at(ms int64) time.Time { return time.UnixMilli(1_600_000_000_000 + ms).UTC() }

// one is a row of a topic with a single partition.
func one(topic, ingestor string, watermark, seen int64) progress {
	return progress{topic: topic, ingestor: ingestor, watermark: at(watermark), lastSeen: at(seen), partitions: 1}
}

func closed(p progress) progress {
	p.closed = true
	return p
}

func offset(n int64, p progress) progress {
	p.lastOffset = n
	return p
}

func TestWatermarkIsTheLeastOfLiveIngestorsAndPartitions(t *testing.T) {
	const counts, events = wire.CountsTopic, wire.EventsTopic
	second := one(counts, "a@1", 3_500, 9_000)
	second.partition, second.partitions = 1, 2
	for name, c := range map[string]struct {
		rows    []progress
		mark    int64
		missing []string
	}{
		"both topics":       {rows: []progress{one(counts, "a@1", 7_900, 9_000), one(events, "a@1", 5_400, 9_000)}, mark: 5_400},
		"least of two":      {rows: []progress{one(counts, "a@1", 7_900, 9_000), one(counts, "b@1", 6_100, 9_000), one(events, "a@1", 9_000, 9_000)}, mark: 6_100},
		"closed holds none": {rows: []progress{closed(one(counts, "a@1", 1_000, 9_000)), one(counts, "b@1", 6_100, 9_000), one(events, "a@1", 9_000, 9_000)}, mark: 6_100},
		"all closed": {rows: []progress{closed(one(counts, "a@1", 1_000, 9_000)), closed(one(counts, "b@1", 6_100, 9_000)),
			one(events, "a@1", 9_000, 9_000)}, mark: 6_100},
		"dead is dropped": {rows: []progress{one(counts, "a@1", 1_000, 9_000), one(counts, "b@1", 26_100, 24_001), one(events, "a@1", 29_000, 9_000)}, mark: 26_100},
		"slow is not":     {rows: []progress{one(counts, "a@1", 1_000, 9_000), one(counts, "b@1", 26_100, 24_000), one(events, "a@1", 29_000, 9_000)}, mark: 1_000},
		"alone is never dead": {rows: []progress{one(counts, "a@1", 1_000, 9_000), one(events, "a@1", 2_000, 900_000)},
			mark: 1_000},
		"a new start supersedes": {rows: []progress{offset(70, one(counts, "a@999", 1_000, 9_000)), offset(75, one(counts, "a@1000", 8_000, 9_000)),
			one(events, "a@1000", 9_000, 9_000)}, mark: 8_000},
		"also one whose clock is behind": {rows: []progress{offset(75, one(counts, "a@999", 3_000, 3_000)), offset(70, one(counts, "a@1000", 1_000, 9_000)),
			one(events, "a@999", 9_000, 9_000)}, mark: 3_000},
		"each partition by itself": {rows: []progress{offset(75, one(counts, "a@999", 3_000, 3_000)), offset(70, one(counts, "a@1000", 1_000, 9_000)),
			offset(40, one(events, "a@1000", 9_000, 9_000))}, mark: 3_000},
		"names are told apart": {rows: []progress{offset(75, one(counts, "a@1", 3_000, 9_000)), offset(70, one(counts, "ab@1", 2_000, 9_000)),
			one(events, "a@1", 9_000, 9_000)}, mark: 2_000},
		"two partitions":    {rows: []progress{one(counts, "a@1", 7_900, 9_000), second, one(events, "a@1", 9_000, 9_000)}, mark: 3_500},
		"missing partition": {rows: []progress{second, one(events, "a@1", 9_000, 9_000)}, missing: []string{counts + "/0"}},
		"missing topic":     {rows: []progress{one(counts, "a@1", 7_900, 9_000)}, missing: []string{events}},
		"nothing":           {missing: []string{counts, events}},
	} {
		line := lowest(c.rows, 15*time.Second)
		require.Equal(t, c.missing, line.missing, name)
		if c.missing != nil {
			require.False(t, line.ready(), name)
			continue
		}
		require.True(t, line.ready(), name)
		require.Equal(t, at(c.mark), line.mark, name)
		require.Equal(t, at(c.mark).Truncate(time.Second), line.asOf, name)
	}
}

func TestUnknownWatermarkIsNotReady(t *testing.T) {
	unknown := one(wire.CountsTopic, "a@1", 0, 9_000)
	unknown.watermark = time.UnixMilli(0)
	line := lowest([]progress{unknown, one(wire.EventsTopic, "a@1", 5_000, 9_000)}, time.Second)
	require.Empty(t, line.missing)
	require.False(t, line.ready())
}

// ClickHouse is asked when as_of may move: once a flush, not once a block of either topic.
func TestClickHouseIsAskedWhenTheWatermarkMayMove(t *testing.T) {
	counts, events := place{wire.CountsTopic, 0}, place{wire.EventsTopic, 0}
	f := follower{last: commits{counts: 5, events: 5}}
	require.False(t, f.mayMove(commits{counts: 5, events: 5}), "nothing is new")
	require.True(t, f.mayMove(commits{counts: 5, events: 6}), "nothing was known")
	f.line = lowest([]progress{one(wire.CountsTopic, "a@1", 3_100, 9_000), one(wire.EventsTopic, "a@1", 3_900, 9_000)}, time.Minute)
	require.Equal(t, at(3_000), f.line.asOf)
	require.False(t, f.mayMove(commits{counts: 6, events: 5}), "events are in the same second")
	require.False(t, f.mayMove(commits{counts: 5, events: 6}))
	require.True(t, f.mayMove(commits{counts: 6, events: 6}))
	f.line = lowest([]progress{one(wire.CountsTopic, "a@1", 3_100, 9_000), one(wire.EventsTopic, "a@1", 4_100, 9_000)}, time.Minute)
	require.True(t, f.mayMove(commits{counts: 6, events: 5}), "events are ahead")
	require.False(t, f.mayMove(commits{counts: 5, events: 6}))
	f.line = lowest([]progress{one(wire.CountsTopic, "a@1", 3_100, 9_000)}, time.Minute)
	require.True(t, f.mayMove(commits{counts: 5, events: 6}), "a topic is missing")
}
