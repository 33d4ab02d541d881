package feed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"topk/internal/apiclient"
	"topk/internal/list"
)

const (
	probeItemType = "probe" // of its own, so that a single view reaches the list whatever else is viewed
	probeWindow   = "1m"
	pollEvery     = 20 * time.Millisecond // the error of a measured freshness
	// probeLife is how long a probe is waited for: it leaves the 1m window soon after.
	probeLife = 60 * time.Second
	// probeTail is how long the last probes are waited for after a load has ended.
	probeTail        = 15 * time.Second
	probeConnections = 4
	probeStream      = 0x70726f6265 // of random numbers: apart from those of the load
)

// probe measures freshness: it sends an event of a new item every so often and looks for it in the served 1m list. Pauses
// vary between half and one and a half of what is asked for: lists follow whole seconds, and probes in step with those
// would all meet the same part of a second.
type probe struct {
	cfg    *LoadConfig
	prefix string
	client *Client
	lists  *apiclient.Client

	mu       sync.Mutex
	waiting  map[string]*probeEvent
	sent     int
	lost     int
	rejected int
	lastErr  error

	fromEvent  histogram
	fromAnswer histogram
}

// probeEvent is an event that has not been seen yet.
type probeEvent struct {
	at       time.Time // its event time
	answered time.Time // when the ingestor had committed it, zero until then
	seen     time.Time
}

// ProbeReport says how long events took to be served. Times are in seconds.
type ProbeReport struct {
	Sent       int       `json:"sent"`
	Lost       int       `json:"lost"`     // not served within their life, or within the tail at the end
	Rejected   int       `json:"rejected"` // by the ingestor, or given up
	FromEvent  Durations `json:"from_event_seconds"`
	FromAnswer Durations `json:"from_answer_seconds"` // from the ingestor's 202
	LastError  string    `json:"last_error,omitempty"`
}

func newProbe(cfg *LoadConfig, run string) *probe {
	return &probe{
		cfg: cfg, prefix: "probe-" + run + "-", waiting: map[string]*probeEvent{},
		client: NewClient(cfg.Ingest, probeConnections, cfg.RetryFor), lists: apiclient.New(cfg.API),
	}
}

// run sends probes while ctx lasts, and looks for them a while longer, while looking lasts.
func (p *probe) run(ctx, looking context.Context) error {
	defer p.client.Close()
	defer p.lists.Close()
	looking, stop := context.WithCancel(looking)
	defer stop()
	var polling sync.WaitGroup
	polling.Go(func() { p.poll(ctx, looking) })
	var sending sync.WaitGroup
	random := rand.New(rand.NewPCG(p.cfg.Seed, probeStream))
	for n := 0; ctx.Err() == nil; n++ {
		sending.Go(func() { p.send(looking, n) })
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration((0.5 + random.Float64()) * float64(p.cfg.ProbeEvery))):
		}
	}
	sending.Wait()
	polling.Wait()
	return nil
}

func (p *probe) send(ctx context.Context, n int) {
	id := p.prefix + strconv.Itoa(n)
	event := &probeEvent{at: time.Now().Truncate(time.Millisecond)}
	body := fmt.Appendf(nil, `{"events":[{"event_id":%q,"item_type":%q,"item_id":%q,"event_time":%d}]}`,
		id, probeItemType, id, event.at.UnixMilli())
	p.mu.Lock()
	p.waiting[id] = event
	p.sent++
	p.mu.Unlock()
	verdict, err := p.client.SendEvents(ctx, body)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || verdict.Accepted != 1 {
		p.rejected++
		delete(p.waiting, id)
		return
	}
	event.answered = time.Now()
	if !event.seen.IsZero() {
		p.fromAnswer.add(max(0, event.seen.Sub(event.answered)))
	}
}

// poll reads the list again and again. It ends when ctx has ended and nothing is waited for, or probeTail after.
func (p *probe) poll(ctx, looking context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	query := apiclient.Query{ItemType: probeItemType, Window: probeWindow, K: list.MaxK}
	var last *apiclient.Answer
	var tail time.Time
	for {
		select {
		case <-looking.Done():
			return
		case <-ticker.C:
		}
		if ctx.Err() != nil && tail.IsZero() {
			tail = time.Now().Add(probeTail)
		}
		answer, err := p.lists.Get(looking, query, last)
		now := time.Now()
		var served *list.List
		if err == nil && answer != last {
			served, err = answer.List()
			last = answer
		}
		p.mu.Lock()
		p.lastErr = err
		if served != nil {
			for _, item := range served.Items {
				p.see(item.ItemID, now)
			}
		}
		p.forget(now)
		ended := !tail.IsZero() && (len(p.waiting) == 0 || now.After(tail))
		p.mu.Unlock()
		if ended {
			return
		}
	}
}

func (p *probe) see(id string, now time.Time) {
	event := p.waiting[id]
	if event == nil {
		return
	}
	event.seen = now
	p.fromEvent.add(now.Sub(event.at))
	if !event.answered.IsZero() {
		p.fromAnswer.add(now.Sub(event.answered))
	}
	delete(p.waiting, id)
}

func (p *probe) forget(now time.Time) {
	for id, event := range p.waiting {
		if now.Sub(event.at) > probeLife {
			p.lost++
			delete(p.waiting, id)
		}
	}
}

func (p *probe) report() *ProbeReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &ProbeReport{
		Sent: p.sent, Lost: p.lost + len(p.waiting), Rejected: p.rejected,
		FromEvent: p.fromEvent.durations(), FromAnswer: p.fromAnswer.durations(),
	}
	if p.lastErr != nil {
		r.LastError = p.lastErr.Error()
	}
	return r
}

func (r *ProbeReport) write(b *strings.Builder) {
	fmt.Fprintf(b, "freshness of %d probes (%d lost, %d rejected)\n", r.Sent, r.Lost, r.Rejected)
	for _, row := range []struct {
		name string
		d    Durations
	}{{"event to list", r.FromEvent}, {"answer to list", r.FromAnswer}} {
		if row.d.Count == 0 {
			continue
		}
		fmt.Fprintf(b, "  %-14s p50 %.2f s, p90 %.2f s, p99 %.2f s, max %.2f s\n", row.name, row.d.P50, row.d.P90, row.d.P99, row.d.Max)
	}
	if r.LastError != "" {
		fmt.Fprintf(b, "  last look: %s\n", r.LastError)
	}
}
