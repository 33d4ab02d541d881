package api

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"topk/internal/list"
)

const (
	// maxChartBytes bounds the charts in memory with their answers: some hundred of ids of ten bytes, asked for with a few k each.
	maxChartBytes = 64 << 20
	// maxPagesPerChart bounds the answers kept ready for one chart; further ones are made for each request.
	maxPagesPerChart = 8
	// chartConnections load charts at one time, for all requests together.
	chartConnections = 2
	// chartTimeout bounds how long a request waits for a chart to be loaded.
	chartTimeout = 3 * time.Second
)

//go:embed sql/chart.sql
var chartSQL string

// chartMemory holds which charts there are, and those that were asked for lately. All charts of all days would not fit. What is
// asked for is loaded at most once for a count of its day, and what does not exist is told from memory.
type chartMemory struct {
	index   atomic.Pointer[chartIndex]
	pool    *pgxpool.Pool
	loading singleflight.Group
	metrics *metrics

	mu    sync.Mutex
	held  map[chartKey]*heldChart
	bytes int
}

// heldChart is one revision of a chart. It does not change, but for its pages.
type heldChart struct {
	chart *list.Chart
	round int64  // the count of the day after which it was loaded
	made  string // when, for the tag
	bytes int    // with its pages
	pages map[int]*page
}

func newChartMemory(m *metrics) *chartMemory {
	return &chartMemory{metrics: m, held: map[chartKey]*heldChart{}}
}

// connect makes the pool that charts are loaded over. It does no I/O; the pool must be closed.
func (m *chartMemory) connect(ctx context.Context, dsn string) error {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return err
	}
	config.MaxConns = chartConnections
	config.ConnConfig.ConnectTimeout = connectTimeout
	m.pool, err = pgxpool.NewWithConfig(ctx, config)
	return err
}

func (m *chartMemory) get(key chartKey) *heldChart {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held[key]
}

// fetch loads the newest revision of a chart, once for all who ask for it at a time.
func (m *chartMemory) fetch(ctx context.Context, key chartKey, round int64) (*heldChart, error) {
	name := key.zone + " " + key.day + " " + key.itemType + " " + strconv.FormatInt(round, 10)
	loaded, err, _ := m.loading.Do(name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), chartTimeout) // others wait for it too
		defer cancel()
		var body []byte
		var madeAt time.Time
		chart := &list.Chart{}
		err := m.pool.QueryRow(ctx, chartSQL, key.zone, key.day, key.itemType).Scan(&body, &madeAt)
		if err == nil {
			err = decodeChart(body, chart)
		}
		if err != nil {
			m.metrics.chartLoads.WithLabelValues(loadFailed).Inc()
			return nil, fmt.Errorf("load a chart: %w", err)
		}
		m.metrics.chartLoads.WithLabelValues(loadOK).Inc()
		h := &heldChart{chart: chart, round: round, made: strconv.FormatInt(madeAt.UnixMicro(), 36), bytes: len(body), pages: map[int]*page{}}
		m.put(key, h)
		return h, nil
	})
	if err != nil {
		return nil, err
	}
	h, ok := loaded.(*heldChart)
	if !ok {
		return nil, errors.New("load a chart: it is none")
	}
	return h, nil
}

// put holds a chart in the place of an older one, and lets go of others when all are too large. Which ones is left to chance.
func (m *chartMemory) put(key chartKey, h *heldChart) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.held[key]; old != nil {
		m.bytes -= old.bytes
	}
	m.held[key] = h
	m.grow(key, h.bytes)
}

// grow accounts for more bytes of a chart, which stays.
func (m *chartMemory) grow(key chartKey, bytes int) {
	m.bytes += bytes
	for other, h := range m.held {
		if m.bytes <= maxChartBytes {
			break
		}
		if other != key {
			m.bytes -= h.bytes
			delete(m.held, other)
		}
	}
	m.metrics.chartBytes.Set(float64(m.bytes))
}

// ready returns an answer that was kept, or nil.
func (m *chartMemory) ready(h *heldChart, k int) *page {
	m.mu.Lock()
	defer m.mu.Unlock()
	return h.pages[k]
}

// keep keeps an answer ready while its chart is held.
func (m *chartMemory) keep(key chartKey, h *heldChart, k int, p *page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[key] != h || h.pages[k] != nil || len(h.pages) >= maxPagesPerChart {
		return
	}
	bytes := p.size()
	h.pages[k] = p
	h.bytes += bytes
	m.grow(key, bytes)
}
