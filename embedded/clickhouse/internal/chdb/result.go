package chdb

import (
	"errors"
	"unsafe"
)

var errNoResult = errors.New("the engine returned no result")

// Insert is a running INSERT. Its calls must not run at the same time.
type Insert struct {
	lib    *Library
	handle uintptr
}

// Append hands over bytes in the insert's format; the engine copies them, and blocks while it is behind.
func (i *Insert) Append(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if i.lib.streamAppend(i.handle, unsafe.Pointer(&data[0]), uint64(len(data))) == 0 {
		return nil
	}
	if err := i.error(); err != nil {
		return err
	}
	return errors.New("the insert had already failed")
}

// Done ends the data and commits.
func (i *Insert) Done() (Statistics, error) {
	_, statistics, err := i.lib.take(i.lib.streamDone(i.handle))
	return statistics, err
}

// Cancel gives the insert up; blocks that were already written stay, as in ClickHouse.
func (i *Insert) Cancel() { i.lib.streamCancelInsert(i.handle) }

// Destroy frees the handle; it must be called once, whatever happened.
func (i *Insert) Destroy() {
	if i.handle != 0 {
		i.lib.destroyInsertStream(i.handle)
		i.handle = 0
	}
}

func (i *Insert) error() error {
	if text := goString(i.lib.streamInsertError(i.handle)); text != "" {
		return errors.New(text)
	}
	return nil
}

// take copies a result into Go memory and frees it.
func (l *Library) take(result uintptr) ([]byte, Statistics, error) {
	if result == 0 {
		return nil, Statistics{}, errNoResult
	}
	defer l.destroyResult(result)
	if err := l.errorOf(result); err != nil {
		return nil, Statistics{}, err
	}
	statistics := Statistics{
		RowsRead: l.resultStorageRows(result), BytesRead: l.resultStorageBytes(result),
		RowsWritten: l.resultRowsWritten(result), BytesWritten: l.resultBytesWritten(result),
		ResultRows: l.resultRowsRead(result),
	}
	length := l.resultLength(result)
	if length == 0 {
		return nil, statistics, nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(l.resultBuffer(result)), length)...), statistics, nil
}

func (l *Library) errorOf(result uintptr) error {
	if text := goString(l.resultError(result)); text != "" {
		return errors.New(text)
	}
	return nil
}

func goString(text unsafe.Pointer) string {
	if text == nil {
		return ""
	}
	length := 0
	for *(*byte)(unsafe.Add(text, length)) != 0 {
		length++
	}
	return string(unsafe.Slice((*byte)(text), length))
}

// address turns a C address into a pointer. The memory is the library's, never Go's.
func address(value uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&value)) }
