package chdb

import (
	"errors"
	"runtime"
	"sync"
	"unsafe"
)

// Param is a named query parameter; the engine parses Value by the type in the placeholder.
type Param struct{ Name, Value string }

// Connection runs one statement at a time. It is not safe for concurrent use.
type Connection struct {
	lib    *Library
	handle uintptr // chdb_connection *
	inner  uintptr // chdb_connection
}

// connecting serialises chdb_connect: the first call boots the engine with its arguments.
var connecting sync.Mutex

// Connect opens a connection. The first one boots the engine, and only its arguments name the data path and the
// server's configuration; arguments that name query settings belong to the connection.
func (l *Library) Connect(args ...string) (*Connection, error) {
	connecting.Lock()
	defer connecting.Unlock()
	var pin pinned
	defer pin.release()
	argv := make([]unsafe.Pointer, 0, len(args)+2)
	for _, arg := range append([]string{"clickhouse"}, args...) {
		argv = append(argv, pin.cstring(arg))
	}
	argc := int32(len(argv))
	argv = append(argv, nil)
	handle := l.connect(argc, pin.pointers(argv))
	if handle == 0 {
		return nil, errors.New("the engine refused the connection; its log says why")
	}
	return &Connection{lib: l, handle: handle, inner: *(*uintptr)(address(handle))}, nil
}

// Close ends the connection with its session: temporary tables, settings and database.
func (c *Connection) Close() {
	if c.handle != 0 {
		c.lib.closeConn(c.handle)
		c.handle, c.inner = 0, 0
	}
}

// Statistics are what a statement read and wrote, views included.
type Statistics struct {
	RowsRead, BytesRead, RowsWritten, BytesWritten, ResultRows uint64
}

// Query runs a statement and returns its whole result.
func (c *Connection) Query(query, format string, params []Param) ([]byte, Statistics, error) {
	result := c.call(c.lib.query, query, format, params)
	return c.lib.take(result)
}

// Insert starts an INSERT without FORMAT clause or data; the data is appended in the given format.
func (c *Connection) Insert(query, format string, params []Param) (*Insert, error) {
	handle := c.call(c.lib.streamInsert, query, format, params)
	if handle == 0 {
		return nil, errNoResult
	}
	insert := &Insert{lib: c.lib, handle: handle}
	if err := insert.error(); err != nil {
		insert.Destroy()
		return nil, err
	}
	return insert, nil
}

func (c *Connection) call(function paramsCall, query, format string, params []Param) uintptr {
	var pin pinned
	defer pin.release()
	names, nameLens := make([]unsafe.Pointer, len(params)), make([]uint64, len(params))
	values, valueLens := make([]unsafe.Pointer, len(params)), make([]uint64, len(params))
	for i, param := range params {
		names[i], nameLens[i] = pin.cstring(param.Name), uint64(len(param.Name))
		values[i], valueLens[i] = pin.cstring(param.Value), uint64(len(param.Value))
	}
	return function(c.inner, pin.cstring(query), uint64(len(query)), pin.cstring(format), uint64(len(format)),
		pin.pointers(names), pin.sizes(nameLens), pin.pointers(values), pin.sizes(valueLens), uint64(len(params)))
}

// pinned keeps Go memory in place and alive for the length of one C call.
type pinned struct{ pinner runtime.Pinner }

func (p *pinned) release() { p.pinner.Unpin() }

func (p *pinned) cstring(text string) unsafe.Pointer {
	buffer := append([]byte(text), 0)
	p.pinner.Pin(&buffer[0])
	return unsafe.Pointer(&buffer[0])
}

func (p *pinned) pointers(list []unsafe.Pointer) unsafe.Pointer {
	if len(list) == 0 {
		return nil
	}
	p.pinner.Pin(&list[0])
	return unsafe.Pointer(&list[0])
}

func (p *pinned) sizes(list []uint64) unsafe.Pointer {
	if len(list) == 0 {
		return nil
	}
	p.pinner.Pin(&list[0])
	return unsafe.Pointer(&list[0])
}
