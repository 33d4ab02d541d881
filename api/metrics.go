package api

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Results of loading a list.
const (
	loadOK     = "ok"
	loadFailed = "unreadable"
	loadPutOff = "put_off" // of a new item type, while there are as many as may be
)

// metrics are the API's own. Labels are bounded: routes, statuses and windows.
type metrics struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	reloads   prometheus.Counter
	loads     *prometheus.CounterVec
	connected prometheus.Gauge

	chartLoads *prometheus.CounterVec
	chartBytes prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer, m *memory, now func() time.Time) *metrics {
	made := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "topk_api_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "topk_api_request_duration_seconds",
			Help:    "Time from the request's header to the last byte handed to the kernel, by route.",
			Buckets: []float64{10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 1e-3, 5e-3, 25e-3, 100e-3, 1, 10},
		}, []string{"route"}),
		reloads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "topk_api_reloads_total", Help: "Comparisons of all lists with PostgreSQL.",
		}),
		loads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "topk_api_list_loads_total", Help: "Versions of lists taken from PostgreSQL, by result.",
		}, []string{"result"}),
		connected: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "topk_api_postgres_connected", Help: "1 while published lists are followed, else 0.",
		}),
	}
	made.chartLoads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "topk_api_chart_loads_total", Help: "Day charts taken from PostgreSQL because they were asked for, by result.",
	}, []string{"result"})
	made.chartBytes = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "topk_api_chart_bytes", Help: "Size of the day charts in memory with their answers.",
	})
	registry.MustRegister(made.chartLoads, made.chartBytes, made.requests, made.durations, made.reloads, made.loads, made.connected,
		&listCollector{memory: m, now: now})
	return made
}

// routeMetrics counts one route without looking anything up: a request costs two additions.
type routeMetrics struct {
	name     string
	all      *prometheus.CounterVec
	duration prometheus.Observer
	byStatus [maxStatus]atomic.Pointer[prometheus.Counter]
}

const maxStatus = 600 // HTTP statuses are below it

func (m *metrics) route(name string) *routeMetrics {
	return &routeMetrics{name: name, all: m.requests, duration: m.durations.WithLabelValues(name)}
}

func (r *routeMetrics) observe(status int, took time.Duration) {
	r.duration.Observe(took.Seconds())
	if status < 0 || status >= maxStatus {
		status = 0
	}
	counter := r.byStatus[status].Load()
	if counter == nil {
		made := r.all.WithLabelValues(r.name, strconv.Itoa(status))
		counter = &made
		r.byStatus[status].Store(counter)
	}
	(*counter).Inc()
}
