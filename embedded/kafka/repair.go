package kafka

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// repair finishes what a crash cut short, before kfake reads the directory. After a clean stop it finds nothing to do.
//
// A transaction that was being ended is ended on the partitions that lack the marker; any other open one is aborted, and
// its producer is fenced so that it cannot go on with half of it. kfake alone aborts such a transaction in its own books
// but writes no marker, and clients that read committed records then drop what the same producer commits next: they
// skip everything of an aborted producer until they meet the marker.
func repair(dataDir string, in *intent, log *slog.Logger) error {
	if _, err := os.Stat(filepath.Join(dataDir, "session_state.json")); err == nil {
		return nil // written by a clean stop only, with the open transactions in it
	}
	partitions, err := readPartitions(dataDir)
	if err != nil {
		return err
	}
	producers, err := readProducers(filepath.Join(dataDir, "pids.log"))
	if err != nil {
		return err
	}
	if err := cutTail(filepath.Join(dataDir, "groups.log")); err != nil {
		return err
	}
	ended := map[openTransaction]bool{} // and whether by a commit
	now := time.Now()
	for _, p := range partitions {
		for _, t := range p.open {
			commit := in != nil && in.commit && in.producer == t.producer && in.epoch == t.epoch
			if err := p.end(t, commit, now); err != nil {
				return err
			}
			ended[t] = commit
		}
	}
	for t, commit := range ended {
		log.Warn("ended a transaction that a crash left open", "producer", t.producer, "epoch", t.epoch, "commit", commit)
	}
	return producers.settle(ended, in)
}

func readPartitions(dataDir string) ([]*partition, error) {
	root := filepath.Join(dataDir, "partitions")
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var partitions []*partition
	for _, entry := range entries {
		p, err := readPartition(filepath.Join(root, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("partition %s: %w", entry.Name(), err)
		}
		partitions = append(partitions, p)
	}
	return partitions, nil
}

// producerEntry is a line of kfake's log of producers.
type producerEntry struct {
	Type    string `json:"type"`
	ID      int64  `json:"pid"`
	Epoch   int16  `json:"epoch"`
	TxID    string `json:"txid,omitempty"`
	Timeout int32  `json:"timeout,omitempty"`
	Commit  *bool  `json:"commit,omitempty"`
}

// producerLog is the last entry of each producer.
type producerLog struct {
	path string
	last map[int64]producerEntry
}

func readProducers(path string) (*producerLog, error) {
	entries, err := readLog(path)
	if err != nil {
		return nil, err
	}
	if err := cutTail(path); err != nil {
		return nil, err
	}
	l := &producerLog{path: path, last: map[int64]producerEntry{}}
	for _, raw := range entries {
		var e producerEntry
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		known := l.last[e.ID]
		if e.Type == "init" {
			known.TxID, known.Timeout = e.TxID, e.Timeout
		}
		known.ID, known.Epoch = e.ID, e.Epoch
		l.last[e.ID] = known
	}
	return l, nil
}

// settle moves the producers of ended transactions to their next epoch. One that asked to commit will ask again and is
// told that it is done; one that was cut off in the middle is fenced.
func (l *producerLog) settle(ended map[openTransaction]bool, in *intent) error {
	if in != nil {
		known, ok := l.last[in.producer]
		// The epoch may have moved on already: the crash came after the markers and before the answer.
		if ok && (known.Epoch == in.epoch || known.Epoch == in.epoch+1) {
			known.Type, known.Epoch, known.Commit = "init", in.epoch+1, &in.commit
			if err := l.append(known); err != nil {
				return err
			}
		}
	}
	for t := range ended {
		if in != nil && in.producer == t.producer && in.epoch == t.epoch {
			continue // ended as its producer wished
		}
		known, ok := l.last[t.producer]
		if !ok {
			continue
		}
		known.Type, known.Epoch, known.Commit = "init", max(known.Epoch, t.epoch)+1, nil
		if err := l.append(known); err != nil {
			return err
		}
	}
	return nil
}

func (l *producerLog) append(e producerEntry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	l.last[e.ID] = e
	return appendTo(l.path, logEntry(data))
}

// kfake's logs are entries of: length of the rest after the checksum, checksum, version, JSON. Little-endian.
const (
	logHeaderBytes  = 10
	logEntryVersion = 1
)

func logEntry(data []byte) []byte {
	raw := make([]byte, logHeaderBytes, logHeaderBytes+len(data))
	binary.LittleEndian.PutUint32(raw, uint32(2+len(data)))
	binary.LittleEndian.PutUint16(raw[8:], logEntryVersion)
	raw = append(raw, data...)
	binary.LittleEndian.PutUint32(raw[4:], crc32.Checksum(raw[8:], castagnoli))
	return raw
}

// readLog returns the sound entries of a log.
func readLog(path string) ([][]byte, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	entries, _ := splitLog(raw)
	return entries, err
}

// cutTail drops an entry that was cut short: kfake would append after it, and read nothing of that at the next start.
func cutTail(path string) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, sound := splitLog(raw); sound < len(raw) {
		return os.Truncate(path, int64(sound))
	}
	return nil
}

// splitLog returns a log's sound entries and how many bytes they take.
func splitLog(raw []byte) (entries [][]byte, sound int) {
	for len(raw)-sound >= logHeaderBytes {
		rest := raw[sound:]
		end := 8 + int64(binary.LittleEndian.Uint32(rest))
		if end < logHeaderBytes || end > int64(len(rest)) {
			break
		}
		if binary.LittleEndian.Uint32(rest[4:]) != crc32.Checksum(rest[8:end], castagnoli) {
			break
		}
		entries = append(entries, rest[logHeaderBytes:end])
		sound += int(end)
	}
	return entries, sound
}
