package rollups

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// metered is a connection that notes what each question costs. The processor time is that of the whole engine, so it is true
// of questions asked one at a time of an engine that does nothing else.
type metered struct {
	driver.Conn
	cpu   func() time.Duration
	off   bool // the questions of this build only pass
	mu    sync.Mutex
	costs map[string]*cost
}

type cost struct {
	asked     int
	wall, cpu time.Duration
}

func meter(b *testing.B, e *engines) *metered {
	return &metered{Conn: e.conn, costs: map[string]*cost{}, cpu: func() time.Duration {
		text, err := e.Try("SELECT sum(value) FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'")
		if err != nil {
			b.Fatal(err)
		}
		micros, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		return time.Duration(micros) * time.Microsecond
	}}
}

func (m *metered) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	if m.off {
		return m.Conn.Query(ctx, text, args...)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	cpu, began := m.cpu(), time.Now()
	rows, err := m.Conn.Query(ctx, text, args...)
	m.note(text, time.Since(began), cpu)
	return rows, err
}

func (m *metered) Exec(ctx context.Context, text string, args ...any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	cpu, began := m.cpu(), time.Now()
	err := m.Conn.Exec(ctx, text, args...)
	m.note(text, time.Since(began), cpu)
	return err
}

func (m *metered) note(text string, took, cpu time.Duration) {
	entries, _ := queries.ReadDir("sql")
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".sql")
		if query(name) != text {
			continue
		}
		c := m.costs[name]
		if c == nil {
			c = &cost{}
			m.costs[name] = c
		}
		c.asked++
		c.wall += took
		c.cpu += m.cpu() - cpu
	}
}

func (m *metered) report(b *testing.B, builds int) {
	for name, c := range m.costs {
		b.Logf("%-22s %.1f a build, %6.1f ms, CPU %6.1f ms each", name, float64(c.asked)/float64(builds),
			float64(c.wall.Microseconds())/1000/float64(c.asked), float64(c.cpu.Microseconds())/1000/float64(c.asked))
	}
}
