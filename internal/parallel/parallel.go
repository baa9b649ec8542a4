// Package parallel does pieces of work that do not depend on each other on all processors.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls do for every number from 0 up to, but not including, n, and returns when all calls have returned. The
// numbers are taken in batches; the calls of one batch run one after the other. Several batches run at the same time
// where there are several processors. If a call panics, Each ends the rest and panics with a Panic.
func Each(n, batch int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), (n+batch-1)/batch)
	if workers <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var taken atomic.Int64
	var failed atomic.Pointer[Panic]
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				failed.CompareAndSwap(nil, &Panic{Value: r, Stack: debug.Stack()})
			}
		}()
		for failed.Load() == nil {
			end := int(taken.Add(int64(batch)))
			if end-batch >= n {
				return
			}
			for i := end - batch; i < min(end, n); i++ {
				do(i)
			}
		}
	}
	var wait sync.WaitGroup
	for range workers - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	if p := failed.Load(); p != nil {
		panic(*p)
	}
}

// Panic holds the value that a call has panicked with, and its stack.
type Panic struct {
	Value any
	Stack []byte
}

// Error is the value and the stack.
func (p Panic) Error() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Memo computes a result once for each key: a value, and an error or another fault. The zero Memo is empty. It is safe
// for concurrent use.
type Memo[K comparable, V, E any] struct{ made sync.Map }

// Get returns the result for a key. The first call for a key computes it, and the others wait for that.
func (m *Memo[K, V, E]) Get(key K, compute func() (V, E)) (V, E) {
	made, known := m.made.Load(key)
	if !known {
		made, _ = m.made.LoadOrStore(key, sync.OnceValues(compute))
	}
	return made.(func() (V, E))()
}
