// Package slots limits the number of concurrent provider calls (--parallel).
package slots

import (
	"context"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Pool hands out a fixed number of slots. It is safe for concurrent use.
type Pool struct {
	running context.Context // no slot is handed out after it has ended
	tokens  chan struct{}   // one for each slot in use
	guard   func()          // deferred last in the goroutines of Each
}

// NewPool returns a pool of n slots. It hands out no slots after running has ended. guard is deferred in the goroutines
// that Each starts, so it may recover from panics.
func NewPool(running context.Context, n int, guard func()) *Pool {
	return &Pool{running: running, tokens: make(chan struct{}, n), guard: guard}
}

// Slot is the right of one goroutine to call providers. It is created without the right; see Take.
type Slot struct {
	pool  *Pool
	taken bool
}

// Slot returns a new slot that is not taken.
func (p *Pool) Slot() *Slot { return &Slot{pool: p} }

// Take waits for the right to call providers. It returns monitor.ErrShutdown if the operation or ctx has ended.
func (s *Slot) Take(ctx context.Context) error {
	p := s.pool
	if p.running.Err() != nil || ctx.Err() != nil {
		return monitor.ErrShutdown
	}
	select {
	case p.tokens <- struct{}{}:
	case <-p.running.Done():
		return monitor.ErrShutdown
	case <-ctx.Done():
		return monitor.ErrShutdown
	}
	if p.running.Err() != nil {
		<-p.tokens
		return monitor.ErrShutdown
	}
	s.taken = true
	return nil
}

// Free returns the slot to the pool, if it is taken.
func (s *Slot) Free() {
	if s.taken {
		s.taken = false
		<-s.pool.tokens
	}
}

// Wait frees the slot, waits until done is closed, and takes the slot again.
func (s *Slot) Wait(ctx context.Context, done <-chan struct{}) error {
	s.Free()
	if err := s.pool.Wait(ctx, done); err != nil {
		return err
	}
	return s.Take(ctx)
}

// Wait waits until done is closed. It returns monitor.ErrShutdown if the operation or ctx ends first.
func (p *Pool) Wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-p.running.Done():
	case <-ctx.Done():
	}
	return monitor.ErrShutdown
}

// Each calls fn for 0 to n-1 in ascending order, concurrently within the limit of the pool, and returns when all calls
// have returned. It starts no more calls once the operation has ended.
func (p *Pool) Each(n int, fn func(i int)) {
	var group sync.WaitGroup
	defer group.Wait()
	for i := range n {
		s := p.Slot()
		if s.Take(p.running) != nil {
			return
		}
		group.Go(func() {
			defer s.Free()
			defer p.guard()
			fn(i)
		})
	}
}
