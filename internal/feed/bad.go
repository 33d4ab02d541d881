package feed

import (
	"strings"
	"time"
)

// badEvents are events that an ingestor must reject, each for a reason of its own. ID and TIME stand for a good id and a
// good time. Every one is an object of valid JSON: what is not costs a client its batch, and that is another test.
var badEvents = []string{
	`{}`,
	`{"item_id":"no_id","event_time":TIME}`,
	`{"event_id":"","item_id":"empty_id","event_time":TIME}`,
	`{"event_id":"` + strings.Repeat("x", 65) + `","item_id":"long_id","event_time":TIME}`,
	`{"event_id":ID,"event_time":TIME}`,
	`{"event_id":ID,"item_id":"","event_time":TIME}`,
	`{"event_id":ID,"item_id":"` + strings.Repeat("x", 257) + `","event_time":TIME}`,
	`{"event_id":ID,"item_id":"nul\u0000","event_time":TIME}`,
	`{"event_id":ID,"item_id":"line\nbreak","event_time":TIME}`,
	`{"event_id":ID,"item_id":"lone\ud800","event_time":TIME}`,
	`{"event_id":ID,"item_id":7,"event_time":TIME}`,
	`{"event_id":ID,"item_type":"Video","item_id":"bad_type","event_time":TIME}`,
	`{"event_id":ID,"item_id":"bad_time","event_time":"yesterday"}`,
	`{"event_id":ID,"item_id":"bad_time","event_time":1.5}`,
	`{"event_id":ID,"item_id":"bad_time","event_time":-1}`,
	`{"event_id":ID,"item_id":"too_old","event_time":"1971-01-01T00:00:00Z"}`,
	`{"event_id":ID,"item_id":"bad_country","event_time":TIME,"country":"Germany"}`,
	`{"event_id":ID,"item_id":"bad_language","event_time":TIME,"language":"en-US"}`,
	`{"event_id":ID,"item_id":"bad_category","event_time":TIME,"category":"` + strings.Repeat("x", 65) + `"}`,
	`{"event_id":ID,"item_id":"bad_viewer","event_time":TIME,"viewer":"` + strings.Repeat("x", 65) + `"}`,
	`{"event_id":ID,"item_id":"bad_flags","event_time":TIME,"flags":"bot"}`,
}

// appendBad appends one of badEvents, chosen by chance.
func (s *stream) appendBad(dst []byte, chance uint64, now time.Time) []byte {
	text := badEvents[chance%uint64(len(badEvents))]
	id := string(s.appendID(nil)[len(`{"event_id":`):])
	text = strings.Replace(text, "ID", id, 1)
	text = strings.Replace(text, "TIME", `"`+now.UTC().Format(time.RFC3339Nano)+`"`, 1)
	return append(dst, text...)
}
