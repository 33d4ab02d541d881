package ingestor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/event"
	"topk/internal/wire"
)

func timed(millis int64) *parsedEvent {
	return &parsedEvent{Event: wire.Event{Millis: millis}, timed: true}
}

func TestWallClockPlacesEvents(t *testing.T) {
	cfg := DefaultConfig()
	rules := newTimeRules(cfg)
	now := time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC).UnixMilli()
	skew, age := cfg.MaxSkew.Milliseconds(), cfg.MaxEventAge.Milliseconds()
	for name, test := range map[string]struct {
		event   *parsedEvent
		millis  int64
		stamped wire.Stamp
		problem *event.Problem
	}{
		"no time":            {&parsedEvent{}, now, wire.Untimed, nil},
		"now":                {timed(now), now, wire.OwnTime, nil},
		"skew ahead":         {timed(now + skew), now + skew, wire.OwnTime, nil},
		"more than skew":     {timed(now + skew + 1), now, wire.Ahead, nil},
		"oldest":             {timed(now - age), now - age, wire.OwnTime, nil},
		"too old":            {timed(now - age - 1), 0, wire.OwnTime, rules.tooOld},
		"thirty years later": {timed(now + 30*365*24*3600*1000), now, wire.Ahead, nil},
	} {
		millis, stamped, problem := rules.place(test.event, now, 0)
		require.Equal(t, test.millis, millis, name)
		require.Equal(t, test.stamped, stamped, name)
		require.Equal(t, test.problem, problem, name)
	}
	require.Contains(t, rules.tooOld.Reason, "48h0m0s before now")
}

func TestEventClockPlacesEvents(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Clock = ClockEvent
	rules := newTimeRules(cfg)
	newest := time.Date(1995, 8, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	age := cfg.MaxEventAge.Milliseconds()
	for name, test := range map[string]struct {
		event   *parsedEvent
		newest  int64
		problem *event.Problem
	}{
		"no time":       {&parsedEvent{}, newest, rules.missing},
		"first event":   {timed(newest), 0, nil},
		"far ahead":     {timed(newest + 100*age), newest, nil},
		"oldest":        {timed(newest - age), newest, nil},
		"too old":       {timed(newest - age - 1), newest, rules.tooOld},
		"in the future": {timed(time.Now().Add(time.Hour).UnixMilli()), newest, nil},
	} {
		millis, stamped, problem := rules.place(test.event, time.Now().UnixMilli(), test.newest)
		require.Equal(t, test.problem, problem, name)
		require.Equal(t, wire.OwnTime, stamped, name)
		if problem == nil {
			require.Equal(t, test.event.Millis, millis, name)
		}
	}
}

func TestWatermarkRule(t *testing.T) {
	wall := DefaultConfig()
	data := wall
	data.Clock = ClockEvent
	now := time.UnixMilli(1_764_547_200_500)
	nowMs, disorder := now.UnixMilli(), wall.Disorder.Milliseconds()
	const idle, busy = time.Hour, time.Duration(0)
	for name, test := range map[string]struct {
		cfg   *Config
		mark  watermark
		batch batch
		quiet time.Duration
		want  int64
	}{
		"newest minus disorder":        {&wall, watermark{}, batch{newest: nowMs - 1500}, busy, nowMs - 1500 - disorder},
		"committed before":             {&wall, watermark{newest: nowMs - 700}, batch{newest: nowMs - 1500}, busy, nowMs - 700 - disorder},
		"never ahead of own clock":     {&wall, watermark{}, batch{newest: nowMs + 9000}, busy, nowMs - disorder},
		"idle follows the clock":       {&wall, watermark{newest: nowMs - 60_000}, batch{}, idle, nowMs - disorder},
		"never back":                   {&wall, watermark{sent: nowMs}, batch{newest: nowMs - 1000}, busy, nowMs},
		"data: unknown at first":       {&data, watermark{}, batch{}, idle, 0},
		"data: newest minus disorder":  {&data, watermark{}, batch{newest: 5000}, idle, 5000 - disorder},
		"data: idleness says nothing":  {&data, watermark{newest: 5000, sent: 3000}, batch{}, idle, 3000},
		"data: ahead of the own clock": {&data, watermark{}, batch{newest: nowMs + 1e9}, busy, nowMs + 1e9 - disorder},
		"data: posted":                 {&data, watermark{newest: 5000, sent: 3000}, batch{posted: 9000}, idle, 9000},
		"data: posted before":          {&data, watermark{newest: 5000, sent: 3000}, batch{posted: 2000}, idle, 3000},
		"data: posted without events":  {&data, watermark{}, batch{posted: 9000}, idle, 9000},
	} {
		require.Equal(t, test.want, test.mark.at(test.cfg, &test.batch, now, test.quiet), name)
	}
}

// TestHeartbeats: without any event, every flush writes to every partition of both topics, and the watermark follows the
// wall clock.
func TestHeartbeats(t *testing.T) {
	kafka := startKafka(t)
	began := time.Now()
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	l := openLog(t, kafka.ListenAddrs())
	l.until("ten rounds", func() bool { return len(l.messages) >= 10*2*testPartitions })
	require.NoError(t, r.stop())
	l.untilClosed(r.in.flusher.instance)
	perPartition := map[string][]message{}
	sequences := map[uint64]bool{}
	for _, m := range l.messages {
		require.Equal(t, testPartitions, m.partitions)
		require.WithinRange(t, m.timestamp, began.Add(-time.Second), time.Now().Add(time.Second))
		require.WithinRange(t, time.UnixMilli(m.watermark), began.Add(-r.in.cfg.Disorder-time.Second), m.timestamp)
		perPartition[fmt.Sprint(m.topic, m.partition)] = append(perPartition[fmt.Sprint(m.topic, m.partition)], m)
		if m.topic == wire.CountsTopic {
			require.Len(t, m.counts, 1)
			require.Equal(t, wire.Count{Ingestor: r.in.flusher.instance, Sequence: m.counts[0].Sequence}, m.counts[0])
			require.False(t, sequences[m.counts[0].Sequence], "a sequence names one message")
			sequences[m.counts[0].Sequence] = true
		}
	}
	require.Len(t, perPartition, 2*testPartitions)
	for partition, messages := range perPartition {
		require.Len(t, messages, len(l.messages)/2/testPartitions, partition)
		for i, m := range messages {
			require.Equal(t, i == len(messages)-1, m.closed, partition)
			if i > 0 {
				require.GreaterOrEqual(t, m.watermark, messages[i-1].watermark, partition)
			}
		}
	}
}

// TestWatermarkCoversWhatIsBehindIt sends batches of many messages and sees that no partition ever delivers an event that
// an earlier message of the partition had promised away.
func TestWatermarkCoversWhatIsBehindIt(t *testing.T) {
	kafka := startKafka(t)
	cfg := testConfig(kafka.ListenAddrs())
	cfg.Clock, cfg.Disorder = ClockEvent, 0
	r := start(t, cfg).ready()
	second := int64(807249600)
	for range 4 {
		body := []byte("[")
		for i := range MaxEvents { // over the bytes of a message for one item, and rows for all partitions
			body = fmt.Appendf(body, `{"event_id":"%d-%d","item_id":"i%d","event_time":%d},`, second, i, i%3, second*1000)
			if i%2500 == 2499 {
				second++
			}
		}
		body[len(body)-1] = ']'
		status, answer := r.post(string(body))
		require.Equal(t, http.StatusAccepted, status, answer)
	}
	require.NoError(t, r.stop())
	l := openLog(t, kafka.ListenAddrs())
	l.untilClosed(r.in.flusher.instance)
	promised := map[string]int64{}
	for _, m := range l.messages {
		partition := fmt.Sprint(m.topic, m.partition)
		for _, e := range m.events {
			if e.ItemType != "" {
				require.GreaterOrEqual(t, e.Time.UnixMilli(), promised[partition], partition)
			}
		}
		for _, c := range m.counts {
			if c.N > 0 {
				require.GreaterOrEqual(t, int64(c.Second)*1000, promised[partition], partition)
			}
		}
		promised[partition] = m.watermark
		require.LessOrEqual(t, m.bytes, wire.MaxMessageBytes)
	}
	for partition, mark := range promised {
		require.Equal(t, (second-1)*1000, mark, partition)
	}
}

// TestFinalWatermark is the end of a replay.
func TestFinalWatermark(t *testing.T) {
	kafka := startKafka(t)
	cfg := testConfig(kafka.ListenAddrs())
	cfg.Clock, cfg.FlushInterval = ClockEvent, 10*time.Second // so that only asking makes it flush
	r := start(t, cfg).ready()
	post := func(body string) (int, time.Time) {
		status, answer := r.do(http.MethodPost, "/v1/watermark", "application/json", body, nil)
		var mark struct{ Watermark time.Time }
		_ = json.Unmarshal([]byte(answer), &mark)
		return status, mark.Watermark
	}
	events := r.answerOf(`[{"event_id":"e1","item_id":"a","event_time":"1995-08-01T12:00:00Z"},{"event_id":"e2","item_id":"a"}]`)
	require.Eventually(t, func() bool { return r.in.waiting.Load() == 1 }, testPatience, time.Millisecond)
	require.Eventually(t, func() bool {
		r.in.acc.mu.Lock()
		defer r.in.acc.mu.Unlock()
		return r.in.acc.newest > 0
	}, testPatience, time.Millisecond)
	end := time.Date(1995, 8, 2, 0, 0, 0, 0, time.UTC)
	status, mark := post(`{"watermark":"1995-08-02T00:00:00Z"}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, end, mark)
	require.Equal(t, http.StatusAccepted, <-events)
	status, mark = post(`{"watermark":"1995-08-01T00:00:00Z"}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, end, mark, "it never goes back")
	for _, bad := range []string{``, `{}`, `{"watermark":1}`, `{"watermark":"0001-01-01T00:00:00Z"}`, `{"watermark":"2106-01-01T00:00:00Z"}`} {
		status, _ = post(bad)
		require.Equal(t, http.StatusBadRequest, status, bad)
	}
	l := openLog(t, kafka.ListenAddrs())
	l.until("the watermark everywhere", func() bool {
		n := 0
		for _, m := range l.messages {
			if m.watermark == end.UnixMilli() {
				n++
			}
		}
		return n >= 2*2*testPartitions
	})
	require.Equal(t, map[string]int{"e1": 1}, l.ids())
}
