package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"topk/internal/apiclient"
	"topk/internal/grade"
	"topk/internal/zone"
)

// GradesConfig says which grades to show, and how. What is empty leaves nothing out.
type GradesConfig struct {
	API      string // base URL
	ItemType string
	Window   string
	Since    string // a time (RFC 3339), a date for its midnight in UTC, or how long ago, such as 48h
	Limit    int
	JSON     bool // the API's own answer, for scripts
	Check    bool // fail with ErrAlerts when an alert stands
}

// DefaultGradesConfig is what topk grades starts with.
func DefaultGradesConfig() GradesConfig { return GradesConfig{API: DefaultConfig().API, Limit: 100} }

// ErrAlerts says that a grade which nothing newer has replaced is beyond a limit.
var ErrAlerts = errors.New("lists are beyond their limits")

// since reads the flag of that name.
func (c GradesConfig) since(now time.Time) (time.Time, error) {
	if c.Since == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(c.Since); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	since, err := zone.ParseInstant(c.Since)
	if err != nil {
		return time.Time{}, fmt.Errorf("since: %w, nor how long ago, such as 48h", err)
	}
	return since, nil
}

// ShowGrades prints how good published lists were.
func ShowGrades(ctx context.Context, c GradesConfig, screen Screen) error {
	since, err := c.since(time.Now())
	if err := errors.Join(err, validAPI(c.API)); err != nil {
		return err
	}
	api := apiclient.New(c.API)
	defer api.Close()
	query := apiclient.GradesQuery{ItemType: c.ItemType, Window: c.Window, Since: since, Limit: c.Limit}
	grades, err := api.Grades(ctx, query)
	if err != nil {
		return harmless(err)
	}
	columns, _ := screen.size()
	var text string
	switch {
	case c.JSON:
		text = string(grades.Body) + "\n"
	case len(grades.Grades) > 0:
		text = renderGrades(grades, columns)
	default:
		if text, err = noGrades(ctx, api, query); err != nil {
			return harmless(err)
		}
	}
	if _, err := io.WriteString(screen.Out, text); err != nil {
		return err
	}
	if standing := standing(grades.Grades); c.Check && standing > 0 {
		return fmt.Errorf("%w: %d of those shown", ErrAlerts, standing)
	}
	return nil
}

// noGrades says why there is nothing to show: nothing was graded, or only lists that end before the time asked for.
func noGrades(ctx context.Context, api *apiclient.Client, q apiclient.GradesQuery) (string, error) {
	what := "list"
	if q.Window != "" {
		what = printable(q.Window) + " list"
	}
	if q.ItemType != "" {
		what += " of item type " + printable(q.ItemType)
	}
	none := "no " + what + " has been graded\n"
	if q.Since.IsZero() {
		return none, nil
	}
	since := q.Since.UTC().Format(time.RFC3339)
	q.Since, q.Limit = time.Time{}, 1
	newest, err := api.Grades(ctx, q)
	if err != nil || len(newest.Grades) == 0 {
		return none, err
	}
	return fmt.Sprintf("no %s that ends at %s or later has been graded; the newest one graded ends at %s\n", what, since,
		newest.Grades[0].Until.UTC().Format(time.RFC3339)), nil
}

// standing counts the lists with an alert that stands.
func standing(grades []grade.Shown) (n int) {
	for i := range grades {
		if len(grades[i].Standing()) > 0 {
			n++
		}
	}
	return n
}

// renderGrades draws a table. What is told of a list comes last in its line, which is cut at the terminal's width; 0 cuts nothing.
func renderGrades(grades *apiclient.Grades, columns int) string {
	rows := [][]string{{"until", "window", "item type", "recall 100", "1000", "shared 100", "displaced", "over-count", "bound", ""}}
	for i := range grades.Grades {
		rows = append(rows, gradeCells(&grades.Grades[i]))
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			widths[i] = max(widths[i], len(cell)) // printable or of this program: a byte is a column
		}
	}
	var out strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row[:len(row)-1] {
			if i < 3 {
				fmt.Fprintf(&line, "%-*s  ", widths[i], cell)
			} else {
				fmt.Fprintf(&line, "%*s  ", widths[i], cell)
			}
		}
		out.WriteString(fit(strings.TrimRight(line.String()+row[len(row)-1], " "), columns) + "\n")
	}
	if grades.More {
		out.WriteString("... and earlier ones: --limit, --since\n")
	}
	return out.String()
}

// gradeCells are the columns of one grade.
func gradeCells(g *grade.Shown) []string {
	cells := []string{g.Until.UTC().Format(time.RFC3339), printable(g.Window), printable(g.ItemType)}
	if g.Measures == nil {
		return append(cells, "-", "-", "-", "-", "-", "-", "not graded: "+printable(g.Reason))
	}
	told := make([]string, 0, len(g.Alerts)+1)
	for _, alert := range g.Alerts {
		told = append(told, "ALERT "+printable(alert.What))
	}
	if g.Replaced {
		told = append(told, "replaced by a newer grade")
	}
	return append(cells, ratio(g.Recall100), ratio(g.Recall1000), ratio(g.Shared100), strconv.FormatUint(g.Displacement, 10),
		strconv.FormatUint(g.Overcount, 10), strconv.FormatUint(g.MaxOvercount, 10), strings.Join(told, ", "))
}

// ratio is a share with three decimals. One that is less than 1 never reads 1.000.
func ratio(share float64) string {
	if share < 1 {
		share = min(share, 0.999)
	}
	return strconv.FormatFloat(share, 'f', 3, 64)
}
