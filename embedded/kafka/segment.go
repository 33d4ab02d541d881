package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Beside each segment stands an index with an entry of this size per batch: version, low byte of the checksum of the
// rest, leader epoch, greatest timestamp so far, and whether the batch is part of a transaction.
const (
	indexEntryBytes   = 15
	indexEntryVersion = 1
)

// open transaction of a producer in one partition.
type openTransaction struct {
	producer int64
	epoch    int16
}

// partition is what a walk over its segments shows.
type partition struct {
	dir         string
	last        string // path of the last segment, without extension; "" when there is none
	next        int64  // offset of the next record
	leaderEpoch int32
	open        map[int64]openTransaction // by producer
}

// readPartition walks a partition's segments, and mends the end of the last one: a batch that was cut short is dropped,
// and a batch without its index entry gets one. Without the entry kfake would take it for committed.
func readPartition(dir string) (*partition, error) {
	bases, err := segmentBases(dir)
	if err != nil {
		return nil, err
	}
	p := &partition{dir: dir, open: map[int64]openTransaction{}}
	for i, base := range bases {
		p.last = filepath.Join(dir, strconv.FormatInt(base, 10))
		if err := p.readSegment(i == len(bases)-1); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func segmentBases(dir string) ([]int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var bases []int64
	for _, entry := range entries {
		name, isSegment := strings.CutSuffix(entry.Name(), ".dat")
		if base, err := strconv.ParseInt(name, 10, 64); isSegment && err == nil {
			bases = append(bases, base)
		}
	}
	slices.Sort(bases)
	return bases, nil
}

func (p *partition) readSegment(isLast bool) error {
	segment, err := os.ReadFile(p.last + ".dat")
	if err != nil {
		return err
	}
	index, err := os.ReadFile(p.last + ".idx")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	whole := len(index) / indexEntryBytes * indexEntryBytes
	var missing []byte // entries that the index lacks
	at, batches := 0, 0
	for {
		b, ok := nextBatch(segment[at:])
		if !ok {
			break
		}
		p.see(b)
		at += len(b)
		batches++
		if batches*indexEntryBytes > whole {
			entry := indexEntry(b.leaderEpoch(), b.inTransaction())
			missing = append(missing, entry[:]...)
		}
	}
	if !isLast {
		return nil
	}
	if at < len(segment) {
		if err := os.Truncate(p.last+".dat", int64(at)); err != nil {
			return err
		}
	}
	if want := min(whole, batches*indexEntryBytes); len(index) > want {
		if err := os.Truncate(p.last+".idx", int64(want)); err != nil {
			return err
		}
	}
	return appendTo(p.last+".idx", missing)
}

// see follows the transactions through a batch.
func (p *partition) see(b batch) {
	p.next = b.end()
	p.leaderEpoch = b.leaderEpoch()
	switch {
	case b.isControl():
		delete(p.open, b.producer())
	case b.inTransaction():
		p.open[b.producer()] = openTransaction{producer: b.producer(), epoch: b.producerEpoch()}
	}
}

// end writes the marker that ends a transaction here.
func (p *partition) end(t openTransaction, commit bool, now time.Time) error {
	m := marker(p.next, p.leaderEpoch, t.producer, t.epoch, commit, now)
	if err := appendTo(p.last+".dat", m); err != nil {
		return err
	}
	entry := indexEntry(p.leaderEpoch, false)
	if err := appendTo(p.last+".idx", entry[:]); err != nil {
		return err
	}
	p.see(m)
	return nil
}

func indexEntry(leaderEpoch int32, inTransaction bool) (entry [indexEntryBytes]byte) {
	entry[0] = indexEntryVersion
	binary.LittleEndian.PutUint32(entry[2:], uint32(leaderEpoch))
	// The timestamp stays 0: kfake works it out from the batches.
	if inTransaction {
		entry[14] = 1
	}
	entry[1] = byte(crc32.Checksum(entry[2:], castagnoli))
	return entry
}

// appendTo adds to a file and makes sure it is on disk.
func appendTo(path string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err != nil {
		err = fmt.Errorf("append to %s: %w", path, err)
	}
	return errors.Join(err, file.Sync(), file.Close())
}
