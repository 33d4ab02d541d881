package charts

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	made     *prometheus.CounterVec
	failures prometheus.Counter
	seconds  prometheus.Histogram
	due      prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	return &metrics{
		made: f.NewCounterVec(prometheus.CounterOpts{Name: "topk_charts_counted_total",
			Help: "Days counted, by result: provisional, final, revised, or unchanged by a recount."}, []string{"result"}),
		failures: f.NewCounter(prometheus.CounterOpts{Name: "topk_charts_failures_total",
			Help: "Days that could not be counted or stored; what was stored before is served."}),
		seconds: f.NewHistogram(prometheus.HistogramOpts{Name: "topk_charts_seconds", Help: "Time of the count of a day.",
			Buckets: prometheus.ExponentialBuckets(0.02, 2, 16)}),
		due: f.NewGauge(prometheus.GaugeOpts{Name: "topk_charts_due_days", Help: "Days to count at the last look, in all zones."}),
	}
}
