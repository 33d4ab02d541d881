package truth_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/truth"
)

const nasa = "../../test/testdata/nasa_http/"

func events(t *testing.T) []truth.Event {
	t.Helper()
	events, err := truth.ReadEvents(nasa + "events.csv.gz")
	require.NoError(t, err)
	require.Len(t, events, 30969)
	return events
}

func TestSlidingTruthsAreTheCounts(t *testing.T) {
	all := events(t)
	windows, err := truth.ReadSliding(nasa + "truth_sliding_3600s_step900s.csv")
	require.NoError(t, err)
	require.Len(t, windows, 55)
	for _, w := range windows {
		require.Equal(t, time.Hour, w.To.Sub(w.From))
		in := truth.In(all, w.From, w.To)
		require.Len(t, in, w.Events)
		top := truth.Top(in)
		require.Len(t, top, w.Distinct)
		require.Empty(t, truth.Difference(w.Top, top[:min(10, len(top))]), "%s", w.To)
	}
}

func TestHourlyTruthsAreTheCounts(t *testing.T) {
	all := events(t)
	hours, err := truth.ReadHourly(nasa + "truth_hourly_top5.csv")
	require.NoError(t, err)
	require.Len(t, hours, 13)
	total := 0
	for _, hour := range hours {
		in := truth.In(all, hour.From, hour.To)
		require.Len(t, in, hour.Events)
		top := truth.Top(in)
		require.Empty(t, truth.Difference(hour.Top, top[:min(5, len(top))]), "%s", hour.From)
		total += len(in)
	}
	require.Equal(t, len(all), total)
}

func TestSlicesAndTotalsAreTheCounts(t *testing.T) {
	all := events(t)
	top, err := truth.ReadTop(nasa + "truth_top20_overall.csv")
	require.NoError(t, err)
	require.Empty(t, truth.Difference(top, truth.Top(all)[:20]))
	slices, err := truth.ReadSlices(nasa + "truth_slices_top10.csv")
	require.NoError(t, err)
	require.Len(t, slices, 10)
	for _, slice := range slices {
		in := truth.Where(all, func(e truth.Event) bool {
			return slice.Dimension == "country" && e.Country == slice.Value || slice.Dimension == "category" && e.Category == slice.Value
		})
		require.Len(t, in, slice.Events)
		require.Empty(t, truth.Difference(slice.Top, truth.Top(in)[:10]), slice.Value)
	}
}

func TestDifferenceNamesThePosition(t *testing.T) {
	want := []truth.Item{{ID: "a", Count: 2}, {ID: "b", Count: 1}}
	require.Empty(t, truth.Difference(want, want))
	require.Equal(t, `position 2 is "c" with 1, and should be "b" with 1`, truth.Difference(want, []truth.Item{{ID: "a", Count: 2}, {ID: "c", Count: 1}}))
	require.Equal(t, "1 items, and should be 2", truth.Difference(want, want[:1]))
}

func TestBrokenFilesAreErrors(t *testing.T) {
	for name, content := range map[string]string{
		"no header":     "",
		"other columns": "a,b\n",
		"a bad number":  "seq,ts_ms,item,country,category,language,user,weight,kind\nx,1,i,,,,,1,\n",
		"a short row":   "seq,ts_ms,item,country,category,language,user,weight,kind\n1,1\n",
	} {
		path := filepath.Join(t.TempDir(), "events.csv")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := truth.ReadEvents(path)
		require.Error(t, err, name)
	}
	_, err := truth.ReadSliding(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
