package api

import (
	"bytes"
	"net"
	"time"
)

// frontConn is a connection at the front.
type frontConn struct {
	front *front
	conn  net.Conn

	buffer [maxPlainHeadBytes]byte
	filled int // bytes of buffer that are read and not answered

	// A client repeats itself: the same head as before needs no parsing.
	lastHead    []byte
	lastRequest *plainRequest

	readBy, writeBy time.Time // deadlines as they are set
	parts           [3][]byte
	out             net.Buffers
}

// serve answers plain requests until there is another kind, an error, or the end of the server.
func (c *frontConn) serve() {
	now := time.Now()
	c.readBy = now.Add(readHeaderTimeout)
	_ = c.conn.SetReadDeadline(c.readBy) // fails with the connection, and so does the read
	for {
		// The flag is looked at after the deadline was set: drain sets the flag first and the deadline then.
		if c.front.draining.Load() {
			_ = c.conn.Close() // between two requests
			return
		}
		n, err := c.conn.Read(c.buffer[c.filled:])
		if err != nil {
			_ = c.conn.Close() // the client has left, or said nothing for too long
			return
		}
		c.filled += n
		for c.filled > 0 {
			switch c.one() {
			case plainAnswered:
			case plainBroken:
				_ = c.conn.Close() // the client is gone
				return
			case plainUnknown:
				c.front.handover.give(c.conn, c.buffer[:c.filled])
				return
			}
		}
	}
}

// What became of a request.
type plainResult int

const (
	plainAnswered plainResult = iota
	plainUnknown              // not plain, or not whole: net/http's
	plainBroken               // the connection is
)

// one answers the first request in the buffer.
func (c *frontConn) one() plainResult {
	start := time.Now()
	size, request := c.parse()
	if request == nil {
		return plainUnknown
	}
	head, body, status, ok := c.front.answer(request, c.front.now())
	if !ok {
		return plainUnknown
	}
	c.extend(start)
	c.parts = [3][]byte{head, c.front.date.at(start), body}
	c.out = c.parts[:]
	_, err := c.out.WriteTo(c.conn)
	c.parts = [3][]byte{} // an idle connection keeps no list in memory
	if err != nil {
		return plainBroken
	}
	c.front.metrics.observe(status, time.Since(start))
	copy(c.buffer[:], c.buffer[size:c.filled])
	c.filled -= size
	return plainAnswered
}

// parse finds the first request in the buffer and how long its head is.
func (c *frontConn) parse() (size int, request *plainRequest) {
	read := c.buffer[:c.filled]
	if len(c.lastHead) > 0 && bytes.HasPrefix(read, c.lastHead) {
		return len(c.lastHead), c.lastRequest
	}
	end := bytes.Index(read, endOfHead)
	if end < 0 {
		return 0, nil
	}
	size = end + len(endOfHead)
	request, ok := c.front.slicing.parsePlain(read[:size])
	if !ok {
		return 0, nil
	}
	c.lastHead, c.lastRequest = append(c.lastHead[:0], read[:size]...), request
	return size, request
}

// extend moves the deadlines: the answer has writeTimeout from now, the next request idleTimeout.
func (c *frontConn) extend(now time.Time) {
	if by := now.Add(writeTimeout); by.Sub(c.writeBy) > deadlineSlack {
		c.writeBy = by
		_ = c.conn.SetWriteDeadline(by) // fails with the connection, and so does the write
	}
	if by := now.Add(idleTimeout); by.Sub(c.readBy) > deadlineSlack {
		c.readBy = by
		_ = c.conn.SetReadDeadline(by) // as above
	}
}
