package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// lifetime says how far an operation has come and what may still begin. It is safe for concurrent use.
type lifetime struct {
	// running ends when nothing new may start: the user has interrupted, or something failed (E5.42). calls ends when
	// provider calls in flight are given up as well (E5.51). They are the operation's own lifetime, which no single
	// request's context has.
	running context.Context
	stop    context.CancelFunc
	calls   context.Context
	// interrupted is closed when the user has interrupted.
	interrupted <-chan struct{}
	crash       func(fault any) // receives panics; nil lets them end the process

	requests sync.WaitGroup
	drained  chan struct{} // closed when all steps are over
	over     chan struct{} // closed when the operation has ended

	mu            sync.Mutex    // guards the rest
	closed        bool          // no more requests
	waiting       bool          // somebody waits for the shutdown
	signal        chan struct{} // closed when somebody does; nil while no program runs
	aborted       bool          // the reason for the failure was told in full; no line follows (E4.130)
	terminated    bool          // given up at once (E5.51)
	programFailed bool          // the program ended with an error
	deletionsDone bool          // deletions were begun
}

// newLifetime begins an operation that ends with ctx. calls is the context of provider calls; nil for one that ends
// with ctx.
func newLifetime(ctx, calls context.Context, crash func(any)) *lifetime {
	l := &lifetime{interrupted: ctx.Done(), crash: crash, drained: make(chan struct{}), over: make(chan struct{})}
	l.running, l.stop = context.WithCancel(ctx)
	if l.calls = calls; calls == nil {
		l.calls = l.running
	}
	return l
}

// enter admits a request, unless no more are: then it returns monitor.ErrShutdown. leave must be called when the
// request is over.
func (l *lifetime) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return monitor.ErrShutdown
	}
	l.requests.Add(1)
	return nil
}

// leave ends a request. It is deferred right after enter, and tells of a panic in the request.
func (l *lifetime) leave() {
	if l.crash != nil { // a request may come in a goroutine of anyone who offers the monitor
		if fault := recover(); fault != nil {
			l.crash(fault)
		}
	}
	l.requests.Done()
}

// guard reports a panic. A goroutine defers it last, so that it runs before anything waits for a lock that the
// panicking function holds.
func (l *lifetime) guard() {
	if l.crash == nil {
		return
	}
	if fault := recover(); fault != nil {
		l.crash(fault)
	}
}

// closeRequests admits no more requests and waits for those under way.
func (l *lifetime) closeRequests() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.requests.Wait()
}

// abort stops the operation, whatever was asked, with nothing more to say than was said (E4.130).
func (l *lifetime) abort() error {
	l.mu.Lock()
	l.aborted = true
	l.mu.Unlock()
	l.stop()
	return monitor.ErrReported
}

// terminate gives the operation up at once (E5.51).
func (l *lifetime) terminate() {
	l.mu.Lock()
	l.terminated = true
	l.mu.Unlock()
	l.stop()
}

// isTerminated reports whether the operation was given up at once. Then nothing is written or reported any more.
func (l *lifetime) isTerminated() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.terminated
}

// beginProgram returns what is closed when the program asks for nothing more.
func (l *lifetime) beginProgram() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signal = make(chan struct{})
	return l.signal
}

// failProgram takes note that the program ended with an error.
func (l *lifetime) failProgram() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.programFailed = true
}

// beginDeletions reports whether deletions have begun already, from now on yes. A program that waits for the shutdown
// has them happen while it waits; the phase that comes after programs then has nothing to do.
func (l *lifetime) beginDeletions() (already bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	already, l.deletionsDone = l.deletionsDone, true
	return already
}

// faults says whether the reason for a failure was told in full, and whether the program failed.
func (l *lifetime) faults() (aborted, programFailed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.aborted, l.programFailed
}

// waitForShutdown says that the program asks for nothing more, and waits until all steps are over.
func (l *lifetime) waitForShutdown(ctx context.Context) error {
	l.mu.Lock()
	if l.waiting {
		l.mu.Unlock()
		return errors.New("already waiting for shutdown")
	}
	l.waiting, l.closed = true, true
	signal := l.signal
	l.mu.Unlock()
	if signal != nil {
		close(signal)
	}
	select {
	case <-l.drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finishWaiting lets the one who waits for the shutdown go on.
func (l *lifetime) finishWaiting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !resources.Closed(l.drained) {
		close(l.drained)
	}
}
