package console

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

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
