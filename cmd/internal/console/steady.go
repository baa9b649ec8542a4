package console

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
)

// Steady is an output that never fails: a pipe whose reader has gone, or a full disk, must not stop an operation. Once
// a write has failed, nothing more is written, and fault tells why. It is safe for concurrent use.
type Steady struct {
	mu    sync.Mutex // guards what follows
	W     io.Writer
	Fault error
}

// Write writes p unless an earlier write has failed.
func (s *Steady) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Fault == nil {
		_, s.Fault = s.W.Write(p)
	}
	return len(p), nil
}

// Broken returns why the output could not be written; nil if it could. gone says that its reader is gone.
func (s *Steady) Broken() (fault error, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, closed := range []error{syscall.EPIPE, syscall.EBADF, syscall.EIO, os.ErrClosed, io.ErrClosedPipe} {
		gone = gone || errors.Is(s.Fault, closed)
	}
	return s.Fault, gone
}
