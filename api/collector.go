package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	listsDesc = prometheus.NewDesc("topk_api_lists", "Lists served, by window.", []string{"window"}, nil)
	ageDesc   = prometheus.NewDesc("topk_api_list_age_seconds",
		"Time since the oldest served list of a window was published.", []string{"window"}, nil)
	staleDesc = prometheus.NewDesc("topk_api_lists_stale", "Lists served as stale, by window.", []string{"window"}, nil)
)

// listCollector works out the ages of lists when they are asked for, so that an age grows while nothing happens.
type listCollector struct {
	memory *memory
	now    func() time.Time
}

// Describe implements prometheus.Collector.
func (c *listCollector) Describe(out chan<- *prometheus.Desc) {
	out <- listsDesc
	out <- ageDesc
	out <- staleDesc
}

// Collect implements prometheus.Collector.
func (c *listCollector) Collect(out chan<- prometheus.Metric) {
	lists := c.memory.load()
	if lists == nil {
		return
	}
	type sums struct{ lists, stale, age float64 }
	windows := make(map[string]*sums)
	now := c.now()
	for key, s := range lists.lists {
		w := windows[key.Window]
		if w == nil {
			w = &sums{}
			windows[key.Window] = w
		}
		w.lists++
		w.age = max(w.age, now.Sub(s.list.PublishedAt).Seconds())
		if s.stale(now) {
			w.stale++
		}
	}
	for window, w := range windows {
		out <- prometheus.MustNewConstMetric(listsDesc, prometheus.GaugeValue, w.lists, window)
		out <- prometheus.MustNewConstMetric(ageDesc, prometheus.GaugeValue, w.age, window)
		out <- prometheus.MustNewConstMetric(staleDesc, prometheus.GaugeValue, w.stale, window)
	}
}
