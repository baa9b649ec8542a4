// Package parallel runs independent pieces of work on all processors.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls do for the numbers 0 to n-1, and returns when all calls have returned. The numbers are taken in batches;
// the calls of one batch run in order, and several batches run concurrently on several processors. If a call panics,
// Each stops the rest and panics with a Panic.
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

// Panic holds the value and the stack of a panic in a call.
type Panic struct {
	Value any
	Stack []byte
}

// Error returns the value and the stack.
func (p Panic) Error() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Memo computes a result, a value and an error or another fault, once for each key. The zero Memo is empty. It is safe
// for concurrent use.
type Memo[K comparable, V, E any] struct{ made sync.Map }

// Get returns the result for a key. The first call for a key computes it; concurrent calls wait for it.
func (m *Memo[K, V, E]) Get(key K, compute func() (V, E)) (V, E) {
	made, known := m.made.Load(key)
	if !known {
		made, _ = m.made.LoadOrStore(key, sync.OnceValues(compute))
	}
	return made.(func() (V, E))()
}
