package cli

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
)

// steady is an output that never fails: a pipe whose reader has gone, or a full disk, must not stop an operation. Once a write
// has failed, nothing more is written, and fault tells why. It is safe for concurrent use.
type steady struct {
	mu    sync.Mutex // guards what follows
	w     io.Writer
	fault error
}

// Write writes p unless an earlier write has failed.
func (s *steady) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		_, s.fault = s.w.Write(p)
	}
	return len(p), nil
}

// broken is why the output could not be written; nil if it could. gone says that nobody reads it any more.
func (s *steady) broken() (fault error, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, closed := range []error{syscall.EPIPE, syscall.EBADF, syscall.EIO, os.ErrClosed, io.ErrClosedPipe} {
		gone = gone || errors.Is(s.fault, closed)
	}
	return s.fault, gone
}
