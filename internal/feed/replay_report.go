package feed

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// ReplayReport says what a replay did. Rows = Unreadable + LeftOut + Accepted + Rejected when it ran to its end.
type ReplayReport struct {
	File             string
	Rows             int
	Unreadable       int
	UnreadableRows   []RowError // the first few
	LeftOut          int        // by From and Until
	UnknownCountries int        // sent without a country
	Accepted         int
	Rejected         int
	Reasons          []RejectedReason // most frequent first
	Requests         int
	Retries          int       // attempts beyond the first of a request
	Newest           time.Time // newest event time that was sent
	Watermark        time.Time // the final watermark, zero when none was sent
	Elapsed          time.Duration
}

// RejectedReason counts the events that were rejected for one reason.
type RejectedReason struct {
	Field     string
	Reason    string
	Count     int
	FirstLine int
}

// Write prints the summary line, then what was rejected and what could not be read.
func (r *ReplayReport) Write(w io.Writer) error {
	var b strings.Builder
	rate := float64(r.Accepted+r.Rejected) / max(r.Elapsed.Seconds(), 1e-3)
	fmt.Fprintf(&b, "replayed %s: %d sent, %d accepted, %d rejected, %d unreadable in %.1f s (%.0f/s)",
		r.File, r.Accepted+r.Rejected, r.Accepted, r.Rejected, r.Unreadable, r.Elapsed.Seconds(), rate)
	if r.LeftOut > 0 {
		fmt.Fprintf(&b, ", %d outside the times asked for", r.LeftOut)
	}
	if r.Retries > 0 {
		fmt.Fprintf(&b, ", %d retries", r.Retries)
	}
	if !r.Watermark.IsZero() {
		fmt.Fprintf(&b, ", watermark %s", r.Watermark.Format(time.RFC3339Nano))
	}
	b.WriteByte('\n')
	if r.UnknownCountries > 0 {
		fmt.Fprintf(&b, "%9d sent without a country: theirs is not in ISO 3166\n", r.UnknownCountries)
	}
	for _, reason := range r.Reasons {
		fmt.Fprintf(&b, "%9d rejected: %s (first on line %d)\n", reason.Count, joinReason(reason), reason.FirstLine)
	}
	for _, row := range r.UnreadableRows {
		fmt.Fprintf(&b, "unreadable %s\n", row.Error())
	}
	if more := r.Unreadable - len(r.UnreadableRows); more > 0 {
		fmt.Fprintf(&b, "unreadable: %d more rows\n", more)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func joinReason(r RejectedReason) string {
	if r.Field == "" {
		return r.Reason
	}
	return r.Field + ": " + r.Reason
}

// replayTally gathers a report from the reader and the senders.
type replayTally struct {
	mu      sync.Mutex
	report  ReplayReport
	reasons map[[2]string]*RejectedReason
}

func (t *replayTally) unreadable(row RowError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Unreadable++
	if len(t.report.UnreadableRows) < maxReportedRows {
		t.report.UnreadableRows = append(t.report.UnreadableRows, row)
	}
}

func (t *replayTally) count(n *int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*n++
}

func (t *replayTally) answered(b *batch, v Verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Requests++
	t.report.Retries += v.Retries
	t.report.Accepted += v.Accepted
	t.report.Rejected += len(v.Rejected)
	if b.newest.After(t.report.Newest) {
		t.report.Newest = b.newest
	}
	for _, rejection := range v.Rejected {
		t.rejected(rejection, b)
	}
}

func (t *replayTally) rejected(rejection Rejection, b *batch) {
	line := 0
	if rejection.Index >= 0 && rejection.Index < b.len() {
		line = b.lines[rejection.Index]
	}
	key := [2]string{rejection.Field, rejection.Reason}
	if t.reasons[key] == nil && len(t.reasons) >= maxReportedReasons {
		key = [2]string{"", "other reasons"}
	}
	reason := t.reasons[key]
	if reason == nil {
		reason = &RejectedReason{Field: key[0], Reason: key[1], FirstLine: line}
		t.reasons[key] = reason
	}
	reason.Count++
	reason.FirstLine = min(reason.FirstLine, line)
}

func (t *replayTally) done(elapsed time.Duration) *ReplayReport {
	t.mu.Lock()
	defer t.mu.Unlock()
	report := t.report
	report.Elapsed = elapsed
	for _, reason := range t.reasons {
		report.Reasons = append(report.Reasons, *reason)
	}
	slices.SortFunc(report.Reasons, func(a, b RejectedReason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.FirstLine, b.FirstLine),
			cmp.Compare(joinReason(a), joinReason(b)))
	})
	return &report
}
