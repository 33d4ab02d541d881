package viewers

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// measureEvery is how often the states are measured.
const measureEvery = time.Minute

type metrics struct {
	watched  prometheus.Gauge
	bytes    prometheus.Gauge
	rows     prometheus.Gauge
	unknown  prometheus.Counter
	failures prometheus.Counter
	steps    *prometheus.HistogramVec
	measured atomic.Int64 // when the states were last measured, Unix nanoseconds
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: "topk_viewers_" + name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: "topk_viewers_" + name, Help: help})
	}
	return &metrics{
		watched:  gauge("watched_items", "Items whose viewers are counted."),
		bytes:    gauge("states_bytes", "What the states of their viewers take on disk."),
		rows:     gauge("states_rows", "Rows of states, an item and minute or hour each once they are merged."),
		unknown:  counter("unknown_total", "Times that an item was listed because not all of its viewers were counted yet."),
		failures: counter("failures_total", "Failures to count viewers; items are listed or left out as before then."),
		steps: f.NewHistogramVec(prometheus.HistogramOpts{Name: "topk_viewers_step_seconds", Help: "Time of each step of counting viewers.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14)}, []string{"step"}),
	}
}

func (m *metrics) step(name string, took time.Duration) {
	m.steps.WithLabelValues(name).Observe(took.Seconds())
}

// measure tells how large the states are, now and then.
func (f *Filter) measure(ctx context.Context) {
	f.metrics.watched.Set(float64(f.watch.size()))
	if f.watch.reads {
		return // the worker does
	}
	last, now := f.metrics.measured.Load(), time.Now()
	if now.Sub(time.Unix(0, last)) < measureEvery || !f.metrics.measured.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	err := questions.Read(ctx, f.conn, "size", nil, f.config.Budget, func(rows driver.Rows) error {
		var bytes, states uint64
		if err := rows.Scan(&bytes, &states); err != nil {
			return err
		}
		f.metrics.bytes.Set(float64(bytes))
		f.metrics.rows.Set(float64(states))
		return nil
	})
	if err != nil {
		f.failed(ctx, "measure states", err)
	}
}
