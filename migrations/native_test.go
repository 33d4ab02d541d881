package migrations

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The stock migrate tool speaks ClickHouse's native protocol only, the embedded engine HTTP only. native lets the one run
// against the other: it understands as much of the protocol, at the revision below, as that tool uses.
type native struct {
	http string // base URL of the engine
}

const (
	nativeRevision = 54057 // without time zone and quota key

	clientHello, clientQuery, clientData, clientPing          = 0, 1, 2, 4
	serverHello, serverData, serverException, serverPong, eos = 0, 1, 2, 4, 5
)

// listenNative returns the address of a listener that lives as long as the test.
func listenNative(t *testing.T, engine string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go native{http: engine}.serve(conn)
		}
	}()
	return listener.Addr().String()
}

type nativeConn struct {
	*bufio.Reader
	out      *bufio.Writer
	database string
}

func (n native) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }() // the client may have closed it
	c := &nativeConn{Reader: bufio.NewReader(conn), out: bufio.NewWriter(conn)}
	for {
		packet, err := binary.ReadUvarint(c)
		if err == nil {
			err = n.answer(c, packet)
		}
		if err != nil {
			return
		}
		if err := c.out.Flush(); err != nil {
			return
		}
	}
}

func (n native) answer(c *nativeConn, packet uint64) error {
	switch packet {
	case clientHello:
		c.strings(1)
		c.uvarints(3)
		c.database = c.string()
		c.strings(2)
		c.put(serverHello)
		c.putString("ClickHouse")
		c.put(26, 7, nativeRevision)
	case clientPing:
		c.put(serverPong)
	case clientQuery:
		return n.query(c, c.queryText())
	default:
		return fmt.Errorf("packet %d", packet)
	}
	return nil
}

// query runs one statement. An INSERT is one of golang-migrate's own: into its version table.
func (n native) query(c *nativeConn, query string) error {
	if !strings.HasPrefix(query, "INSERT") {
		return n.relay(c, query, nil)
	}
	c.putBlock([]byte("\x03\x00\x07version\x05Int64\x05dirty\x05UInt8\x08sequence\x06UInt64"))
	if err := c.out.Flush(); err != nil {
		return err
	}
	rows := c.data()
	if last := c.data(); len(last) != 2 {
		return errors.New("expected the end of the data")
	}
	return n.relay(c, strings.TrimSuffix(strings.TrimSpace(query), "VALUES")+" FORMAT Native", rows)
}

func (n native) relay(c *nativeConn, query string, body []byte) error {
	parameters := url.Values{"database": {c.database}, "default_format": {"Native"}}
	if body == nil {
		body = []byte(query)
	} else {
		parameters.Set("query", query)
	}
	response, err := http.Post(n.http+"/?"+parameters.Encode(), "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		c.put(serverException)
		_ = binary.Write(c.out, binary.LittleEndian, int32(1)) // an error stays in the writer until Flush
		c.putString("DB::Exception")
		c.putString(string(answer))
		c.putString("")
		c.put(0)
		return nil
	}
	if len(answer) == 0 {
		answer = []byte{0, 0}
	}
	blocks := &nativeConn{Reader: bufio.NewReader(bytes.NewReader(answer))}
	for first := true; blocks.more(); first = false {
		header, block := blocks.block()
		if first {
			c.putBlock(header) // over TCP, a result begins with a block without rows
		}
		c.putBlock(block)
	}
	c.put(eos)
	return nil
}

// queryText reads a query packet, and the empty block that follows it.
func (c *nativeConn) queryText() string {
	c.strings(1)
	c.uvarints(1)
	c.strings(3)
	c.uvarints(1)
	c.strings(3)
	c.uvarints(3)
	for c.string() != "" {
		c.strings(1)
	}
	c.uvarints(2)
	text := c.string()
	c.data()
	return text
}

// data reads a data packet.
func (c *nativeConn) data() []byte {
	c.uvarints(1)
	c.strings(1)
	c.uvarints(1)
	c.skip(1)
	c.uvarints(1)
	c.skip(4)
	c.uvarints(1)
	_, block := c.block()
	return block
}

func (c *nativeConn) more() bool {
	_, err := c.Peek(1)
	return err == nil
}

// block reads one block, of the types that golang-migrate asks for, and returns its bytes without and with its rows.
func (c *nativeConn) block() (header, block []byte) {
	columns, rows := c.uvarint(), c.uvarint()
	header = append(binary.AppendUvarint(nil, columns), 0)
	block = binary.AppendUvarint(binary.AppendUvarint(nil, columns), rows)
	for range columns {
		name, kind := c.string(), c.string()
		header = text(header, name, kind)
		block = text(block, name, kind)
		width := map[string]uint64{"Int64": 8, "UInt8": 1, "UInt64": 8}[kind]
		block = append(block, c.skip(width*rows)...)
		for range rows {
			if kind == "String" {
				block = text(block, c.string())
			}
		}
	}
	return header, block
}

// A read error gives zeroes here and ends the connection at the next packet.
func (c *nativeConn) uvarint() uint64 {
	v, err := binary.ReadUvarint(c)
	if err != nil {
		return 0
	}
	return v
}

func (c *nativeConn) skip(n uint64) []byte {
	b := make([]byte, min(n, 1<<20))
	_, _ = io.ReadFull(c, b)
	return b
}

func (c *nativeConn) string() string { return string(c.skip(c.uvarint())) }

func (c *nativeConn) strings(n int) {
	for range n {
		c.string()
	}
}

func (c *nativeConn) uvarints(n int) {
	for range n {
		c.uvarint()
	}
}

func (c *nativeConn) put(values ...uint64) {
	for _, v := range values {
		_, _ = c.out.Write(binary.AppendUvarint(nil, v))
	}
}

func (c *nativeConn) putString(s string) {
	c.put(uint64(len(s)))
	_, _ = c.out.WriteString(s)
}

// putBlock writes a block as HTTP gives it, with the block info that TCP has in front.
func (c *nativeConn) putBlock(block []byte) {
	c.put(serverData)
	c.putString("")
	_, _ = c.out.Write([]byte{1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0})
	_, _ = c.out.Write(block)
}
