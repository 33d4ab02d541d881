// Package chdb binds libchdb, ClickHouse as a shared library, without cgo. The functions are those of
// programs/local/chdb.h in chdb-io/chdb-core 26.7; nothing here adds behaviour to them beyond Go types and errors.
package chdb

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is libchdb, loaded. One process runs one engine on one data directory, however many connections it opens.
type Library struct {
	version             func() string
	setSignalHandlers   func(enabled int32)
	connect             func(argc int32, argv unsafe.Pointer) uintptr
	closeConn           func(conn uintptr)
	shutdown            func() int32
	query               paramsCall
	destroyResult       func(result uintptr)
	resultBuffer        func(result uintptr) unsafe.Pointer
	resultLength        func(result uintptr) uint64
	resultError         func(result uintptr) unsafe.Pointer
	resultRowsRead      func(result uintptr) uint64
	resultStorageRows   func(result uintptr) uint64
	resultStorageBytes  func(result uintptr) uint64
	resultRowsWritten   func(result uintptr) uint64
	resultBytesWritten  func(result uintptr) uint64
	streamInsert        paramsCall
	streamAppend        func(stream uintptr, data unsafe.Pointer, length uint64) int32
	streamDone          func(stream uintptr) uintptr
	streamCancelInsert  func(stream uintptr)
	streamInsertError   func(stream uintptr) unsafe.Pointer
	destroyInsertStream func(stream uintptr)
}

// paramsCall is the shape that the query and insert calls with bound parameters share.
type paramsCall func(conn uintptr, query unsafe.Pointer, queryLen uint64, format unsafe.Pointer, formatLen uint64,
	names, nameLens, values, valueLens unsafe.Pointer, count uint64) uintptr

// Load opens the library at path and turns its signal handlers off: the Go runtime owns the signals of this process.
func Load(path string) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	lib := &Library{}
	for name, target := range lib.symbols() {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, fmt.Errorf("%s is not libchdb 26.7: %w", path, err)
		}
		purego.RegisterFunc(target, symbol)
	}
	lib.setSignalHandlers(0)
	return lib, nil
}

func (l *Library) symbols() map[string]any {
	return map[string]any{
		"chdb_version":                     &l.version,
		"chdb_set_signal_handlers_enabled": &l.setSignalHandlers,
		"chdb_connect":                     &l.connect,
		"chdb_close_conn":                  &l.closeConn,
		"chdb_shutdown":                    &l.shutdown,
		"chdb_query_with_params_n":         &l.query,
		"chdb_destroy_query_result":        &l.destroyResult,
		"chdb_result_buffer":               &l.resultBuffer,
		"chdb_result_length":               &l.resultLength,
		"chdb_result_error":                &l.resultError,
		"chdb_result_rows_read":            &l.resultRowsRead,
		"chdb_result_storage_rows_read":    &l.resultStorageRows,
		"chdb_result_storage_bytes_read":   &l.resultStorageBytes,
		"chdb_result_rows_written":         &l.resultRowsWritten,
		"chdb_result_bytes_written":        &l.resultBytesWritten,
		"chdb_stream_insert_with_params_n": &l.streamInsert,
		"chdb_stream_append":               &l.streamAppend,
		"chdb_stream_done":                 &l.streamDone,
		"chdb_stream_cancel_insert":        &l.streamCancelInsert,
		"chdb_stream_insert_error":         &l.streamInsertError,
		"chdb_destroy_insert_stream":       &l.destroyInsertStream,
	}
}

// Version is the library's own, e.g. "26.7.3".
func (l *Library) Version() string { return l.version() }

// Shutdown stops the engine and joins its threads. Every connection must be closed; no connection can be opened after.
func (l *Library) Shutdown() error {
	if l.shutdown() != 0 {
		return fmt.Errorf("a connection is still open or an engine thread did not stop")
	}
	return nil
}
