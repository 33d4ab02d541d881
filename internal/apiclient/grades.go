package apiclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"topk/internal/grade"
)

// GradesQuery says which grades to ask for. What is empty leaves nothing out.
type GradesQuery struct {
	ItemType string
	Window   string
	Since    time.Time // of lists that end then or later
	Limit    int
}

// Grades are grades as the API sent them, newest time first.
type Grades struct {
	Body   []byte        `json:"-"`
	Grades []grade.Shown `json:"grades"`
	More   bool          `json:"more"` // there are more than were asked for
}

// Grades returns the grades of published lists. An API that says no gives a *RefusedError.
func (c *Client) Grades(ctx context.Context, q GradesQuery) (*Grades, error) {
	parameters := url.Values{"limit": {strconv.Itoa(q.Limit)}}
	if q.ItemType != "" {
		parameters.Set("item_type", q.ItemType)
	}
	if q.Window != "" {
		parameters.Set("window", q.Window)
	}
	if !q.Since.IsZero() {
		parameters.Set("since", q.Since.UTC().Format(time.RFC3339))
	}
	answer, err := c.get(ctx, "/v1/grades", parameters, nil)
	if err != nil {
		return nil, err
	}
	grades := &Grades{Body: answer.Body}
	if err := json.Unmarshal(answer.Body, grades); err != nil {
		return nil, fmt.Errorf("read the grades: %w", err)
	}
	return grades, nil
}
