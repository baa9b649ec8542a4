package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// lifetime controls what an operation may still begin: it holds the contexts, the gate for requests, and the failures
// of the operation as a whole. It is safe for concurrent use.
type lifetime struct {
	gate          gate
	told          atomic.Bool // the reason for the failure was already reported in full (E4.130)
	terminated    atomic.Bool // abandoned (E5.51): nothing is written or reported any more
	programFailed atomic.Bool // the program ended with an error
	incomplete    atomic.Bool // a registration failed before its resource was known; nothing is deleted at the end

	// running is cancelled when nothing new may start: after an interrupt or a failure (E5.42). calls is cancelled when
	// provider calls in flight are abandoned as well (E5.51). They are fields because they bound the operation, not a
	// single request.
	running context.Context
	stop    context.CancelFunc
	calls   context.Context
	// interrupted is closed by the user's interrupt.
	interrupted <-chan struct{}
	crash       func(fault any) // receives panics; nil lets them end the process
}

// newLifetime returns the lifetime of an operation that ends with ctx. calls is the context of provider calls; nil
// stands for one that ends with ctx.
func newLifetime(ctx, calls context.Context, crash func(any)) *lifetime {
	l := &lifetime{interrupted: ctx.Done(), crash: crash, gate: gate{drained: make(chan struct{})}}
	l.running, l.stop = context.WithCancel(ctx)
	if l.calls = calls; calls == nil {
		l.calls = l.running
	}
	return l
}

// leave ends a request. It is deferred right after enter, and passes a panic of the request to crash.
func (l *lifetime) leave() {
	if l.crash != nil { // the request may run on any goroutine of the process that serves the monitor
		if fault := recover(); fault != nil {
			l.crash(fault)
		}
	}
	l.gate.requests.Done()
}

// guard passes a panic to crash. A goroutine defers it last, so that it runs before any deferred call that waits for a
// lock that the panicking function holds.
func (l *lifetime) guard() {
	if l.crash == nil {
		return
	}
	if fault := recover(); fault != nil {
		l.crash(fault)
	}
}

// abort ends the operation, ContinueOnError or not, without a final message (E4.130). It returns monitor.ErrReported.
func (l *lifetime) abort() error {
	l.told.Store(true)
	l.stop()
	return monitor.ErrReported
}

// isInterrupted reports whether the user has interrupted the operation.
func (l *lifetime) isInterrupted() bool { return resources.Closed(l.interrupted) }

// gate admits requests of the program until it is closed. It is safe for concurrent use.
type gate struct {
	requests sync.WaitGroup
	drained  chan struct{} // closed when all steps have ended

	mu      sync.Mutex    // guards the rest
	closed  bool          // no more requests
	waiting bool          // the program is waiting for the shutdown
	signal  chan struct{} // closed by shutDown; nil while no program runs
}

// enter registers a request. It returns monitor.ErrShutdown once the operation accepts no more. Every successful call
// is paired with leave.
func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return monitor.ErrShutdown
	}
	g.requests.Add(1)
	return nil
}

// closeRequests refuses further requests and waits for the current ones.
func (g *gate) closeRequests() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.requests.Wait()
}

// beginProgram returns a channel that is closed when the program announces that it makes no further requests.
func (g *gate) beginProgram() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.signal = make(chan struct{})
	return g.signal
}

// shutDown closes the gate on behalf of the program, and waits until all steps have ended (E2.68).
func (g *gate) shutDown(ctx context.Context) error {
	g.mu.Lock()
	if g.waiting {
		g.mu.Unlock()
		return errors.New("already waiting for shutdown")
	}
	g.waiting, g.closed = true, true
	signal := g.signal
	g.mu.Unlock()
	if signal != nil {
		close(signal)
	}
	select {
	case <-g.drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finishWaiting releases a program that waits for the shutdown.
func (g *gate) finishWaiting() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !resources.Closed(g.drained) {
		close(g.drained)
	}
}
