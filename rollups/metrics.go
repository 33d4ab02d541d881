package rollups

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"topk/internal/list"
)

// metrics are bounded: windows and steps are few, and item types are those that lists are made of, list.MaxMadeTypes at most.
type metrics struct {
	asOf        prometheus.Gauge
	watermark   prometheus.Gauge
	age         prometheus.Gauge
	missing     prometheus.Gauge
	leading     prometheus.Gauge
	steps       *prometheus.HistogramVec
	published   *prometheus.CounterVec
	failures    *prometheus.CounterVec
	estimated   *prometheus.CounterVec
	certified   *prometheus.GaugeVec
	overcount   *prometheus.GaugeVec
	floor       *prometheus.GaugeVec
	hidden      *prometheus.GaugeVec
	items       *prometheus.GaugeVec
	listAsOf    *prometheus.GaugeVec
	compactions prometheus.Counter
	rolled      prometheus.Counter
	drops       prometheus.Counter
	pruned      prometheus.Counter
	forgotten   prometheus.Counter
	ungraded    prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: "topk_rollup_" + name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: "topk_rollup_" + name, Help: help})
	}
	gauges := func(name, help string) *prometheus.GaugeVec {
		return f.NewGaugeVec(prometheus.GaugeOpts{Name: "topk_rollup_" + name, Help: help}, []string{"item_type", "window"})
	}
	counters := func(name, help string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: "topk_rollup_" + name, Help: help}, []string{"window"})
	}
	return &metrics{
		asOf:      gauge("as_of_seconds", "Event time up to which everything has been counted, in seconds since 1970."),
		watermark: gauge("watermark_seconds", "Least watermark over ingestors and partitions, in seconds since 1970; 0 when unknown."),
		age:       gauge("watermark_age_seconds", "How far the watermark is behind the wall clock."),
		missing:   gauge("missing_partitions", "Partitions that nothing is known of; while there are any, nothing is published."),
		leading:   gauge("leading", "1 while this worker holds the lock, 0 on standby."),
		steps: f.NewHistogramVec(prometheus.HistogramOpts{Name: "topk_rollup_step_seconds", Help: "Time of each step of a build.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2, 12)}, []string{"window", "step"}),
		published:   counters("published_total", "Versions published."),
		failures:    counters("failures_total", "Builds and publishes that failed; the last good list stays."),
		estimated:   counters("estimated_total", "Lists whose counts came from sketches."),
		certified:   gauges("certified", "1 when it is proven of the newest list that no other item belongs in it."),
		overcount:   gauges("max_overcount", "How far a count of the newest list may exceed the truth."),
		hidden:      gauges("hidden_items", "Items left out of the newest list for having too few viewers."),
		floor:       gauges("floor", "No item outside the newest list has more views."),
		items:       gauges("items", "Items stored of the newest list."),
		listAsOf:    gauges("list_as_of_seconds", "Event time up to which the newest list counts, in seconds since 1970."),
		compactions: counter("compactions_total", "Minutes and tens of seconds whose summaries were combined."),
		rolled:      counter("rolled_up_total", "Minutes, hours and days whose sketches were filled."),
		drops:       counter("dropped_partitions_total", "Old partitions dropped."),
		pruned:      counter("pruned_versions_total", "Old versions removed."),
		ungraded:    counter("grading_failures_total", "Rounds of grading that failed; lists that are to be graded are kept."),
		forgotten:   counter("forgotten_lists_total", "Lists no longer served, because none had been made of their item type for long."),
	}
}

// observe tells of the newest watermark.
func (m *metrics) observe(line waterline, now time.Time) {
	m.missing.Set(float64(len(line.missing)))
	if !line.ready() {
		m.watermark.Set(0)
		return
	}
	m.watermark.Set(float64(line.mark.UnixMilli()) / 1000)
	m.age.Set(now.Sub(line.mark).Seconds())
	m.asOf.Set(float64(line.asOf.Unix()))
}

// list tells of a list that was published.
func (m *metrics) list(l *list.List) {
	certified := 0.0
	if l.Certified {
		certified = 1
	}
	if l.Method == list.MethodEstimated {
		m.estimated.WithLabelValues(l.Window).Inc()
	}
	m.certified.WithLabelValues(l.ItemType, l.Window).Set(certified)
	m.overcount.WithLabelValues(l.ItemType, l.Window).Set(float64(l.MaxOvercount))
	m.floor.WithLabelValues(l.ItemType, l.Window).Set(float64(l.Floor))
	m.hidden.WithLabelValues(l.ItemType, l.Window).Set(float64(l.Hidden))
	m.items.WithLabelValues(l.ItemType, l.Window).Set(float64(len(l.Items)))
	m.listAsOf.WithLabelValues(l.ItemType, l.Window).Set(float64(l.AsOf.Unix()))
}

// ofLists are the gauges that name an item type.
func (m *metrics) ofLists() []*prometheus.GaugeVec {
	return []*prometheus.GaugeVec{m.certified, m.overcount, m.floor, m.hidden, m.items, m.listAsOf}
}

// forget drops what is told of an item type's lists of a window.
func (m *metrics) forget(itemType, window string) {
	for _, gauge := range m.ofLists() {
		gauge.DeleteLabelValues(itemType, window)
	}
}

// forgetAll drops what is told of all lists: a worker that does not lead makes none.
func (m *metrics) forgetAll() {
	for _, gauge := range m.ofLists() {
		gauge.Reset()
	}
}

func (m *metrics) step(window, step string, took time.Duration) {
	m.steps.WithLabelValues(window, step).Observe(took.Seconds())
}
