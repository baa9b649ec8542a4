package view

import (
	"io"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Detail is the choice of users of how much to show.
type Detail struct {
	Diff bool // all property changes, also of creations
	// Flat shows a list of resources by their whole names, without components.
	Flat bool
	// Timestamps puts the time in front of each line of progress in a log.
	Timestamps      bool
	ShowSames       bool
	ShowReads       bool
	ShowComputed    bool // computed properties that a refresh finds changed
	ShowSecrets     bool
	SuppressOutputs bool
	Causes          string // none, short or full; empty for short
	Why             string // the name of a resource whose causes are shown
	// SuppressProgress omits everything before the summary except diagnostics.
	SuppressProgress bool
}

// Options control where and how to show an operation.
type Options struct {
	Out io.Writer // results: outputs
	Err io.Writer // progress and diagnostics
	// OneLog reports whether Out and Err are the same log, in the Pulumi CLI's order: the findings of a plan follow its
	// rows.
	OneLog bool

	Interactive bool // Err is a terminal that can be redrawn
	Color       bool // of Err
	// OutTerminal and OutColor report whether Out is a terminal, and whether it shows colours.
	OutTerminal, OutColor bool

	Width  int // of the terminal in columns; 0 for no limit
	Height int // of the terminal in lines; 0 for 24
	// Size returns the present width and height of the terminal; nil to use Width and Height.
	Size func() (columns, lines int)

	// Plan reports whether the operation is a preview, whose complete result goes to Out.
	Plan bool
	// Followed reports whether the operation follows the plan, unless the plan fails.
	Followed bool
	// After reports whether the plan of the operation has been shown: if it changes nothing, that is not shown again.
	After bool
	// Command is the command that the user has called, such as up. The view uses it for its advice; empty for no
	// advice.
	Command string

	Detail
	// Drift reports whether the result is the difference between the state and the objects, also in JSON.
	Drift bool
	// Silent omits notes about long waits, for output to a file.
	Silent bool

	Stateful []string // globs of types that hold data, besides the built-in list

	Root      string // the project's folder, to which source positions are relative
	Operation string // the running operation, such as Previewing or Updating
	Stack     string // name
	// Crash receives a panic in a goroutine of the view, and does not return; nil lets the panic end the process.
	Crash   func(fault any)
	Secrets []string // texts to mask in values and messages (L9.34), by the rules of package mask
	// Mask knows all secrets, if Secrets are not all of them; else nil.
	Mask *mask.Masker

	// Source finds a text by its path, to show the place of a message; nil to show the place without its text.
	Source func(path string) *diag.Source
	// Property returns the range of the value of an input property of the resource at a position; nil for no lookup. It
	// returns false for a property that the program does not set.
	Property func(resource diag.Range, path string) (diag.Range, bool)
	// Stands reports whether the resource u is declared at a place that only a state has recorded; nil to show no such
	// place.
	Stands func(place diag.Range, u urn.URN) bool
	// Changes keeps what steps change for all that show an operation; nil to determine it anew.
	Changes *change.Book
	// Commit describes the commit that has last changed a line of the project, for --why; nil for no lookup. It returns
	// an empty text for a line whose commit is not known.
	Commit func(change.Place) string
	// Found is called with every finding that is shown; nil for no call. Calls do not overlap.
	Found func(diag.Diagnostic)
}

// View shows one operation. Calls of Event and Close must not overlap. It has a goroutine, which Close ends and waits
// for.
type View struct {
	report // its board is guarded by mu
	display

	mu            sync.Mutex // guards closed and the display
	closed        bool
	stop, stopped chan struct{}
}

// display is one way of showing events. event, interrupt and tick are called with the view's mutex held. end is the
// last call.
type display interface {
	event(engine.Event)
	// interrupt shows an interrupt. It returns false if the display shows none.
	interrupt(why string, now bool) bool
	tick()
	end()
}

func newView(o Options, m *mask.Masker) *View {
	return &View{report: report{o: o, p: palette{o.Color}, mask: m, board: newBoard(o.Stateful...)},
		stop: make(chan struct{}), stopped: make(chan struct{})}
}

// New returns the view for the options.
func New(o Options) *View {
	m := o.Mask
	if m == nil {
		m = masker(o.Secrets)
	}
	screen := o.Err
	colors := func() bool { return o.Color }
	o.Out = printable.NewWriter(o.Out, func() bool { return o.OutColor })
	o.Err = printable.NewWriter(o.Err, colors)
	if o.Interactive {
		return newLive(o, m, screen).View
	}
	return newPlain(o, m).View
}

// run calls tick at intervals until the view is closed. It reports a panic.
func (v *View) run(interval time.Duration) {
	defer close(v.stopped)
	defer func() {
		if v.o.Crash == nil {
			return
		}
		if fault := recover(); fault != nil {
			v.o.Crash(fault)
		}
	}()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-v.stop:
			return
		case <-ticker.C:
			v.mu.Lock()
			v.tick()
			v.mu.Unlock()
		}
	}
}

// Event shows an event. The last one of an operation closes the view.
func (v *View) Event(e engine.Event) {
	LearnNames(v.mask, e)
	v.mu.Lock()
	v.event(e)
	v.mu.Unlock()
	if _, ok := e.(*engine.Finished); ok {
		v.Close()
	}
}

// Interrupt shows that the operation was interrupted, and why; now reports whether it stops without waiting for running
// steps. It returns false if the view has no place of its own for that, or is closed.
func (v *View) Interrupt(why string, now bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.closed && v.interrupt(why, now)
}

// Close ends the display; nothing is shown afterwards. It is safe to call twice.
func (v *View) Close() {
	v.mu.Lock()
	closed := v.closed
	v.closed = true
	v.mu.Unlock()
	if closed {
		return
	}
	close(v.stop)
	<-v.stopped
	v.end()
}

// masker returns a masker of secret texts.
func masker(secrets []string) *mask.Masker {
	m := mask.New()
	for _, s := range secrets {
		m.LearnText(s)
	}
	return m
}

// LearnNames makes m leave the names of an event's resource readable, since they are not values.
func LearnNames(m *mask.Masker, e engine.Event) {
	var u urn.URN
	switch e := e.(type) {
	case *engine.StepStarted:
		u = e.Step.URN
	case *engine.Message:
		u = e.URN
	}
	if u != "" {
		m.LearnName(string(u), u.Type())
	}
}

// hiddenSecret replaces secrets in all output (F4.16).
const hiddenSecret = "[secret]"
