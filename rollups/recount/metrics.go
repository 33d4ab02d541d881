package recount

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	hours      *prometheus.CounterVec
	days       prometheus.Counter
	totals     prometheus.Counter
	failures   prometheus.Counter
	drops      prometheus.Counter
	seconds    prometheus.Histogram
	due        prometheus.Gauge
	gone       prometheus.Gauge
	sealed     prometheus.Gauge
	exactUntil prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: "topk_recount_" + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: "topk_recount_" + name, Help: help})
	}
	return &metrics{
		hours: f.NewCounterVec(prometheus.CounterOpts{Name: "topk_recount_hours_total",
			Help: "Hours recounted: closed = for the first time, late = events came after that, by_hand."}, []string{"why"}),
		days:     counter("days_total", "Days added up."),
		totals:   counter("totals_total", "Times that days were folded into the total."),
		failures: counter("failures_total", "Rounds that failed; what counted before still counts."),
		drops:    counter("dropped_partitions_total", "Versions dropped that nobody reads any more."),
		seconds: f.NewHistogram(prometheus.HistogramOpts{Name: "topk_recount_seconds", Help: "Time of the recount of an hour.",
			Buckets: prometheus.ExponentialBuckets(0.02, 2, 14)}),
		gone: gauge("gone_hours",
			"Hours that late events arrived for after earlier ones were dropped: they keep their counts, without the late events."),
		sealed: gauge("sealed_hours",
			"Hours that were entered after their day was sealed, and so count nowhere: correct their day."),
		due:        gauge("due_hours", "Closed hours with events that no recount has seen."),
		exactUntil: gauge("exact_until_seconds", "Every hour before has been recounted, in seconds since 1970."),
	}
}

// reason keeps the label bounded: who recounts by hand may say why in words.
func reason(why string) string {
	if why == WhyClosed || why == WhyLate {
		return why
	}
	return "by_hand"
}
