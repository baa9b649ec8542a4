package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// hardLimit is how long a command may take to end after the second signal. Then the process ends without it: the
// journal is as after a kill.
const hardLimit = 1500 * time.Millisecond

// interrupts turns signals into a gentle end and, at the second, an immediate one (D10, E5.50, E5.51).
type interrupts struct {
	First    chan struct{}
	Second   chan struct{}
	done     chan struct{}
	lines    chan string // messages to show
	finished sync.WaitGroup
	said     sync.WaitGroup

	deadline chan time.Duration // tells of the time that is over; see Deadline
	timer    *time.Timer

	mu        sync.Mutex
	announced string // what the first signal says, guarded by mu
	timedOut  bool   // the first interrupt was the end of the time; guarded by mu
}

// Watch starts to listen for signals; stop ends it. end is called when a command does not finish after the
// second signal; it does not return. nil lets the command take its time.
func Watch(signals <-chan os.Signal, err io.Writer, end func()) *interrupts {
	i := &interrupts{First: make(chan struct{}), Second: make(chan struct{}), done: make(chan struct{}),
		lines: make(chan string, 3), deadline: make(chan time.Duration, 1)}
	// A terminal that takes no output must not keep signals from being heard.
	i.said.Go(func() {
		for line := range i.lines {
			fmt.Fprintln(err, line)
		}
	})
	i.finished.Go(func() {
		defer close(i.lines)
		after, ok := i.first(signals)
		if !ok {
			return
		}
		close(i.First)
		if after > 0 {
			i.lines <- fmt.Sprintf("The time limit of %s is over; cancelling. Operations in flight finish first.", after)
		} else {
			i.lines <- "^C received; cancelling. If you would like to terminate immediately, press ^C again."
		}
		i.mu.Lock()
		announced := i.announced
		i.mu.Unlock()
		if announced != "" {
			i.lines <- announced
		}
		if !i.receive(signals) {
			return
		}
		close(i.Second)
		i.lines <- "^C received; terminating"
		if end == nil {
			return
		}
		timer := time.NewTimer(hardLimit)
		defer timer.Stop()
		select {
		case <-timer.C:
			end()
		case <-i.done:
		}
	})
	return i
}

// first waits for the first signal or for the deadline, whose time it returns; ok is false when neither came before the
// end.
func (i *interrupts) first(signals <-chan os.Signal) (after time.Duration, ok bool) {
	select {
	case <-signals:
		return 0, true
	case after = <-i.deadline:
		i.mu.Lock()
		defer i.mu.Unlock()
		i.timedOut = true
		return after, true
	case <-i.done:
		return 0, false
	}
}

// Deadline makes a first interrupt after a time; 0 makes none. It is called once.
func (i *interrupts) Deadline(after time.Duration) {
	if after > 0 {
		i.timer = time.AfterFunc(after, func() { i.deadline <- after })
	}
}

// TimedOut reports whether the deadline caused the first interrupt.
func (i *interrupts) TimedOut() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.timedOut
}

// Ended returns the error of a command that an interrupt ended. An interrupt by the deadline has an exit code of its
// own.
func (i *interrupts) Ended() error {
	if i.TimedOut() {
		return &ExitError{Code: CodeTimeout, Cause: errors.New("the time limit was over")}
	}
	return &ExitError{Code: CodeInterrupted, Cause: errors.New("interrupted")}
}

// receive reports whether a signal came before the end.
func (i *interrupts) receive(signals <-chan os.Signal) bool {
	select {
	case <-signals: // nil never sends
		return true
	case <-i.done:
		return false
	}
}

func (i *interrupts) Stop() {
	if i.timer != nil {
		i.timer.Stop()
	}
	close(i.done)
	i.finished.Wait()
	i.said.Wait()
}

// Announce sets what else the first signal says.
func (i *interrupts) Announce(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.announced = text
}

// Gentle is a context that the first signal cancels. The caller calls done when it is over.
func (i *interrupts) Gentle(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	listening.Go(func() {
		select {
		case <-i.First:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(); listening.Wait() }
}

// Terminate is closed by the second signal.
func (i *interrupts) Terminate() <-chan struct{} { return i.Second }
