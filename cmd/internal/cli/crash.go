package cli

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

// crashes ends the process after a fault of ours in any goroutine: in the words of a report, once, and at once, because
// others may wait for locks for ever. Nothing is cleaned up. The journal is made for that: the next run takes over the
// lock, and finds what was under way.
type crashes struct {
	app  *app
	once sync.Once
	mu   sync.Mutex
	hide func(string) string // of what is known to be secret; guarded by mu
}

// hideWith sets what makes a text fit to be shown.
func (c *crashes) hideWith(hide func(string) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hide = hide
}

// guard is deferred where a goroutine begins.
func (c *crashes) guard() {
	if fault := recover(); fault != nil {
		c.crash(fault)
	}
}

// crash reports a fault and ends the process. It does not return.
func (c *crashes) crash(fault any) {
	c.once.Do(func() {
		c.report(fault)
		if c.app.world.envTrue("PULUMI_DEBUG_COMMANDS") {
			_, _ = c.app.streams.Err.Write(debug.Stack())
		}
		c.app.world.exit(codeInternal)
	})
	select {} // somebody else is at it
}

// report says what happened, and keeps for developers where: in a file, because it means nothing to others.
func (c *crashes) report(fault any) {
	text := fmt.Sprint(fault)
	c.mu.Lock()
	if c.hide != nil {
		text = c.hide(text)
	}
	c.mu.Unlock()
	out := c.app.streams.Err
	fmt.Fprintf(out, "\ninternal error: %s\nThis is a fault of yamlhost, not of your program. State and journal are as after the last finished step:\n"+
		"run the same command again; it says what was under way.\n", text)
	if path := c.keep(text); path != "" {
		fmt.Fprintf(out, "Where it happened is in %s, for those who can mend it.\n", path)
	}
}

// keep writes where a fault happened into a temporary file: places in our code, and nothing that belongs to anybody.
func (c *crashes) keep(text string) (path string) {
	f, err := os.CreateTemp(c.app.world.env("TMPDIR"), "yamlhost-crash-*.txt")
	if err != nil {
		return ""
	}
	_, err = fmt.Fprintf(f, "yamlhost %s\n%s\n\n%s", c.app.world.Version, text, debug.Stack())
	if closing := f.Close(); err != nil || closing != nil {
		_ = os.Remove(f.Name())
		return ""
	}
	return f.Name()
}
