package operation

import (
	"fmt"
	"io"
	"sync"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/plugin"
)

// eventSink passes the events of the engine, the program and the plugins to the view of the running operation, one at
// a time. Without a running operation it drops them.
type eventSink struct {
	mu      sync.Mutex
	shown   *shownView
	skipped []urn.URN // resources that the program left out after a failure, for the summary (A1)

	masker *mask.Masker // of everything that is said; all operations of a command share it
}

// skip notes resources by their names that the program did not even register.
func (s *eventSink) skip(stack, project string, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.skipped = append(s.skipped, urn.New(stack, project, "", "", name))
	}
}

// enter begins the operation that v shows; nil ends it.
func (s *eventSink) enter(v *shownView) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = v
}

func (s *eventSink) event(e engine.Event) {
	e = withoutSecrets(s.masker, e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == nil {
		return
	}
	if summary, ok := e.(*engine.Summary); ok {
		summary.Skipped = append(summary.Skipped, s.skipped...)
		s.skipped = nil
	}
	s.shown.event(e)
	if _, finished := e.(*engine.Finished); finished {
		s.shown = nil
	}
}

// tell shows a line as a message of the running operation; between operations, on out.
func (s *eventSink) tell(out io.Writer, text string) {
	if s.waiting() {
		fmt.Fprintln(out, text)
		return
	}
	s.event(&engine.Message{Severity: diag.Info, Text: text})
}

// waiting reports whether no operation is being shown.
func (s *eventSink) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown == nil
}

// pluginMessage shows what a plugin says.
func (s *eventSink) pluginMessage(m plugin.Message) {
	e := &engine.Message{URN: m.URN, Text: m.Text, Ephemeral: m.Ephemeral}
	switch m.Severity {
	case plugin.Error:
		e.Severity = diag.Error
	case plugin.Warning:
		e.Severity = diag.Warning
	case plugin.Info:
		e.Severity = diag.Info
	default:
		e.Severity, e.Debug = diag.Info, true
	}
	s.event(e)
}

// withoutSecrets returns an event whose text, if it has one of its own, hides secrets. The names of the resource that
// it is about stay readable.
func withoutSecrets(secrets *mask.Masker, e engine.Event) engine.Event {
	view.LearnNames(secrets, e)
	m, ok := e.(*engine.Message)
	if !ok {
		return e
	}
	if text := secrets.Hide(m.Text); text != m.Text {
		hidden := *m
		hidden.Text = text
		if m.Policy != nil {
			note := *m.Policy
			note.Message = secrets.Hide(note.Message)
			hidden.Policy = &note
		}
		return &hidden
	}
	return e
}
