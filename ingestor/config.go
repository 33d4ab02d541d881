package ingestor

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"time"
)

// Clock says whose time counts.
type Clock string

// Clocks.
const (
	ClockWall  Clock = "wall"  // the machine's: live traffic
	ClockEvent Clock = "event" // the data's own: recorded data, replayed deterministically
)

// Bounds of a request. They are part of the public contract: see the README.
const (
	MaxBodyBytes       = 8 << 20 // decompressed; 10,000 events of 800 bytes
	MaxCompressedBytes = 4 << 20 // as sent; events compress at least twofold
	MaxEvents          = 10_000  // in one request: one request goes into one transaction, whole
)

// Bounds of what is held in memory. With two batches (one filling, one on its way) and bodies in decoding, the process
// stays under 300 MB whatever arrives.
const (
	maxBatchBytes    = 24 << 20 // of a batch, encoded events and combined counts; about 150,000 events
	maxBatchRows     = 200_000  // combined rows of a batch, whatever the distinct items
	maxInFlightBytes = 48 << 20 // bodies being read and decoded
	maxWaiting       = 4096     // requests that wait for their answer; each is a goroutine and a connection
	maxWaitingEvents = 1 << 19  // of those requests: of each rejected one the verdict is kept, some 100 bytes
)

// Bounds of waiting.
const (
	roomTimeout     = 5 * time.Second  // for room in a batch, then 503: Kafka is slower than the traffic
	produceTimeout  = 5 * time.Second  // for a flush's records to be acknowledged
	commitTimeout   = 8 * time.Second  // for a transaction's end to be confirmed, retries included
	txnTimeout      = 10 * time.Second // an open transaction holds back every reader of its partitions
	shutdownTimeout = 15 * time.Second // for the last flush and the last answers: one produce and one commit
	metadataMaxAge  = 30 * time.Second // until an added partition is used
)

// Config is what an ingestor needs to know. The zero value is not valid: start from DefaultConfig.
type Config struct {
	Name    string   // stable over restarts: it is the transactional id, so a restart fences its past
	Listen  string   // host:port
	Brokers []string // Kafka seed brokers, host:port
	Clock   Clock

	FlushInterval time.Duration // one transaction each; half of it is the mean wait of a request
	MaxSkew       time.Duration // a time further ahead becomes the ingestor's own clock; ClockWall only
	MaxEventAge   time.Duration // an older event is rejected
	Disorder      time.Duration // how far events may arrive out of order before they count as late
	IdleTimeout   time.Duration // without events, the watermark follows the wall clock after this; ClockWall only
}

// DefaultConfig is the configuration of an ingestor on loopback.
func DefaultConfig() Config {
	return Config{
		Name: "ingest", Listen: "127.0.0.1:8080", Brokers: []string{"127.0.0.1:19092"}, Clock: ClockWall,
		FlushInterval: 500 * time.Millisecond, MaxSkew: 10 * time.Second, MaxEventAge: 48 * time.Hour,
		Disorder: 2 * time.Second, IdleTimeout: 2 * time.Second,
	}
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Validate reports every mistake at once, each with its path.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, path, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(path+": "+format, args...))
		}
	}
	check(namePattern.MatchString(c.Name), "name", "%q does not match %s", c.Name, namePattern)
	_, _, err := net.SplitHostPort(c.Listen)
	check(err == nil, "listen", "%q is not host:port", c.Listen)
	check(len(c.Brokers) > 0, "kafka", "no broker given")
	for i, broker := range c.Brokers {
		_, _, err := net.SplitHostPort(broker)
		check(err == nil, fmt.Sprintf("kafka[%d]", i), "%q is not host:port", broker)
	}
	check(c.Clock == ClockWall || c.Clock == ClockEvent, "clock", "%q is neither %q nor %q", c.Clock, ClockWall, ClockEvent)
	between := func(path string, d, low, high time.Duration) {
		check(d >= low && d <= high, path, "%v is not between %v and %v", d, low, high)
	}
	between("flush-interval", c.FlushInterval, 10*time.Millisecond, 10*time.Second)
	between("max-skew", c.MaxSkew, 0, time.Hour)
	between("max-event-age", c.MaxEventAge, time.Minute, 30*24*time.Hour)
	between("disorder", c.Disorder, 0, time.Hour)
	between("idle-timeout", c.IdleTimeout, 100*time.Millisecond, time.Hour)
	return errors.Join(errs...)
}
