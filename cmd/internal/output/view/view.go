package view

import (
	"io"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Options control where and how to show an operation.
type Options struct {
	Out io.Writer // results: outputs
	Err io.Writer // progress and diagnostics

	Interactive bool // Err is a terminal that can be redrawn
	Color       bool // of Err
	// OutTerminal and OutColor report whether Out is a terminal, and whether it takes colours.
	OutTerminal, OutColor bool

	Width  int // of the terminal in columns; 0 for no limit
	Height int // of the terminal in lines; 0 for 24
	// Size asks for the terminal's width and height, which change while a view is drawn; nil when Width and Height hold.
	Size func() (columns, lines int)

	// Plan reports whether nothing is done: what would be is the result, and goes to Out when it is complete.
	Plan bool
	// Followed reports whether what is planned is done next, unless the plan fails.
	Followed bool
	// Flat shows resources without their components, by their whole names.
	Flat bool
	// Command is the command that the user has called, such as up. The view uses it for its advice; empty for no
	// advice.
	Command string

	ShowSames   bool
	ShowSecrets bool
	ShowReads   bool
	// Drift reports whether differences between the state and what exists are the result, also in JSON.
	Drift           bool
	ShowComputed    bool // what only a provider computes, where a refresh finds it changed
	Diff            bool // property changes of everything that changes, creations too
	SuppressOutputs bool
	// Silent leaves out the notes about long waits: nobody watches a file.
	Silent bool
	// Timestamps puts the time in front of each line of progress in a log.
	Timestamps bool
	// SuppressProgress leaves out everything before the summary that is no diagnostic.
	SuppressProgress bool

	Stateful []string // globs of types that hold data, besides the built-in list

	Root      string // the project's folder, to which source positions are relative
	Operation string // the running operation, such as Previewing or Updating
	Stack     string // name
	// Crash receives a panic in a goroutine of the view, and does not return; nil lets it end the process as Go does.
	Crash   func(fault any)
	Secrets []string // texts to hide in values and messages (L9.34), by the rules of package mask
	// Mask knows all secrets, if Secrets are not all of them; else nil.
	Mask *mask.Masker

	// Source finds a text by its path, to show the place of a message; nil to show the place without its text.
	Source func(path string) *diag.Source
	// Property finds the value of an input property in the resource at a position; nil for no look-up. It
	// answers false for one that is not written there.
	Property func(resource diag.Range, path string) (diag.Range, bool)
	// Found is called with every finding that is shown; nil for no call. Calls do not overlap.
	Found func(diag.Diagnostic)
}

// View shows one operation. Event and Close are called by one goroutine at a time. It has one goroutine of its own,
// which Close ends and waits for.
type View struct {
	report // its board is guarded by mu
	display

	mu            sync.Mutex // guards closed and all that the display has
	closed        bool
	stop, stopped chan struct{}
}

// display is one way of showing events. event and tick are called while the mutex of the view is held, and end when
// nothing else is called any more.
type display interface {
	event(engine.Event)
	tick()
	end()
}

func newView(o Options, m *mask.Masker) *View {
	return &View{report: report{o: o, p: palette{o.Color}, mask: m, board: newBoard(o.Stateful...)},
		stop: make(chan struct{}), stopped: make(chan struct{})}
}

// New makes the view that fits the options.
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

// run calls tick at intervals until the view is closed. It reports a fault of ours.
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

// masker hides secret texts wherever they appear.
func masker(secrets []string) *mask.Masker {
	m := mask.New()
	for _, s := range secrets {
		m.LearnText(s)
	}
	return m
}

// LearnNames lets m leave the names of the resource readable that an event is about: they are no values.
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

// hiddenSecret stands for a secret in every output (F4.16).
const hiddenSecret = "[secret]"
