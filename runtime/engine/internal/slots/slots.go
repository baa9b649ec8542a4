// Package slots limits how many operations go on at the same time (--parallel).
package slots

import (
	"context"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Pool has as many slots as operations may go on at the same time. It is safe for concurrent use.
type Pool struct {
	running context.Context // no slot is given out after it ends
	tokens  chan struct{}   // one for each slot that is taken
	guard   func()          // deferred last where Each begins a goroutine; nil for nothing
}

// NewPool makes a pool of n slots. No slot is given out once running has ended. guard is deferred in the goroutines
// that Each begins, so that it may recover from panics; nil for nothing.
func NewPool(running context.Context, n int, guard func()) *Pool {
	if guard == nil {
		guard = func() {}
	}
	return &Pool{running: running, tokens: make(chan struct{}, n), guard: guard}
}

// Slot is held by one goroutine while it talks to providers. The zero Slot of a pool is free; see Pool.Slot.
type Slot struct {
	pool  *Pool
	taken bool
}

// Slot returns a slot that is not taken yet.
func (p *Pool) Slot() *Slot { return &Slot{pool: p} }

// Take waits until a slot is free. The error is monitor.ErrShutdown when the operation or ctx has ended.
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

// Free gives the slot back, if it is taken.
func (s *Slot) Free() {
	if s.taken {
		s.taken = false
		<-s.pool.tokens
	}
}

// Wait waits for a channel to be closed, without the slot, and takes one again.
func (s *Slot) Wait(ctx context.Context, done <-chan struct{}) error {
	s.Free()
	if err := s.pool.Wait(ctx, done); err != nil {
		return err
	}
	return s.Take(ctx)
}

// Wait waits for a channel to be closed. The error is monitor.ErrShutdown when the operation or ctx ends first.
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

// Each runs fn for 0 to n-1, as many at the same time as there are slots, and returns when all are over. Once the
// operation has ended no more are begun. The calls begin in ascending order.
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
