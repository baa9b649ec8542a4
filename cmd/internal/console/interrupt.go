package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yamlhost/yamlhost/internal/osfile"
)

// hardLimit is how long a command may take to end after the second signal. After that the process exits without
// waiting; the journal is then in the same state as after a kill.
const hardLimit = 1500 * time.Millisecond

// interrupts turns the first signal into a graceful end and the second one into an immediate end (D10, E5.50, E5.51).
type interrupts struct {
	First    chan struct{}
	Second   chan struct{}
	done     chan struct{}
	notices  chan notice // to show
	finished sync.WaitGroup
	printing sync.WaitGroup

	deadline chan time.Duration // receives the time limit when it has passed; see Deadline
	timer    *time.Timer
	timedOut atomic.Bool // the time limit caused the first interrupt

	mu        sync.Mutex
	announced string // additional message at the first signal; guarded by mu
	// shown shows an interrupt in the view of the running operation; it returns false if there is none. Guarded by mu.
	shown func(why string, now bool) bool
}

// notice is a message about an interrupt: as text, and as the facts that a view shows.
type notice struct {
	text string
	why  string // the reason for the interrupt; empty for an additional message
	now  bool   // the second interrupt
}

// Watch starts to listen for signals; the method Stop ends that. Messages are written to err. If a command does not
// finish within hardLimit after the second signal, Watch calls end, which must not return. A nil end means no limit.
func Watch(signals <-chan os.Signal, err io.Writer, end func()) *interrupts {
	i := &interrupts{First: make(chan struct{}), Second: make(chan struct{}), done: make(chan struct{}),
		notices: make(chan notice, 3), deadline: make(chan time.Duration, 1)}
	// A goroutine of its own writes messages, so that a blocked terminal does not delay signals.
	i.printing.Go(func() {
		inView := false // the view of an operation shows this interrupt
		for n := range i.notices {
			if n.why != "" {
				i.mu.Lock()
				show := i.shown
				i.mu.Unlock()
				inView = show != nil && show(n.why, n.now)
			}
			if !inView {
				fmt.Fprintln(err, n.text)
			}
		}
	})
	i.finished.Go(func() {
		defer close(i.notices)
		var after time.Duration
		select {
		case <-signals: // a nil channel never sends
		case after = <-i.deadline:
			i.timedOut.Store(true)
		case <-i.done:
			return
		}
		close(i.First)
		if after > 0 {
			i.notices <- notice{text: fmt.Sprintf("The time limit of %s is over; cancelling. Operations in flight finish first.",
				after), why: fmt.Sprintf("the time limit of %s is over", after)}
		} else {
			i.notices <- notice{text: "^C received; cancelling. If you would like to terminate immediately, press ^C again.",
				why: "interrupting"}
		}
		i.mu.Lock()
		announced := i.announced
		i.mu.Unlock()
		if announced != "" {
			i.notices <- notice{text: announced}
		}
		select {
		case <-signals:
		case <-i.done:
			return
		}
		close(i.Second)
		i.notices <- notice{text: "^C received; terminating", why: "stopping at once", now: true}
		if end == nil {
			return
		}
		select {
		case <-time.After(hardLimit):
			end()
		case <-i.done:
		}
	})
	return i
}

// Deadline causes the first interrupt after the given time, unless that is 0. It must be called at most once.
func (i *interrupts) Deadline(after time.Duration) {
	if after > 0 {
		i.timer = time.AfterFunc(after, func() { i.deadline <- after })
	}
}

// TimedOut reports whether the deadline caused the first interrupt.
func (i *interrupts) TimedOut() bool { return i.timedOut.Load() }

// Ended returns the error of a command that was interrupted. An interrupt by the deadline has its own exit code.
func (i *interrupts) Ended() error {
	if i.TimedOut() {
		return &ExitError{Code: CodeTimeout, Cause: errors.New("the time limit was over")}
	}
	return &ExitError{Code: CodeInterrupted, Cause: errors.New("interrupted")}
}

func (i *interrupts) Stop() {
	if i.timer != nil {
		i.timer.Stop()
	}
	close(i.done)
	i.finished.Wait()
	i.printing.Wait()
}

// Announce sets an additional message to print at the first signal.
func (i *interrupts) Announce(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.announced = text
}

// ShowWith makes show, instead of a line on the terminal, report interrupts until release is called. show returns false
// if it cannot; then the line is written.
func (i *interrupts) ShowWith(show func(why string, now bool) bool) (release func()) {
	set := func(f func(string, bool) bool) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.shown = f
	}
	set(show)
	return func() { set(nil) }
}

// Gentle returns a context that the first signal cancels. The caller must call done to release its resources.
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

// Terminate returns a channel that the second signal closes.
func (i *interrupts) Terminate() <-chan struct{} { return i.Second }

// Crashes ends the process after a panic in any goroutine. It reports the first panic only, and exits at once because
// other goroutines may wait forever for locks that the crashed one holds. Nothing is cleaned up: the journal covers
// that. The next run takes over the lock and finds the operations in flight.
type Crashes struct {
	Console *Console
	once    sync.Once
	mu      sync.Mutex
	hide    func(string) string // hides the known secrets; guarded by mu
}

// HideWith sets the function that masks secrets in a text before it is shown.
func (c *Crashes) HideWith(hide func(string) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hide = hide
}

// Guard reports a panic and ends the process. It must be deferred at the start of each goroutine.
func (c *Crashes) Guard() {
	if fault := recover(); fault != nil {
		c.Crash(fault)
	}
}

// Crash reports a panic value and ends the process. It does not return.
func (c *Crashes) Crash(fault any) {
	c.once.Do(func() {
		c.Report(fault)
		if c.Console.World.Enabled("PULUMI_DEBUG_COMMANDS") {
			out, _ := c.Console.StandIn.forFaults(c.Console.Streams)
			_, _ = out.Write(debug.Stack())
		}
		c.Console.Reports.FinishSoon(CodeInternal, "internal error")
		c.Console.World.Quit(CodeInternal)
	})
	select {} // another goroutine ends the process
}

// Report prints the panic value for the user and writes the stack trace to a file for developers.
func (c *Crashes) Report(fault any) {
	text := fmt.Sprint(fault)
	c.mu.Lock()
	if c.hide != nil {
		text = c.hide(text)
	}
	c.mu.Unlock()
	out, _ := c.Console.StandIn.forFaults(c.Console.Streams)
	fmt.Fprintf(out,
		"\ninternal error: %s\nThis is a fault of yamlhost, not of your program. State and journal are as after the last "+
			"finished step:\nrun the same command again; it reports interrupted operations.\n", text)
	if path := c.keep(text); path != "" {
		fmt.Fprintf(out, "The stack trace is in %s: add it to a report of the fault.\n", path)
	}
}

// keep writes the stack trace to a temporary file and returns its path, or "" if that fails. The file contains
// positions in our code and no user data.
func (c *Crashes) keep(text string) (path string) {
	f, err := os.CreateTemp(c.Console.World.Getenv("TMPDIR"), "yamlhost-crash-*.txt")
	if err != nil {
		return ""
	}
	_, err = fmt.Fprintf(f, "yamlhost %s\n%s\n\n%s", c.Console.World.Version, text, debug.Stack())
	if closing := f.Close(); err != nil || closing != nil {
		_ = osfile.Remove(f.Name())
		return ""
	}
	return f.Name()
}
