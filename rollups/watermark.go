package rollups

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/wire"
)

// progress is how far one ingestor has been read from one partition, in whole blocks.
type progress struct {
	topic      string
	partition  uint32
	ingestor   string // name@start in epoch milliseconds
	watermark  time.Time
	lastSeen   time.Time
	closed     bool
	partitions uint32
	lastOffset int64 // of its newest message
}

// place is a partition of a topic.
type place struct {
	topic     string
	partition uint32
}

func (p place) String() string { return fmt.Sprintf("%s/%d", p.topic, p.partition) }

// waterline is what the partitions together say.
type waterline struct {
	asOf    time.Time            // every event before it has been counted; zero when unknown
	mark    time.Time            // the same before it was floored to a second
	missing []string             // partitions that nothing is known of
	topics  map[string]time.Time // the mark of each topic
}

// ready says whether lists may be published.
func (w waterline) ready() bool { return len(w.missing) == 0 && !w.asOf.IsZero() }

// topics must both have been read: counts make the lists, events their bound on duplicates.
var topics = []string{wire.CountsTopic, wire.EventsTopic}

// lowest is the least watermark over all partitions of both topics. timeout is how much older than a partition's newest
// record an ingestor's last one may be until it is taken for dead.
func lowest(rows []progress, timeout time.Duration) waterline {
	places := map[place][]progress{}
	partitions := map[string]uint32{}
	for _, row := range rows {
		at := place{row.topic, row.partition}
		places[at] = append(places[at], row)
		partitions[row.topic] = max(partitions[row.topic], row.partitions)
	}
	line := waterline{topics: map[string]time.Time{}}
	for _, topic := range topics {
		if partitions[topic] == 0 {
			line.missing = append(line.missing, topic)
		}
		for n := range partitions[topic] {
			at := place{topic, n}
			if len(places[at]) == 0 {
				line.missing = append(line.missing, at.String())
				continue
			}
			mark := partitionMark(places[at], timeout)
			if least, ok := line.topics[topic]; !ok || mark.Before(least) {
				line.topics[topic] = mark
			}
		}
		if mark := line.topics[topic]; line.mark.IsZero() || mark.Before(line.mark) {
			line.mark = mark
		}
	}
	if len(line.missing) > 0 || line.mark.Unix() <= 0 {
		line.mark = time.Time{}
		return line
	}
	line.asOf = line.mark.Truncate(time.Second)
	return line
}

// partitionMark is the least watermark of the ingestors that may still send to a partition. When all have stopped by
// themselves it is the greatest: nobody holds anything back.
func partitionMark(rows []progress, timeout time.Duration) time.Time {
	rows = newestStarts(rows)
	var newest, closed, least time.Time
	for _, row := range rows {
		if row.lastSeen.After(newest) {
			newest = row.lastSeen
		}
	}
	alive := 0
	for _, row := range rows {
		switch {
		case row.closed:
			if row.watermark.After(closed) {
				closed = row.watermark
			}
		case newest.Sub(row.lastSeen) > timeout: // dead
		default:
			if alive == 0 || row.watermark.Before(least) {
				least = row.watermark
			}
			alive++
		}
	}
	if alive == 0 {
		return closed
	}
	return least
}

// newestStarts leaves out ingestors of one partition that another start of the same name has superseded: the one with the
// newest message lives. A start fences those before it, so nothing of theirs comes after its first message. The time in the
// name does not say which is newer: a clock may have been set back in between.
func newestStarts(rows []progress) []progress {
	latest := map[string]progress{}
	for _, row := range rows {
		name, _, _ := strings.Cut(row.ingestor, "@")
		if have, ok := latest[name]; !ok || row.lastOffset > have.lastOffset {
			latest[name] = row
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row progress) bool {
		name, _, _ := strings.Cut(row.ingestor, "@")
		return latest[name].ingestor != row.ingestor
	})
}

const (
	// progressBudget bounds the question that is asked several times a second. An hour of progress is about 100,000 rows.
	progressBudget = 5 * time.Second
	// narrowRange of blocks says all while ingestors send: each is heard of several times a second. Parts that hold nothing of it
	// are not read.
	narrowRange = 2 * time.Minute
	wideRange   = time.Hour
)

// follower asks for the watermark.
type follower struct {
	conn      driver.Conn
	consumers *consumers
	timeout   time.Duration // after which an ingestor is taken for dead

	last  commits   // when ClickHouse was asked last
	asked time.Time // when that was
	line  waterline // its answer
}

// askAgain is how often ClickHouse is asked although nothing has been committed that matters: ingestors die, and rows expire.
const askAgain = time.Second

// ask looks at the newest blocks, and at an hour of them if a partition is missing there.
func (f *follower) ask(ctx context.Context) (waterline, error) {
	committed, err := f.consumers.committed(ctx)
	if err != nil {
		return waterline{}, err
	}
	if !f.mayMove(committed) && time.Since(f.asked) < askAgain {
		return f.line, nil
	}
	var line waterline
	for _, blocks := range []time.Duration{max(narrowRange, 2*f.timeout), wideRange} {
		rows, err := readProgress(ctx, f.conn, committed, blocks)
		if err != nil {
			return line, err
		}
		if line = lowest(rows, f.timeout); line.ready() {
			break
		}
	}
	f.last, f.asked, f.line = committed, time.Now(), line
	return line, nil
}

// mayMove says whether what has been committed since can move as_of: something of each topic that holds it back.
func (f *follower) mayMove(committed commits) bool {
	moved := map[string]bool{}
	for at, offset := range committed {
		if f.last[at] != offset {
			moved[at.topic] = true
		}
	}
	if !f.line.ready() {
		return len(moved) > 0
	}
	for _, topic := range topics {
		if f.line.topics[topic].Before(f.line.asOf.Add(time.Second)) && !moved[topic] {
			return false
		}
	}
	return true
}

func readProgress(ctx context.Context, conn driver.Conn, committed commits, blocks time.Duration) ([]progress, error) {
	var rows []progress
	p := committed.parameters(parameters{"range": int(blocks.Seconds())})
	err := read(ctx, conn, "progress", p, progressBudget, func(r driver.Rows) error {
		var row progress
		var closed uint8
		err := r.Scan(&row.topic, &row.partition, &row.ingestor, &row.watermark, &row.lastSeen, &closed, &row.partitions, &row.lastOffset)
		if err != nil {
			return err
		}
		row.closed = closed == 1
		rows = append(rows, row)
		return nil
	})
	return rows, err
}
