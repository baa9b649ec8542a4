package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
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

// Crashes ends the process after a fault of ours in any goroutine: in the words of a report, once, and at once, because
// others may wait for locks for ever. Nothing is cleaned up. The journal covers that: the next run takes over the
// lock, and finds the operations in flight.
type Crashes struct {
	Console *Console
	once    sync.Once
	mu      sync.Mutex
	hide    func(string) string // hides the known secrets; guarded by mu
}

// HideWith sets what makes a text fit to be shown.
func (c *Crashes) HideWith(hide func(string) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hide = hide
}

// Guard is deferred where a goroutine begins.
func (c *Crashes) Guard() {
	if fault := recover(); fault != nil {
		c.Crash(fault)
	}
}

// Crash reports a fault and ends the process. It does not return.
func (c *Crashes) Crash(fault any) {
	c.once.Do(func() {
		c.Report(fault)
		if c.Console.World.Enabled("PULUMI_DEBUG_COMMANDS") {
			_, _ = c.Console.Streams.Err.Write(debug.Stack())
		}
		c.Console.Reports.FinishSoon(CodeInternal, "internal error")
		c.Console.World.Quit(CodeInternal)
	})
	select {} // somebody else is at it
}

// Report tells the user what happened, and writes the stack traces to a file for developers.
func (c *Crashes) Report(fault any) {
	text := fmt.Sprint(fault)
	c.mu.Lock()
	if c.hide != nil {
		text = c.hide(text)
	}
	c.mu.Unlock()
	out := c.Console.Streams.Err
	fmt.Fprintf(out,
		"\ninternal error: %s\nThis is a fault of yamlhost, not of your program. State and journal are as after the last "+
			"finished step:\nrun the same command again; it reports interrupted operations.\n", text)
	if path := c.keep(text); path != "" {
		fmt.Fprintf(out, "The stack trace is in %s: add it to a report of the fault.\n", path)
	}
}

// keep writes where a fault happened into a temporary file: places in our code, and nothing that belongs to anybody.
func (c *Crashes) keep(text string) (path string) {
	f, err := os.CreateTemp(c.Console.World.Getenv("TMPDIR"), "yamlhost-crash-*.txt")
	if err != nil {
		return ""
	}
	_, err = fmt.Fprintf(f, "yamlhost %s\n%s\n\n%s", c.Console.World.Version, text, debug.Stack())
	if closing := f.Close(); err != nil || closing != nil {
		_ = os.Remove(f.Name())
		return ""
	}
	return f.Name()
}
