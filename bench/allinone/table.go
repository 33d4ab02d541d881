package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"topk/bench/stack"
	"topk/internal/feed"
)

// write prints a measurement as Markdown.
func (m measurement) write(w io.Writer) {
	load := m.load
	fmt.Fprintf(w, "\n### %.0f events/s wanted, %.0f accepted/s over %.0f s\n\n", load.Wanted, load.Rate, load.Ended.Sub(load.Started).Seconds())
	fmt.Fprintf(w, "sent %d, accepted %d, skipped %d, unknown %d, retries %d\n\n", load.Sent, load.Accepted, load.Skipped, load.Unknown, load.Retries)
	fmt.Fprintln(w, "| seconds | samples | p50 | p90 | p99 | max |\n|---|---|---|---|---|---|")
	if p := load.Probe; p != nil {
		writeDurations(w, fmt.Sprintf("event to served 1m list (%d lost, %d rejected)", p.Lost, p.Rejected), p.FromEvent)
		writeDurations(w, "answer to served 1m list", p.FromAnswer)
	}
	writeDurations(w, "POST of a batch", load.Post)
	writeLag(w, "ClickHouse behind the wall clock", m.lags.ClickHouse)
	writeLag(w, "as_of of the served 1m list behind the wall clock", m.lags.List)
	fmt.Fprintln(w, "\n| service | RSS peak, MB | RSS last, MB | CPU, s | CPU, cores |\n|---|---|---|---|---|")
	seconds := load.Ended.Sub(load.Started).Seconds()
	total := 0.0
	for _, name := range slices.Sorted(maps.Keys(m.usage)) {
		u := m.usage[name]
		total += u.CPUSeconds
		fmt.Fprintf(w, "| %s | %d | %d | %.1f | %.2f |\n", name, u.PeakRSS>>20, u.LastRSS>>20, u.CPUSeconds, u.CPUSeconds/max(seconds, 1))
	}
	fmt.Fprintf(w, "| all | | | %.1f | %.2f |\n", total, total/max(seconds, 1))
}

func writeDurations(w io.Writer, name string, d feed.Durations) {
	fmt.Fprintf(w, "| %s | %d | %.2f | %.2f | %.2f | %.2f |\n", name, d.Count, d.P50, d.P90, d.P99, d.Max)
}

func writeLag(w io.Writer, name string, l stack.Lag) {
	seconds := func(d time.Duration) float64 { return d.Seconds() }
	fmt.Fprintf(w, "| %s | %d | %.2f | | %.2f | %.2f |\n", name, l.Samples, seconds(l.P50), seconds(l.P99), seconds(l.Max))
}
