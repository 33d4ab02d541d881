package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/embedded"
	"topk/internal/list"
)

// verdict is the ingestor's answer to a batch.
type verdict struct {
	Accepted int `json:"accepted"`
	Rejected []struct {
		Index  int    `json:"index"`
		Field  string `json:"field"`
		Reason string `json:"reason"`
	} `json:"rejected"`
}

// post sends a body to the ingestor and returns the status and the answer.
func post(stack *embedded.Stack, body string) (int, string, error) {
	response, err := http.Post(stack.Endpoints().Ingest+"/v1/events", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

// postEvents sends raw events in one batch and requires a 202.
func postEvents(t *testing.T, stack *embedded.Stack, events ...string) verdict {
	t.Helper()
	status, answer, err := post(stack, `{"events":[`+strings.Join(events, ",")+`]}`)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, status, answer)
	var got verdict
	require.NoError(t, json.Unmarshal([]byte(answer), &got))
	return got
}

func eventJSON(t *testing.T, id, itemType, itemID string, at time.Time) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(map[string]any{
		"event_id": id, "item_type": itemType, "item_id": itemID, "event_time": at.UTC().Format(time.RFC3339Nano),
	}))
	return out.String()
}

// Every bad event is sent in one batch with a good one, through the whole pipe: the good one is counted, the bad one is
// named, and nothing else is.
func TestOneBadEventNeverCostsItsBatch(t *testing.T) {
	stack := startStack(t, "wall", nil)
	now := time.Now().UTC()
	at := now.Format(time.RFC3339)
	bad := []struct{ name, field, event string }{
		{"empty object", "event_id", `{}`},
		{"null", "", `null`},
		{"a number", "", `17`},
		{"no event id", "event_id", `{"item_type":"bad","item_id":"x","event_time":"` + at + `"}`},
		{"empty event id", "event_id", `{"event_id":"","item_type":"bad","item_id":"x","event_time":"` + at + `"}`},
		{"event id of 65 bytes", "event_id", `{"event_id":"` + strings.Repeat("e", 65) + `","item_type":"bad","item_id":"x","event_time":"` + at + `"}`},
		{"empty item", "item_id", `{"event_id":"e","item_type":"bad","item_id":"","event_time":"` + at + `"}`},
		{"item of 257 bytes", "item_id", `{"event_id":"e","item_type":"bad","item_id":"` + strings.Repeat("x", 257) + `","event_time":"` + at + `"}`},
		{"item as number", "item_id", `{"event_id":"e","item_type":"bad","item_id":7,"event_time":"` + at + `"}`},
		{"item with NUL", "item_id", `{"event_id":"e","item_type":"bad","item_id":"a\u0000b","event_time":"` + at + `"}`},
		{"item with newline", "item_id", `{"event_id":"e","item_type":"bad","item_id":"a\nb","event_time":"` + at + `"}`},
		{"lone surrogate", "item_id", `{"event_id":"e","item_type":"bad","item_id":"\ud800","event_time":"` + at + `"}`},
		{"invalid UTF-8", "item_id", `{"event_id":"e","item_type":"bad","item_id":"` + "\xff\xfe" + `","event_time":"` + at + `"}`},
		{"type in capitals", "item_type", `{"event_id":"e","item_type":"Bad","item_id":"x","event_time":"` + at + `"}`},
		{"time as text", "event_time", `{"event_id":"e","item_type":"bad","item_id":"x","event_time":"yesterday"}`},
		{"time as fraction", "event_time", `{"event_id":"e","item_type":"bad","item_id":"x","event_time":1.5}`},
		{"seconds for milliseconds", "event_time", fmt.Sprintf(`{"event_id":"e","item_type":"bad","item_id":"x","event_time":%d}`, now.Unix())},
		{"negative time", "event_time", `{"event_id":"e","item_type":"bad","item_id":"x","event_time":-1}`},
		{"time 49 hours ago", "event_time", `{"event_id":"e","item_type":"bad","item_id":"x","event_time":"` + now.Add(-49*time.Hour).Format(time.RFC3339) + `"}`},
		{"unknown country", "country", `{"event_id":"e","item_type":"bad","item_id":"x","event_time":"` + at + `","country":"XQ"}`},
		{"flags as text", "flags", `{"event_id":"e","item_type":"bad","item_id":"x","event_time":"` + at + `","flags":"spam"}`},
	}
	for i, c := range bad {
		got := postEvents(t, stack, c.event, eventJSON(t, fmt.Sprintf("good-%d", i), "good", fmt.Sprintf("item-%02d", i), now))
		require.Equal(t, 1, got.Accepted, c.name)
		require.Len(t, got.Rejected, 1, c.name)
		require.Equal(t, 0, got.Rejected[0].Index, c.name)
		require.Equal(t, c.field, got.Rejected[0].Field, c.name)
		require.NotEmpty(t, got.Rejected[0].Reason, c.name)
	}
	// Weights and counts of a caller are no field of an event: whatever they say, it is one view.
	for i, weight := range []string{`"n":-1`, `"n":0`, `"count":1000000000000000000`, `"weight":18446744073709551615`, `"sequence":7,"second":0`} {
		event := fmt.Sprintf(`{"event_id":"w%d","item_type":"weighed","item_id":"item-%d","event_time":%q,%s}`, i, i, at, weight)
		require.Equal(t, 1, postEvents(t, stack, event).Accepted, weight)
	}
	weighed := awaitList(t, stack, "weighed", "1h", 1000, 60*time.Second, func(l *list.List) bool { return len(l.Items) == 5 })
	for _, item := range weighed.Items {
		require.Equal(t, uint64(1), item.Count, item.ItemID)
	}
	got := awaitList(t, stack, "good", "1h", 1000, 60*time.Second, func(l *list.List) bool { return l.Total >= uint64(len(bad)) })
	require.Len(t, got.Items, len(bad))
	for i, item := range got.Items {
		require.Equal(t, fmt.Sprintf("item-%02d", i), item.ItemID)
		require.Equal(t, uint64(1), item.Count)
	}
	_, err := topkList(stack, "bad", "1h", 10)
	require.ErrorContains(t, err, "404", "nothing of a rejected event may reach a list")
}

// Ids are opaque bytes: whatever is valid comes back in the JSON exactly as it went in.
func TestIDsSurviveToTheJSON(t *testing.T) {
	stack := startStack(t, "wall", nil)
	ids := []string{
		"/", "a/b/../c", "%2F", "%", "..", "-rf", "--help", `"`, `\`, `\\"'`, "'; DROP TABLE lists; --", "a,b;c\u00a0d", "{x:String}",
		"🎬", "👩‍👩‍👧‍👦", "שלום עולם", "مرحبا", "\u202eevil", "e\u0301", "\u00e9", "ｖｉｄｅｏ", "A", "a", "<script>&amp;</script>",
		"\u2028\u2029", " leading and trailing ", strings.Repeat("x", 256), strings.Repeat("é", 128), "null", "0", "1e9",
	}
	now := time.Now()
	var events []string
	for i, id := range ids {
		for n := range len(ids) - i { // descending counts: the order is known
			events = append(events, eventJSON(t, fmt.Sprintf("e%d-%d", i, n), "odd_ids", id, now))
		}
	}
	got := postEvents(t, stack, events...)
	require.Empty(t, got.Rejected)
	served := awaitList(t, stack, "odd_ids", "1h", 1000, 60*time.Second, func(l *list.List) bool { return l.Total == uint64(len(events)) })
	require.Len(t, served.Items, len(ids))
	for i, id := range ids {
		require.Equal(t, id, served.Items[i].ItemID)
		require.Equal(t, uint64(len(ids)-i), served.Items[i].Count)
	}
}

// A client that sends everything three times raises the counts, and max_overcount says by how much at most.
func TestRepeatsAreInsideMaxOvercount(t *testing.T) {
	stack := startStack(t, "wall", nil)
	now := time.Now()
	var events []string
	for i := range 20 {
		for n := range i + 1 {
			events = append(events, eventJSON(t, fmt.Sprintf("r%d-%d", i, n), "repeated", fmt.Sprintf("item-%02d", i), now))
		}
	}
	for range 3 {
		require.Equal(t, len(events), postEvents(t, stack, events...).Accepted)
	}
	got := awaitList(t, stack, "repeated", "1h", 1000, 60*time.Second, func(l *list.List) bool { return l.Total == 3*uint64(len(events)) })
	require.Equal(t, 2*uint64(len(events)), got.MaxOvercount)
	for i, item := range got.Items {
		truth := uint64(20 - i)
		require.GreaterOrEqual(t, item.Count, truth)
		require.LessOrEqual(t, item.Count, truth+got.MaxOvercount)
		require.LessOrEqual(t, item.Lower, truth)
		require.GreaterOrEqual(t, item.Upper, truth)
	}
}

// A list of more items than can be asked for keeps a spare of positions, and is served all the same.
func TestMoreItemsThanALongListHoldsAreServed(t *testing.T) {
	stack := startStack(t, "wall", nil)
	now := time.Now()
	const items = 1500
	var events []string
	for i := range items {
		events = append(events, eventJSON(t, fmt.Sprintf("many-%d", i), "many", fmt.Sprintf("item-%04d", i), now))
	}
	require.Equal(t, items, postEvents(t, stack, events...).Accepted)
	got := awaitList(t, stack, "many", "1h", 1000, 60*time.Second, func(l *list.List) bool { return l.Total == items })
	require.Len(t, got.Items, 1000)
	require.Equal(t, uint64(500), got.Other)
	require.Equal(t, "item-0999", got.Items[999].ItemID)
}
