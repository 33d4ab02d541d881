package api

import "github.com/prometheus/client_golang/prometheus"

// Results of a list that was to be made on demand.
const (
	builtOK        = "ok"
	builtEmpty     = "empty"      // the slice has no views
	builtNotFilled = "not_filled" // a minute of the window is still to be filled
	builtFailed    = "failed"
	builtBusy      = "busy" // no slot came free, so nothing was asked
)

// Where an answer on demand came from.
const (
	fromCache  = "cache"
	fromBuild  = "build"  // its own, or one that it shared
	fromAbsent = "absent" // the slice is not known, so nothing had to be built for it
	fromStale  = "stale"  // the last one, because no newer could be made
	fromNone   = "none"
)

// Results of a row of asked_slices.
const (
	askedWritten  = "written"
	askedFailed   = "failed" // and is tried again
	askedOverMost = "over_limit"
)

// demandMetrics are those of lists that are made on demand.
type demandMetrics struct {
	builds  *prometheus.CounterVec
	seconds prometheus.Histogram
	answers *prometheus.CounterVec
	waiting prometheus.Gauge
	asked   *prometheus.CounterVec
}

func newDemandMetrics(registry prometheus.Registerer) *demandMetrics {
	m := &demandMetrics{
		builds: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "topk_api_on_demand_builds_total", Help: "Lists made because they were asked for, by result.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "topk_api_on_demand_build_seconds", Help: "Time of making a list on demand, without waiting for others.",
			Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
		}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "topk_api_on_demand_answers_total",
			Help: "Requests for lists that are not published, by where the answer came from: cache is a hit, all else a miss.",
		}, []string{"from"}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "topk_api_on_demand_waiting", Help: "Lists that wait until fewer are being made.",
		}),
		asked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "topk_api_on_demand_asked_total", Help: "Rows of asked_slices, by result.",
		}, []string{"result"}),
	}
	for _, result := range []string{builtOK, builtEmpty, builtNotFilled, builtFailed, builtBusy} {
		m.builds.WithLabelValues(result)
	}
	for _, from := range []string{fromCache, fromBuild, fromAbsent, fromStale, fromNone} {
		m.answers.WithLabelValues(from)
	}
	for _, result := range []string{askedWritten, askedFailed, askedOverMost} {
		m.asked.WithLabelValues(result)
	}
	registry.MustRegister(m.builds, m.seconds, m.answers, m.waiting, m.asked)
	return m
}

var (
	demandEntriesDesc = prometheus.NewDesc("topk_api_on_demand_cache_entries",
		"Lists kept that were made on demand, by whether the slice has views.", []string{"cache"}, nil)
	demandBytesDesc = prometheus.NewDesc("topk_api_on_demand_cache_bytes", "Size of those lists with their answers.", []string{"cache"}, nil)
)

// Describe implements prometheus.Collector.
func (c *demandCache) Describe(out chan<- *prometheus.Desc) {
	out <- demandEntriesDesc
	out <- demandBytesDesc
}

// Collect implements prometheus.Collector.
func (c *demandCache) Collect(out chan<- prometheus.Metric) {
	for name, lists := range map[string]*lru[demandKey, *demanded]{"views": c.viewed, "no_views": c.empty} {
		entries, bytes := lists.size()
		out <- prometheus.MustNewConstMetric(demandEntriesDesc, prometheus.GaugeValue, float64(entries), name)
		out <- prometheus.MustNewConstMetric(demandBytesDesc, prometheus.GaugeValue, float64(bytes), name)
	}
}
