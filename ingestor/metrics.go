package ingestor

import (
	"github.com/prometheus/client_golang/prometheus"

	"topk/internal/event"
)

// metrics of one ingestor. Labels are bounded: kinds, causes and statuses, never an item.
type metrics struct {
	accepted, restamped, late   prometheus.Counter
	conflicts                   prometheus.Counter     // ids seen again with another item or hour
	rejected                    *prometheus.CounterVec // kind of problem
	refused                     *prometheus.CounterVec // status of requests answered with an error as a whole
	flushes, failures           prometheus.Counter
	early                       *prometheus.CounterVec // bound that was met
	flushSeconds                prometheus.Histogram
	sentBytes                   *prometheus.CounterVec // topic
	bufferedRows, bufferedBytes prometheus.Gauge
	watermark                   prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer, waiting func() float64) *metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "topk_ingest_" + name, Help: help})
		reg.MustRegister(c)
		return c
	}
	vec := func(name, help, label string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "topk_ingest_" + name, Help: help}, []string{label})
		reg.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "topk_ingest_" + name, Help: help})
		reg.MustRegister(g)
		return g
	}
	m := &metrics{
		accepted:  counter("accepted_events_total", "Events committed in Kafka."),
		restamped: counter("restamped_events_total", "Events whose time was too far ahead and became the ingestor's own."),
		late:      counter("late_events_total", "Events older than the watermark sent before them."),
		conflicts: counter("conflicts_total",
			"Events whose id came lately with another item or hour of its time: by contract another event, so both are counted."),
		rejected:      vec("rejected_events_total", "Events refused one by one, by the kind of problem.", "kind"),
		refused:       vec("refused_requests_total", "Requests refused as a whole, by HTTP status.", "status"),
		flushes:       counter("flushes_total", "Transactions committed."),
		failures:      counter("flush_failures_total", "Transactions not committed; their requests were answered with 503."),
		early:         vec("early_flushes_total", "Flushes before their time, by the bound that was met.", "cause"),
		sentBytes:     vec("sent_bytes_total", "Bytes of messages committed, before compression.", "topic"),
		bufferedRows:  gauge("buffered_rows", "Combined rows in the batch being filled."),
		bufferedBytes: gauge("buffered_bytes", "Memory of the batch being filled."),
		watermark:     gauge("watermark_seconds", "Last committed watermark, seconds since the epoch."),
		flushSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "topk_ingest_flush_seconds", Help: "From closing a batch to its commit.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
	}
	reg.MustRegister(m.flushSeconds, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "topk_ingest_waiting_requests", Help: "Requests between their first byte and their answer.",
	}, waiting))
	for _, kind := range event.Kinds() {
		m.rejected.WithLabelValues(kind)
	}
	for _, cause := range []string{"rows", "bytes"} {
		m.early.WithLabelValues(cause)
	}
	return m
}
