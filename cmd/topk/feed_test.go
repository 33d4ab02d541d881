package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rejectOdd is an ingestor that rejects the item "odd".
func rejectOdd(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			Events []struct {
				ItemID string `json:"item_id"`
			} `json:"events"`
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rejected := []map[string]any{}
		for i, event := range sent.Events {
			if event.ItemID == "odd" {
				rejected = append(rejected, map[string]any{"index": i, "field": "item_id", "reason": "odd"})
			}
		}
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(map[string]any{"accepted": len(sent.Events) - len(rejected), "rejected": rejected})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// topk runs the command line and returns what it printed.
func topk(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestReplayCommand(t *testing.T) {
	ingest := rejectOdd(t)
	const events = "seq,ts_ms,item\n0,1,a\n1,2,odd\n2,broken\n"
	for name, test := range map[string]struct {
		args   []string
		output string
		err    string
	}{
		"rejected events are named and no error": {
			nil, "replayed -: 2 sent, 1 accepted, 1 rejected, 1 unreadable", "",
		},
		"strict makes them one": {
			[]string{"--strict"}, "1 rejected: item_id: odd (first on line 3)",
			"strict: 1 events were rejected and 1 rows could not be read",
		},
		"mistakes in flags come together": {
			[]string{"--clock", "sun", "--batch", "-1"}, "", "clock: \"sun\" is neither event nor wall\nbatch: -1 is not within 1 and 100000",
		},
		"a time that is none": {
			[]string{"--until", "noon"}, "", "\"noon\" is neither a time such as 2026-11-29T15:00:00Z nor a date",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := topk(t, events, append([]string{"replay", "-", "--ingest", ingest}, test.args...)...)
			require.Contains(t, out, test.output)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.err)
		})
	}
	_, err := topk(t, "", "replay", filepath.Join(t.TempDir(), "none.csv"), "--ingest", ingest)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestLoadCommandPrintsJSON(t *testing.T) {
	out, err := topk(t, "", "load", "--ingest", rejectOdd(t), "--rate", "5000", "--events", "1000", "--items", "50", "--json")
	require.NoError(t, err)
	var report struct {
		Accepted uint64 `json:"accepted"`
		Top      []struct {
			Count uint64 `json:"count"`
		} `json:"top"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.EqualValues(t, 1000, report.Accepted)
	require.Len(t, report.Top, 10)
}
