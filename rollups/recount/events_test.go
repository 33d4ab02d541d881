package recount

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// event is one accepted event.
type event struct {
	itemType, id, eventID, country string
	at                             time.Time
	flagged                        bool
}

func (v event) identity() string {
	return fmt.Sprint(v.itemType, "\x00", v.id, "\x00", v.at.Truncate(time.Hour).Unix(), "\x00", v.eventID)
}

// send brings events to ClickHouse in one block.
func (e *engine) send(t testing.TB, events ...event) {
	t.Helper()
	e.insert(t, "topk.events", events...)
	for _, v := range events {
		e.sent[v.identity()] = v
	}
}

func (e *engine) insert(t testing.TB, table string, events ...event) {
	t.Helper()
	batch, err := e.conn.PrepareBatch(context.Background(), "INSERT INTO "+table+" (event_id, item_type, item_id, event_time, country, flags, ingestor)")
	require.NoError(t, err)
	for _, v := range events {
		flags := []string{}
		if v.flagged {
			flags = append(flags, "bot")
		}
		require.NoError(t, batch.Append(v.eventID, v.itemType, v.id, v.at, v.country, flags, "test@1"))
	}
	require.NoError(t, batch.Send())
}

// truth counts by brute force what was sent of [from, until), every event once.
func (e *engine) truth(itemType string, from, until time.Time) []Count {
	views := map[string]uint64{}
	for _, v := range e.sent {
		if v.itemType == itemType && !v.flagged && !v.at.Before(from) && v.at.Before(until) {
			views[v.id]++
		}
	}
	return ranked(views)
}

// requireSame is require.Equal for thousands of counts, of which it shows the first that differ.
func requireSame(t testing.TB, want, got []Count, what string, a ...any) {
	t.Helper()
	n := 0
	for n < min(len(want), len(got)) && want[n] == got[n] {
		n++
	}
	require.Equal(t, want[n:min(n+3, len(want))], got[n:min(n+3, len(got))], "at %d: %s", n, fmt.Sprintf(what, a...))
	require.Len(t, got, len(want))
}

func ranked(views map[string]uint64) []Count {
	counts := make([]Count, 0, len(views))
	for id, n := range views {
		counts = append(counts, Count{id, n})
	}
	slices.SortFunc(counts, func(a, b Count) int {
		if a.Views != b.Views {
			return int(b.Views) - int(a.Views)
		}
		return strings.Compare(a.ItemID, b.ItemID)
	})
	return counts
}
