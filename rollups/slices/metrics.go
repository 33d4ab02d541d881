package slices

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"topk/internal/list"
)

// certifiedTo is how many items of a list are looked at in metrics.
const certifiedTo = 100

// metrics do not name slices, of which there may be thousands.
type metrics struct {
	filled      prometheus.Counter
	filledParts prometheus.Counter
	published   prometheus.Counter
	forgotten   prometheus.Counter
	failures    prometheus.Counter
	overBudget  prometheus.Counter
	asked       prometheus.Gauge
	lists       *prometheus.GaugeVec
	certified   *prometheus.GaugeVec
	hidden      *prometheus.GaugeVec
	asOf        *prometheus.GaugeVec
	steps       *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: "topk_slices_" + name, Help: help})
	}
	gauges := func(name, help string) *prometheus.GaugeVec {
		return f.NewGaugeVec(prometheus.GaugeOpts{Name: "topk_slices_" + name, Help: help}, []string{"window"})
	}
	return &metrics{
		filled:      counter("filled_minutes_total", "Minutes whose slices were filled, again for late events included."),
		filledParts: counter("filled_partitions_total", "Closed hours, days and totals whose slices were filled."),
		published:   counter("published_total", "Versions of lists of slices published."),
		forgotten:   counter("forgotten_lists_total", "Lists of slices no longer served, because they are made no more."),
		failures:    counter("failures_total", "Rounds that failed; the last good lists stay."),
		overBudget:  counter("asked_over_budget_total", "Lists that were asked for and not made, because others had taken the time that a round has for them."),
		asked:       f.NewGauge(prometheus.GaugeOpts{Name: "topk_slices_asked", Help: "Lists that are made because somebody asks for them."}),
		lists:       gauges("lists", "Lists of slices made in the last round."),
		certified:   gauges("certified_lists", "Those of them whose first 100 positions are proven: no other item belongs in them."),
		hidden:      gauges("hidden_items", "Items left out of them for having too few viewers, in each list by itself."),
		asOf:        gauges("as_of_seconds", "Event time up to which the newest lists of slices count, in seconds since 1970."),
		steps: f.NewHistogramVec(prometheus.HistogramOpts{Name: "topk_slices_step_seconds", Help: "Time of each step of a round.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 14)}, []string{"step"}),
	}
}

// step begins a step. What it returns is called at its end.
func (m *metrics) step(name string) func() {
	began := time.Now()
	return func() { m.steps.WithLabelValues(name).Observe(time.Since(began).Seconds()) }
}

// made tells of the lists of a round.
func (m *metrics) made(lists []*list.List) {
	certified, hidden, all := map[string]int{}, map[string]int{}, map[string]int{}
	for _, l := range lists {
		all[l.Window]++
		if l.CertifiedTo(certifiedTo) {
			certified[l.Window]++
		}
		hidden[l.Window] += l.Hidden
		m.asOf.WithLabelValues(l.Window).Set(float64(l.AsOf.Unix()))
	}
	for window, n := range all {
		m.lists.WithLabelValues(window).Set(float64(n))
		m.certified.WithLabelValues(window).Set(float64(certified[window]))
		m.hidden.WithLabelValues(window).Set(float64(hidden[window]))
	}
}
