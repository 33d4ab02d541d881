package api

import (
	"net/http"
	"sync/atomic"
	"time"
)

// dateLine is the end of a head, with the Date of the second: it is made once a second.
type dateLine struct {
	current atomic.Pointer[dated]
}

type dated struct {
	second int64
	line   []byte
}

// at returns "Date: ..." and the empty line that ends a head.
func (d *dateLine) at(now time.Time) []byte {
	second := now.Unix()
	if held := d.current.Load(); held != nil && held.second == second {
		return held.line
	}
	made := &dated{second: second, line: []byte("Date: " + now.UTC().Format(http.TimeFormat) + "\r\n\r\n")}
	d.current.Store(made)
	return made.line
}
