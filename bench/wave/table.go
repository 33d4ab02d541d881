package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// write prints both phases side by side as Markdown.
func (r result) write(w io.Writer) {
	fmt.Fprintf(w, "\nbefore: %d events in %.0f s; the wave: %d events in %.0f s, accepted %.0f/s, %d skipped\n\n",
		r.before.load.Accepted, r.before.load.Ended.Sub(r.before.load.Started).Seconds(),
		r.wave.load.Accepted, r.wave.load.Ended.Sub(r.wave.load.Started).Seconds(), r.wave.load.Rate, r.wave.load.Skipped)
	if r.found == 0 {
		fmt.Fprintln(w, "the item that rises never led the 1m list")
	} else {
		fmt.Fprintf(w, "the item that rises led the 1m list %.1f s after its first view\n", r.found.Seconds())
	}
	fmt.Fprintln(w, "\n| list | certified | max_overcount | items compared with the truth | faults |\n|---|---|---|---|---|")
	for _, p := range []struct {
		name string
		phase
	}{{"before", r.before}, {"wave", r.wave}} {
		for _, v := range p.load.Verified {
			fmt.Fprintf(w, "| %s %s | %t | %d | %d | %d |\n", p.name, v.Window, v.Certified, v.MaxOvercount, v.Checked, v.Faults)
			for _, example := range v.Examples {
				fmt.Fprintf(w, "| | | | | %s |\n", example)
			}
		}
	}
	r.writeMemory(w)
	r.writeDisk(w)
}

func (r result) writeMemory(w io.Writer) {
	fmt.Fprintln(w, "\n| service, RSS in MB | before, peak (last) | wave, peak (last) | wave, processor s |\n|---|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(r.wave.usage)) {
		before, wave := r.before.usage[name], r.wave.usage[name]
		fmt.Fprintf(w, "| %s | %d (%d) | %d (%d) | %.0f |\n", name, before.PeakRSS>>20, before.LastRSS>>20, wave.PeakRSS>>20, wave.LastRSS>>20, wave.CPUSeconds)
	}
}

// smallest is the least table that is shown, in bytes on disk after the wave.
const smallest = 1 << 20

func (r result) writeDisk(w io.Writer) {
	fmt.Fprintln(w, "\n| table | MB on disk before | after the wave | rows before | after | keys in memory, MB |\n|---|---|---|---|---|---|")
	sumBefore, sumAfter := uint64(0), uint64(0)
	for _, name := range slices.Sorted(maps.Keys(r.wave.tables)) {
		before, after := r.before.tables[name], r.wave.tables[name]
		sumBefore, sumAfter = sumBefore+before.Bytes, sumAfter+after.Bytes
		if after.Bytes < smallest {
			continue
		}
		fmt.Fprintf(w, "| %s | %.1f | %.1f | %d | %d | %.1f |\n", name, mega(before.Bytes), mega(after.Bytes), before.Rows, after.Rows, mega(after.Memory))
	}
	fmt.Fprintf(w, "| all | %.1f | %.1f | | | |\n", mega(sumBefore), mega(sumAfter))
}

func mega(bytes uint64) float64 { return float64(bytes) / (1 << 20) }
