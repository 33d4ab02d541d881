package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// intentFile holds the last transaction that a producer asked to end, inside the data directory.
const intentFile = "end_transaction"

// An intent is how the last transaction was to end. kfake ends a transaction by writing a marker to one partition after
// the other; killed half way, it would leave the flush committed on some partitions and aborted on the rest. With the
// intent written first, the next start finishes the job.
type intent struct {
	producer int64
	epoch    int16
	commit   bool
}

// intentBytes is the size of an intent in the file: a flag whether there is one, its fields, and their checksum.
const intentBytes = 1 + 8 + 2 + 1 + 4

// intents keeps the one intent that can be under way: kfake serves one request at a time.
type intents struct {
	file *os.File
	last *intent // as found at the start; nil when there was none
}

func openIntents(path string) (*intents, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open transaction intent: %w", err)
	}
	var raw [intentBytes]byte
	if _, err := file.ReadAt(raw[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(fmt.Errorf("read transaction intent: %w", err), file.Close())
	}
	return &intents{file: file, last: decodeIntent(raw)}, nil
}

// watch writes down every request to end a transaction before it is served.
func (i *intents) watch(cluster *kfake.Cluster, log *slog.Logger) {
	cluster.ControlKey(int16(kmsg.EndTxn), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		end := request.(*kmsg.EndTxnRequest)
		if err := i.write(&intent{producer: end.ProducerID, epoch: end.ProducerEpoch, commit: end.Commit}); err != nil {
			log.Error("transaction intent was not written", "error", err)
			return nil, err, true // the producer loses its connection and asks again
		}
		return nil, nil, false
	})
	// Producers older than KIP-890 keep their epoch from one transaction to the next. They announce the next one's
	// partitions, which shows that the last one is over.
	cluster.ControlKey(int16(kmsg.AddPartitionsToTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if err := i.clear(); err != nil {
			log.Error("transaction intent was not cleared", "error", err)
			return nil, err, true
		}
		return nil, nil, false
	})
}

func (i *intents) clear() error { return i.write(nil) }

// write replaces the intent. A few bytes inside one page: a kill leaves the old or the new, and a power cut that mixes
// them fails the checksum.
func (i *intents) write(in *intent) error {
	raw := encodeIntent(in)
	if _, err := i.file.WriteAt(raw[:], 0); err != nil {
		return fmt.Errorf("write transaction intent: %w", err)
	}
	return nil
}

func (i *intents) Close() error { return i.file.Close() }

func encodeIntent(in *intent) (raw [intentBytes]byte) {
	if in != nil {
		raw[0] = 1
		binary.BigEndian.PutUint64(raw[1:], uint64(in.producer))
		binary.BigEndian.PutUint16(raw[9:], uint16(in.epoch))
		if in.commit {
			raw[11] = 1
		}
	}
	binary.BigEndian.PutUint32(raw[12:], crc32.Checksum(raw[:12], castagnoli))
	return raw
}

func decodeIntent(raw [intentBytes]byte) *intent {
	if raw[0] != 1 || binary.BigEndian.Uint32(raw[12:]) != crc32.Checksum(raw[:12], castagnoli) {
		return nil
	}
	return &intent{
		producer: int64(binary.BigEndian.Uint64(raw[1:])),
		epoch:    int16(binary.BigEndian.Uint16(raw[9:])),
		commit:   raw[11] == 1,
	}
}
