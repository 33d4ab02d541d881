package top

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"topk/internal/list"
)

// render draws a list. The item comes last in a line, so that no column's place depends on how a terminal draws an id.
// columns is the terminal's width, or 0 for as long as it takes.
func render(l *list.List, now time.Time, columns int) string {
	var out strings.Builder
	for _, line := range header(l, now) {
		out.WriteString(fit(line, columns) + "\n")
	}
	out.WriteString("\n")
	if len(l.Items) == 0 {
		reason := l.Reason
		if reason == "" {
			reason = "nothing was viewed"
		}
		out.WriteString(fit("no items: "+reason, columns) + "\n")
		return out.String()
	}
	rows := cells(l)
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell)) // digits and words of this program: a byte is a column
		}
	}
	for i, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			if widths[j] > 0 {
				fmt.Fprintf(&line, "%*s  ", widths[j], cell)
			}
		}
		item := "item"
		if i > 0 {
			item = l.Items[i-1].ItemID
		}
		rest := 0
		if columns > 0 {
			rest = max(columns-line.Len(), 1)
		}
		out.WriteString(line.String() + fit(item, rest) + "\n")
	}
	return out.String()
}

// cells are the columns before the item. The interval is left empty where it is exact, and its column goes when all are.
func cells(l *list.List) [][]string {
	rows := [][]string{{"pos", "rank", "count", ""}}
	for _, item := range l.Items {
		interval := ""
		if item.Lower != item.Upper {
			interval = fmt.Sprintf("[%d, %d]", item.Lower, item.Upper)
			rows[0][3] = "interval"
		}
		rows = append(rows, []string{
			strconv.Itoa(item.Position), strconv.Itoa(item.Rank), strconv.FormatUint(item.Count, 10), interval,
		})
	}
	return rows
}

// header says what the list is and how sure it is.
func header(l *list.List, now time.Time) []string {
	first := fmt.Sprintf("%s  %s  %s", l.ItemType, l.Window, l.Slice)
	if l.AsOf.IsZero() {
		return []string{first}
	}
	first += fmt.Sprintf("  as_of %s", l.AsOf.Format(time.RFC3339))
	if l.Stale {
		first += "  STALE"
	}
	if l.Revised {
		first += "  revised"
	}
	certified := "not certified"
	if l.Certified {
		certified = "certified"
	}
	made := fmt.Sprintf("version %d, published %s ago", l.Version, age(now.Sub(l.PublishedAt)))
	if l.Precomputed != nil && *l.Precomputed {
		made = "precomputed, " + made
	} else if l.Precomputed != nil {
		made = fmt.Sprintf("made on demand %s ago", age(now.Sub(l.PublishedAt)))
	}
	second := fmt.Sprintf("%s, %s, max_overcount %d, total %d, %s", l.Method, certified, l.MaxOvercount, l.Total, made)
	lines := []string{first, second}
	if l.ExactUntil != nil {
		lines = append(lines, "exact_until "+l.ExactUntil.Format(time.RFC3339))
	}
	if l.MinViewers > 0 {
		lines = append(lines, fmt.Sprintf("min_viewers %d, hidden %d", l.MinViewers, l.Hidden))
	}
	if len(l.Partial) > 0 { // last, as it may be long
		lines = append(lines, "PARTIAL: late events are not counted yet in the hours of "+strings.Join(l.Partial, ", "))
	}
	return lines
}

// age is a duration as people say it. The API's clock can be a little ahead of this one.
func age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0s"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
