package stack

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	sampleEvery    = time.Second
	ticksPerSecond = 100 // of the times in /proc, fixed by the kernel's interface
)

// Usage is what a service took while it was watched.
type Usage struct {
	PeakRSS    uint64  // bytes, the greatest sum over its processes in one sample
	LastRSS    uint64  // bytes, in the last sample
	CPUSeconds float64 // user and system, of all its processes
}

// Watcher samples the processes of a stack. A service is a process with all its descendants.
type Watcher struct {
	services map[string]int // pid by name

	mu    sync.Mutex
	usage map[string]*Usage
	first map[int]uint64 // ticks of a process when it was first seen, if that was at the start
	last  map[int]uint64
	owner map[int]string
}

// Watch begins to watch a stack. What was used before does not count.
func (s *Stack) Watch() (*Watcher, error) {
	services := map[string]int{"dev": s.PID}
	for name, pid := range s.PIDs {
		services[name] = pid
	}
	w := &Watcher{services: services, usage: map[string]*Usage{}, first: map[int]uint64{}, last: map[int]uint64{}, owner: map[int]string{}}
	for name := range services {
		w.usage[name] = &Usage{}
	}
	if err := w.sample(true); err != nil {
		return nil, err
	}
	return w, nil
}

// Run samples until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return w.sample(false)
		case <-ticker.C:
			if err := w.sample(false); err != nil {
				return err
			}
		}
	}
}

// Usage returns what each service took so far.
func (w *Watcher) Usage() map[string]Usage {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]Usage{}
	for name, usage := range w.usage {
		out[name] = *usage
	}
	for pid, ticks := range w.last {
		usage := out[w.owner[pid]]
		usage.CPUSeconds += float64(ticks-w.first[pid]) / ticksPerSecond
		out[w.owner[pid]] = usage
	}
	return out
}

func (w *Watcher) sample(start bool) error {
	processes, err := readProcesses()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	own, shared := map[string]uint64{}, map[string]uint64{}
	for pid, p := range processes {
		name := w.serviceOf(pid, processes)
		if name == "" {
			continue
		}
		w.owner[pid], w.last[pid] = name, p.ticks
		if start {
			w.first[pid] = p.ticks
		}
		// PostgreSQL's processes share their buffers, which count once.
		own[name] += p.rss - p.shared
		shared[name] = max(shared[name], p.shared)
	}
	for name, usage := range w.usage {
		usage.LastRSS = own[name] + shared[name]
		usage.PeakRSS = max(usage.PeakRSS, usage.LastRSS)
	}
	return nil
}

// serviceOf finds the nearest ancestor that is a service.
func (w *Watcher) serviceOf(pid int, processes map[int]process) string {
	for range len(processes) {
		for name, service := range w.services {
			if pid == service {
				return name
			}
		}
		parent, ok := processes[pid]
		if !ok || parent.parent <= 1 {
			return ""
		}
		pid = parent.parent
	}
	return ""
}

// process is what /proc says of one.
type process struct {
	parent int
	ticks  uint64 // of processor time
	rss    uint64 // bytes
	shared uint64 // bytes of it in shared memory
}

func readProcesses() (map[int]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("read processes: %w", err)
	}
	processes := map[int]process{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, statErr := os.ReadFile("/proc/" + entry.Name() + "/stat")
		status, statusErr := os.ReadFile("/proc/" + entry.Name() + "/status")
		if statErr != nil || statusErr != nil {
			continue // it has ended meanwhile
		}
		if p, err := parseProcess(stat, status); err == nil {
			processes[pid] = p
		}
	}
	return processes, nil
}

// parseProcess reads /proc/PID/stat and /proc/PID/status: see proc(5).
func parseProcess(stat, status []byte) (process, error) {
	// The name stands in brackets and may hold anything, brackets too.
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return process{}, fmt.Errorf("no name in %q", stat)
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 13 {
		return process{}, fmt.Errorf("%d fields after the name", len(fields))
	}
	parent, parentErr := strconv.Atoi(fields[1])
	user, userErr := strconv.ParseUint(fields[11], 10, 64)
	system, systemErr := strconv.ParseUint(fields[12], 10, 64)
	if parentErr != nil || userErr != nil || systemErr != nil {
		return process{}, fmt.Errorf("not numbers in %q", fields)
	}
	p := process{parent: parent, ticks: user + system}
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 2 {
			continue
		}
		kilobytes, _ := strconv.ParseUint(words[1], 10, 64)
		switch words[0] {
		case "VmRSS:":
			p.rss = kilobytes << 10
		case "RssShmem:":
			p.shared = kilobytes << 10
		}
	}
	return p, nil
}
