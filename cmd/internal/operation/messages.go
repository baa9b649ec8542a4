package operation

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/schema"
)

// eventSink passes the events of the engine, the program and the plugins to the view of the running operation, one at
// a time. Without a running operation it drops them.
type eventSink struct {
	mu    sync.Mutex
	shown *shownView
	// skipped and notStarted are resources that the program left out, for the summary (A1).
	skipped, notStarted []urn.URN
	changes             bool // a step that changes something has begun

	masker *mask.Masker // hides secrets in all output; shared by all operations of a command
}

// leftOut shows the resources that failed in the program, and records those that it did not register.
func (s *eventSink) leftOut(stack, project string, program *check.Program, result eval.Result) {
	types := map[string]string{}
	for _, n := range program.Nodes {
		if n.Kind == check.ResourceNode {
			types[n.Name] = n.Resource.Token
		}
	}
	urns := func(names []string) (list []urn.URN) {
		for _, name := range names {
			list = append(list, urn.New(stack, project, "", types[name], name))
		}
		return list
	}
	for _, u := range urns(result.FailedResources) {
		s.event(&engine.ResourceFailed{Step: &engine.Step{Op: engine.OpSame, URN: u}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped = append(s.skipped, urns(result.SkippedResources)...)
	s.notStarted = append(s.notStarted, urns(result.ResourcesNotStarted)...)
}

// enter begins the operation shown by v; nil ends it.
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
		summary.NotStarted = append(summary.NotStarted, s.notStarted...)
		s.skipped, s.notStarted = nil, nil
	}
	if begun, ok := e.(*engine.StepStarted); ok && begun.Step.Op != engine.OpSame && begun.Step.Op != engine.OpRead {
		s.changes = true
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

// interrupt shows an interrupt in the view of the running operation. It returns false if there is none, or if it shows
// no interrupts.
func (s *eventSink) interrupt(why string, now bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown != nil && s.shown.interrupt(why, now)
}

// changesSome reports whether a step that changes something has begun.
func (s *eventSink) changesSome() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// waiting reports whether no operation is being shown.
func (s *eventSink) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown == nil
}

// pluginMessage shows a message of a plugin.
func (s *eventSink) pluginMessage(m plugin.Message) {
	severity := map[plugin.Severity]diag.Severity{plugin.Error: diag.Error, plugin.Warning: diag.Warning,
		plugin.Info: diag.Info, plugin.Debug: diag.Info}[m.Severity]
	s.event(&engine.Message{URN: m.URN, Text: m.Text, Ephemeral: m.Ephemeral, Severity: severity,
		Debug: m.Severity == plugin.Debug})
}

// withoutSecrets returns an event with the secrets in its text masked. The name of its resource stays readable.
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

// details returns a function that shows all properties of what a plan changes. It is nil if the plan has shown them
// all.
func (s *display) details(outline *view.Outline) func() {
	var changed []*view.Resource
	more := s.options.SuppressProgress
	for item := range view.Changed(outline.Resources()) {
		if len(item.Changes) > 0 {
			changed, more = append(changed, item), more || outline.Cut(item)
		}
	}
	if len(changed) == 0 || !more || s.options.Diff {
		return nil
	}
	return func() { s.tellDetails(changed) }
}

// tellDetails shows every property that a plan changes, including the properties of new resources.
func (s *display) tellDetails(changed []*view.Resource) {
	guarded := printable.NewWriter(s.console.Screen, func() bool { return false })
	for _, item := range changed {
		fmt.Fprintf(guarded, "%-2s %s %s: %s\n", item.Sign, item.URN.Name(), schema.CollapseToken(item.URN.Type()), item.Words)
		for _, line := range item.Changes {
			fmt.Fprintf(guarded, "     %s\n", line)
		}
	}
}

// compilerSays shows the output of the program's compiler, with the secrets of its configuration masked.
func (r *request) compilerSays(severity diag.Severity, text string) {
	out := io.Writer(r.console.Screen)
	if !r.options.ShowSecrets {
		hiding := mask.NewWriter(out, r.sink.masker)
		defer hiding.Flush() // writes text that is held back because it may be the beginning of a secret
		out = hiding
	}
	console.CompilerSays(out)(severity, text)
}

// fail reports findings that end the command; with --json also as events or in the preview's document.
func (s *display) fail(diags diag.Diagnostics) error {
	if s.options.Json {
		shown := s.show(phase{plan: s.document, final: true})
		for _, found := range diags.Sorted() {
			if found.Severity <= diag.Info {
				shown.event(s.messageOf(found))
			}
		}
		shown.event(&engine.Summary{Result: "failed", Changes: map[engine.Op]int{}, Planning: s.document})
		shown.event(&engine.Finished{})
		if err := shown.close(); err != nil {
			return err
		}
	}
	err := s.console.Report(diags)
	wanted := slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == diag.ConfigMissing })
	if err != nil && wanted && s.stack != nil && s.stack.Missing {
		fmt.Fprintf(s.console.Streams.Err,
			"The stack '%[1]s' does not exist yet: give the values with -c key=value, or run `yamlhost stack init %[1]s` "+
				"and set them.\n", s.stack.Ref.Stack)
	}
	return err
}

// found shows the diagnostics of the program's evaluation, without notes that the plan has shown. A run that changes
// nothing has no notes: the one before, which did, had the same.
func (s *display) found(diags diag.Diagnostics) {
	changes := s.sink.changesSome()
	for _, d := range diags.Sorted() {
		note := strconv.Itoa(int(d.Subject.Start)) + " " + d.Summary
		if d.Severity == diag.Info && (s.noted[note] || !changes) {
			continue
		}
		if d.Severity <= diag.Info {
			s.sink.event(s.messageOf(d))
		}
		if s.noted == nil {
			s.noted = make(map[string]bool)
		}
		s.noted[note] = true
	}
}

// programSays shows a message of the program, with its own place if it concerns nothing else and is more than
// information.
func (s *display) programSays(_ context.Context, m eval.Message) {
	shown := &engine.Message{Severity: m.Severity, Debug: m.Debug, Text: m.Text, URN: m.URN}
	if m.URN == "" && m.Severity < diag.Info {
		shown.Position = s.messageOf(diag.Diagnostic{Severity: m.Severity, Subject: m.At}).Position
	}
	s.sink.event(shown)
}

// messageOf returns a finding as an event.
func (s *display) messageOf(d diag.Diagnostic) *engine.Message {
	d = s.console.Global.Advised(d)
	m := &engine.Message{Severity: d.Severity, Code: d.Code, Text: d.Text()}
	if !d.Subject.IsZero() && (s.workspace.Source != d.Subject.Source || !s.workspace.Compiled()) {
		if rel, err := filepath.Rel(s.workspace.Project.Dir, s.console.Path(d.Subject.Source.Name())); err == nil {
			pos := d.Subject.StartPosition()
			m.Position = "project:///" + filepath.ToSlash(rel) + "#" + strconv.Itoa(pos.Line) + "," + strconv.Itoa(pos.Column)
			m.End = d.Subject.EndPosition()
		}
	}
	return m
}
