package api

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// net/http writes an answer of more than 4 kB in two system calls: its buffer, which is the header and the beginning of
// the body, then the rest. On a fast line the calls are most of a request's cost, so the first part waits for the second.

// gatherListener accepts connections that can gather.
type gatherListener struct{ net.Listener }

// Accept implements net.Listener.
func (l gatherListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &gatherConn{Conn: conn}, nil
}

// gatherConn is a connection whose writes can be held back. Only the goroutine that serves the connection writes to it.
type gatherConn struct {
	net.Conn
	holding bool
	held    *[]byte     // a copy, because the writer uses its buffer again; nil when nothing is held
	parts   [2][]byte   // what one system call writes
	buffers net.Buffers // parts, kept here so that a write allocates nothing
}

// heldBuffers lends connections the place for what they hold, which is for less than a request.
var heldBuffers = sync.Pool{New: func() any { b := make([]byte, 0, minGathered+1<<10); return &b }}

// Write sends what was held together with p, or holds p when it is the first since hold.
func (c *gatherConn) Write(p []byte) (int, error) {
	if !c.holding {
		return c.Conn.Write(p)
	}
	if c.held == nil {
		held, _ := heldBuffers.Get().(*[]byte) // it holds nothing else
		*held = append((*held)[:0], p...)
		c.held = held
		return len(p), nil
	}
	before := len(*c.held)
	c.parts = [2][]byte{*c.held, p}
	c.buffers = c.parts[:]
	n, err := c.buffers.WriteTo(c.Conn)
	c.parts = [2][]byte{}
	c.forget()
	return max(int(n)-before, 0), err
}

// hold keeps back the next write until there is another, or until release.
func (c *gatherConn) hold() { c.holding = true }

// release sends what is still held.
func (c *gatherConn) release() error {
	if c.held == nil {
		c.holding = false
		return nil
	}
	_, err := c.Conn.Write(*c.held)
	c.forget()
	return err
}

// forget ends holding.
func (c *gatherConn) forget() {
	heldBuffers.Put(c.held)
	c.held, c.holding = nil, false
}

type connKey struct{}

// withConn lets a handler find its connection.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// minGathered is the smallest body that does not fit into net/http's buffer beside the header.
const minGathered = 3 << 10

// writeWhole writes a body, in one system call with the header where that is possible.
func writeWhole(w http.ResponseWriter, r *http.Request, body []byte) error {
	conn, ok := r.Context().Value(connKey{}).(*gatherConn)
	if !ok || len(body) < minGathered {
		_, err := w.Write(body)
		return err
	}
	conn.hold()
	_, err := w.Write(body)
	if flushed := http.NewResponseController(w).Flush(); err == nil {
		err = flushed
	}
	if released := conn.release(); err == nil {
		err = released
	}
	return err
}
