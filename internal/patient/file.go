// Package patient reads files that may make the reader wait for ever, such as named pipes, without losing sight of a context.
package patient

import (
	"context"
	"os"
)

// ReadFile is os.ReadFile that a cancelled ctx ends with its error. What was being read is then left to a goroutine, which
// ends with the process at the latest: a system call that waits for the other end of a pipe cannot be called back.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() || ctx.Done() == nil {
		return os.ReadFile(path)
	}
	type answer struct {
		data []byte
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		data, err := os.ReadFile(path)
		read <- answer{data, err}
	}()
	select {
	case a := <-read:
		return a.data, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
