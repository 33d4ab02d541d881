package grades

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"topk/internal/grade"
)

// Metrics tell the newest grade of each list. They are bounded: windows are few, and item types are those graded within a day.
type Metrics struct {
	recall       *prometheus.GaugeVec
	shared       *prometheus.GaugeVec
	overcount    *prometheus.GaugeVec
	maxOvercount *prometheus.GaugeVec
	exceeded     *prometheus.GaugeVec
	displacement *prometheus.GaugeVec
	until        *prometheus.GaugeVec
	graded       *prometheus.CounterVec
	ungradable   *prometheus.CounterVec

	newest map[shown]time.Time // end of the list that is told
}

// shown is a list that is told.
type shown struct{ itemType, window string }

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	f := promauto.With(r)
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return f.NewGaugeVec(prometheus.GaugeOpts{Name: "topk_grade_" + name, Help: help}, append([]string{"item_type", "window"}, labels...))
	}
	counters := func(name, help string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: "topk_grade_" + name, Help: help}, []string{"window"})
	}
	return &Metrics{
		recall:       gauges("recall_ratio", "Share of the exact top k that the first k positions of the newest graded list held.", "k"),
		shared:       gauges("shared_ratio", "Share of the first 100 positions of the newest graded list that is in the exact top 100."),
		overcount:    gauges("overcount_views", "By how much a count of the newest graded list exceeded the exact one, the most of any."),
		maxOvercount: gauges("max_overcount_views", "By how much a count of the newest graded list might exceed the exact one."),
		exceeded:     gauges("bound_exceeded", "1 when a count of the newest graded list exceeded the exact one by more than it might, else 0."),
		displacement: gauges("displacement_positions", "How far one of the first 100 positions of the newest graded list was from where it belongs, the most of any."),
		until:        gauges("until_seconds", "Event time up to which the newest graded list counts, in seconds since 1970."),
		graded:       counters("graded_total", "Lists compared with exact counts."),
		ungradable:   counters("ungradable_total", "Lists that could not be compared, most often because there was none of that very time."),
		newest:       map[shown]time.Time{},
	}
}

// count counts grades that were entered.
func (m *Metrics) count(graded []grade.Grade) {
	for i := range graded {
		if graded[i].Measures == nil {
			m.ungradable.WithLabelValues(graded[i].Window).Inc()
		} else {
			m.graded.WithLabelValues(graded[i].Window).Inc()
		}
	}
}

// show tells what was measured, where it is no older than what is told, and drops item types that are behind.
func (m *Metrics) show(graded []grade.Grade) {
	for i := range graded {
		g := &graded[i]
		key := shown{g.ItemType, g.Window}
		if g.Measures == nil || g.Until.Before(m.newest[key]) {
			continue
		}
		m.newest[key] = g.Until
		m.recall.WithLabelValues(g.ItemType, g.Window, "100").Set(g.Recall100)
		m.recall.WithLabelValues(g.ItemType, g.Window, "1000").Set(g.Recall1000)
		m.shared.WithLabelValues(g.ItemType, g.Window).Set(g.Shared100)
		m.overcount.WithLabelValues(g.ItemType, g.Window).Set(float64(g.Overcount))
		m.maxOvercount.WithLabelValues(g.ItemType, g.Window).Set(float64(g.MaxOvercount))
		m.exceeded.WithLabelValues(g.ItemType, g.Window).Set(0)
		if g.BoundExceeded() {
			m.exceeded.WithLabelValues(g.ItemType, g.Window).Set(1)
		}
		m.displacement.WithLabelValues(g.ItemType, g.Window).Set(float64(g.Displacement))
		m.until.WithLabelValues(g.ItemType, g.Window).Set(float64(g.Until.Unix()))
	}
	m.forget()
}

// forget drops item types whose newest grade is more than a day behind that of another.
func (m *Metrics) forget() {
	last := map[string]time.Time{}
	for key, until := range m.newest {
		if until.After(last[key.window]) {
			last[key.window] = until
		}
	}
	for key, until := range m.newest {
		if last[key.window].Sub(until) > shownSeconds*time.Second {
			delete(m.newest, key)
			for _, gauge := range m.ofLists() {
				gauge.DeletePartialMatch(prometheus.Labels{"item_type": key.itemType, "window": key.window})
			}
		}
	}
}

// forgetAll drops what is told of all lists.
func (m *Metrics) forgetAll() {
	clear(m.newest)
	for _, gauge := range m.ofLists() {
		gauge.Reset()
	}
}

// ofLists are the gauges that name an item type.
func (m *Metrics) ofLists() []*prometheus.GaugeVec {
	return []*prometheus.GaugeVec{m.recall, m.shared, m.overcount, m.maxOvercount, m.exceeded, m.displacement, m.until}
}
