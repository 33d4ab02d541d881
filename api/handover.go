package api

import (
	"net"
	"sync"
	"time"
)

// handover is a listener whose connections come from the front: those that need more than the plainest requests.
type handover struct {
	address net.Addr
	conns   chan net.Conn
	closed  chan struct{}
	close   sync.Once
}

func newHandover(address net.Addr) *handover {
	return &handover{address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// give passes a connection on with the bytes that were read from it already.
func (h *handover) give(conn net.Conn, read []byte) {
	// net/http sets its own deadlines. A failure to lift the old ones means the connection is broken, which it notices.
	_ = conn.SetDeadline(time.Time{})
	replayed := &replayConn{Conn: conn, read: append([]byte(nil), read...)}
	select {
	case h.conns <- replayed:
	case <-h.closed:
		_ = conn.Close() // nobody is left to serve it
	}
}

// Accept implements net.Listener.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handover) Close() error {
	h.close.Do(func() { close(h.closed) })
	return nil
}

// Addr implements net.Listener.
func (h *handover) Addr() net.Addr { return h.address }

// replayConn is a connection that is read from its beginning again.
type replayConn struct {
	net.Conn
	read []byte
}

// Read implements net.Conn.
func (c *replayConn) Read(p []byte) (int, error) {
	if len(c.read) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.read)
	if c.read = c.read[n:]; len(c.read) == 0 {
		c.read = nil
	}
	return n, nil
}
