// Package patient reads files that may make the reader wait for ever, such as named pipes, without losing sight of a
// context.
package patient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// ErrTooLarge is returned when a file has more bytes than were asked for.
var ErrTooLarge = errors.New("the file is too large")

// ReadFileUpTo is os.ReadFile for a file of at most limit bytes; another one, or one without an end, gives
// ErrTooLarge. A cancelled ctx ends it with its error. A goroutine then goes on reading, and ends with the process at
// the latest: a system call that waits for the other end of a pipe cannot be cancelled.
func ReadFileUpTo(ctx context.Context, path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() || ctx.Done() == nil {
		return read(path, limit)
	}
	type answer struct {
		data []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		data, err := read(path, limit)
		answers <- answer{data, err}
	}()
	select {
	case a := <-answers:
		return a.data, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read is ReadFileUpTo without a context.
func read(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int64(0)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if size = info.Size(); size > limit {
			return nil, ErrTooLarge
		}
	}
	var data bytes.Buffer
	data.Grow(int(size) + bytes.MinRead) // large files are read without a copy
	_, err = data.ReadFrom(io.LimitReader(f, limit+1))
	if err == nil && int64(data.Len()) > limit {
		return nil, ErrTooLarge
	}
	return data.Bytes(), err
}
