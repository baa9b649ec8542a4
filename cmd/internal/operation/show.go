package operation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/causes"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/cmd/internal/output/runlog"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/git"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/workspace"
)

// shownView shows one phase of an operation: on the terminal or as JSON, and in the reports of --out.
type shownView struct {
	event func(engine.Event)
	close func() error
	// interrupt shows an interrupt; it returns false if that is left to the caller. See view.View.Interrupt.
	interrupt func(why string, now bool) bool
}

// display shows an operation and its plan on the terminal or as JSON, and in the reports of --out. stack and program
// are nil if the command ends before they are opened.
type display struct {
	console   *console.Console
	options   *Options
	sink      *eventSink
	document  bool // only a plan, which with --json is one document
	config    *configuration
	workspace *workspace.Workspace
	stack     *console.Stack
	program   *check.Program
	warned    diag.Diagnostics // what the checker found, none of it an error
	changes   change.Book      // of the last phase
	standing  view.Standing    // of resources whose places only the state knows
	// messages of the evaluation so far; an operation repeats those of its plan
	noted map[string]bool
}

// displayOf returns the display of an operation on what is known so far.
func (r *request) displayOf(a *console.Console, ws *workspace.Workspace, stack *console.Stack,
	config *configuration) *display {
	return &display{console: a, options: r.options, sink: r.sink, document: r.document, config: config,
		workspace: ws, stack: stack}
}

// phase is one run of the engine, as it is shown.
type phase struct {
	name  string
	plan  bool // it changes nothing
	after bool // its plan has been shown
	final bool // no operation follows; otherwise the outputs of a plan are progress and not a result
	// ahead is set for a plan that decides whether the operation runs. Its stream of events is delayed: if the
	// operation follows, the plan has none, so that a log of events has one operation.
	ahead bool
}

// shownPhase shows a phase.
type shownPhase struct {
	*shownView
	blast   *view.BlastRadius    // what it destroys, so far
	delayed []func() error       // show the streams of a phase ahead, once it has ended
	also    []func(engine.Event) // called with every event, after it is shown
}

// show creates the view of a phase.
func (s *display) show(p phase) *shownPhase {
	o, document := s.viewOptions(p.name), p.plan && s.document
	o.Plan, o.Followed = p.plan && (p.final || !o.SuppressProgress), !p.final
	o.After = p.after && !o.SuppressProgress
	var known []*engine.Message
	for _, d := range s.shownWarnings().Sorted() {
		known = append(known, s.messageOf(d))
	}
	shown := &shownPhase{blast: &view.BlastRadius{}}
	s.changes.Reset(s.explainer(), s.options.Why)
	begin := func(stream bool, begin func() *shownView) *shownView {
		if !p.ahead || !stream {
			return begin()
		}
		view, show := delayed(begin)
		shown.delayed = append(shown.delayed, show)
		return view
	}
	inner := begin(s.options.Json || s.console.World.AsPulumi, // else a person may read the text of both
		func() *shownView { return s.terminalView(o, document, p.final, known) })
	reports := begin(true, func() *shownView {
		told, ended := s.console.Reports.Phase(o, s.sink.masker, known)
		return &shownView{event: told, close: func() error { ended(); return nil }}
	})
	recorder := s.record(p.plan)
	shown.shownView = &shownView{
		event: func(e engine.Event) {
			s.changes.Event(e)
			inner.event(e)
			reports.event(e)
			recorder.Event(e)
			if step, ok := e.(*engine.StepFinished); ok && !step.Internal && !step.Outputs {
				shown.blast.Take(step.Step, o.Stateful)
			}
			s.options.Neighbours.heard(s, e)
			for _, listen := range shown.also {
				listen(e)
			}
		},
		close: func() error {
			recorder.Close()
			return errors.Join(inner.close(), reports.close())
		},
		interrupt: inner.interrupt,
	}
	return shown
}

// explainer returns what finds the causes of changes; nil if none are shown. An operation may run no program.
func (s *display) explainer() change.Explainer {
	if s.options.Causes == view.CausesNone {
		return nil
	}
	f := causes.Facts{Program: s.program, Path: s.console.Path, Destroys: s.options.Command == "destroy"}
	if s.program != nil {
		f.Root, f.Config, f.Record, f.Former = s.workspace.Project.Dir, s.config.values, s.config.record(), s.former
	}
	return causes.New(f)
}

// reasons returns why the resources of the last operation have changed, of at most so many.
func (s *display) reasons(most int) []change.Told {
	o := s.viewOptions("")
	o.ShowSecrets = false
	return view.Tell(o, s.sink.masker, most)
}

// former returns the configurations of the last operations, back to the last one that has applied the whole program;
// nil if they are not known.
func (s *display) former() []map[string]json.RawMessage {
	const most = 20
	records, err := s.stack.Backend.History(context.Background(), s.stack.Ref, most)
	if err != nil { // causes are no reason to fail
		return nil
	}
	var list []map[string]json.RawMessage
	for _, r := range records {
		if r.Kind != updateOperation.Kind || r.EndTime == 0 {
			continue
		}
		list = append(list, r.Config)
		partial := r.Environment["pulumi.flag.target"] != "" || r.Environment["pulumi.flag.exclude"] != ""
		if r.Result == "succeeded" && !partial {
			return list
		}
	}
	return nil
}

// slowGit is how long git may take to find all commits of one answer.
const slowGit = 2 * time.Second

// commits returns a function that describes the commit that has last changed a line of the project. The description is
// empty if the project is in no checkout of git, or if that takes long.
func (s *display) commits() func(change.Place) string {
	dir, env := s.workspace.Project.Dir, s.console.World.Env
	known, left := map[change.Place]string{}, slowGit
	return func(p change.Place) string {
		text, has := known[p]
		if has || left <= 0 {
			return text
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), left)
		defer cancel()
		if c, found := git.LastChange(ctx, env, filepath.Join(dir, filepath.FromSlash(p.File)), p.Line); found {
			text = "not committed"
			if c.ID != "" {
				text = fmt.Sprintf("commit %s of %s: %s", c.ID[:min(len(c.ID), 10)], c.Time.UTC().Format(time.DateOnly),
					c.Subject)
			}
		}
		known[p] = text
		left -= time.Since(began)
		return text
	}
}

// delayed returns a view that only collects its events. show begins the view, and shows them.
func delayed(begin func() *shownView) (_ *shownView, show func() error) {
	var events []engine.Event
	return &shownView{event: func(e engine.Event) { events = append(events, e) }, close: func() error { return nil },
			interrupt: func(string, bool) bool { return false }}, func() error {
			v := begin()
			for _, e := range events {
				v.event(e)
			}
			return v.close()
		}
}

// shownWarnings returns what the checker found, without notes on portability.
func (s *display) shownWarnings() diag.Diagnostics {
	var shown diag.Diagnostics
	for _, d := range s.warned {
		if d.Severity <= diag.Info {
			shown.Add(d)
		}
	}
	return shown
}

// record begins the record of an operation for the console, if one is kept.
func (s *display) record(plan bool) *runlog.Recorder {
	world := &s.console.World
	if s.stack == nil || world.Process == nil || world.PulumiHome() == "" {
		return nil
	}
	head := runlog.Subject(s.stack.Backend, s.stack.Ref, world.Process())
	head.Command, head.Planning = s.options.Command, plan
	return runlog.Begin(runlog.Folder(world.PulumiHome()), head, s.sink.masker, &s.changes)
}

// viewOptions returns the options that all views of the command share.
func (s *display) viewOptions(name string) view.Options {
	a, o := s.console, s.options
	_, lines := a.Size()
	options := view.Options{
		Interactive: a.Streams.ErrTerminal && !a.Global.NonInteractive && a.World.Getenv("TERM") != "dumb",
		Color:       a.Color(a.Streams.ErrTerminal), OutTerminal: a.Streams.OutTerminal,
		OutColor: a.Color(a.Streams.OutTerminal), Command: s.nextCommand(), Operation: name,
		Width: a.Streams.Width(a.Streams.ErrTerminal), Height: lines, Size: a.Size, Detail: o.Detail, Drift: o.Command == "drift",
		Source: s.source, Property: s.property, Stands: s.standing.Stands,
		Secrets: s.config.secrets(), Crash: a.Crashes.Crash, Found: a.World.Found, Changes: &s.changes,
	}
	if s.workspace != nil && o.Why != "" && !o.Untrusted {
		options.Commit = s.commits()
	}
	if s.workspace != nil {
		options.Root, options.Stateful = s.workspace.Project.Dir, s.workspace.Project.Stateful
	}
	if s.stack != nil {
		options.Stack = s.stack.Ref.Stack
		a.Reports.SetSubject(s.stack.Ref.Project, s.stack.Ref.Stack, a.Short(s.workspace.Project.Path))
	}
	return options
}

// nextCommand returns the command that a view may suggest as the next step; empty for none. Under the name pulumi the
// output is that of the Pulumi CLI.
func (s *display) nextCommand() string {
	switch s.options.Command {
	case "preview", "plan", "up", "run", "destroy", "refresh":
		if !s.console.World.AsPulumi {
			return s.options.Command
		}
	}
	return ""
}

// terminalView shows an operation on the terminal, or on standard output as JSON.
func (s *display) terminalView(o view.Options, document, final bool, known []*engine.Message) *shownView {
	a := s.console
	silent := func(string, bool) bool { return false }
	if s.options.Json {
		if document && !a.World.Enabled("PULUMI_ENABLE_STREAMING_JSON_PREVIEW") {
			digest := report.NewDigest(o, s.sink.masker)
			event := report.AfterPrelude(digest.Event, known)
			return &shownView{event, func() error { return digest.Write(a.Streams.Out) }, silent}
		}
		lines := report.NewLines(a.Streams.Out, o, s.sink.masker)
		return &shownView{report.AfterPrelude(lines.Event, known), func() error { return nil }, silent}
	}
	o.Out, o.Err, o.OneLog = a.Streams.Out, a.Screen, a.StandIn.OperationWarns()
	if !s.options.ShowSecrets {
		o.Mask = s.sink.masker
	}
	if !final || a.Reports.TakesStdout() {
		o.Out, o.OutTerminal, o.OutColor = io.Writer(a.Streams.Err), a.Streams.ErrTerminal, o.Color
	}
	v := view.New(o)
	event := v.Event
	if a.StandIn.OperationWarns() {
		event = report.AfterPrelude(event, known)
	}
	return &shownView{event, func() error { v.Close(); return nil }, v.Interrupt}
}

// source finds the texts of the workspace by their absolute paths.
func (s *display) source(path string) *diag.Source {
	for _, src := range append([]*diag.Source{s.workspace.Source, s.workspace.Project.Source, s.config.source()},
		s.workspace.Parts...) {
		if src != nil && s.console.Path(src.Name()) == path {
			return src
		}
	}
	return nil
}

// hosted lets a service that keeps the stack show the operation, too: it gets every event, with secrets masked. The
// user sees the URL. It returns nil if no service keeps the stack.
func (s *display) hosted(name string, watched *backend.Watched) func(engine.Event) {
	if watched == nil {
		return nil
	}
	facts := watched.Facts()
	if !s.options.Json {
		for _, text := range facts.Messages {
			fmt.Fprintln(s.console.Streams.Err, text)
		}
		fmt.Fprintf(s.console.Streams.Err, "View live: %s\n", facts.Page)
	}
	o := s.viewOptions(name)
	o.ShowSecrets = false
	return report.NewLines(eventWriter{watched}, o, s.sink.masker).Event
}

// eventWriter passes on lines of events. Each Write is one line.
type eventWriter struct{ watched *backend.Watched }

func (w eventWriter) Write(line []byte) (int, error) {
	w.watched.Event(bytes.Clone(line))
	return len(line), nil
}

// property is Property of the program, once it is checked.
func (s *display) property(resource diag.Range, text string) (diag.Range, bool) {
	if s.program == nil || s.program.File == nil {
		return diag.Range{}, false
	}
	return Property(s.program.File, resource, text)
}

// Property returns the range of the value of an input property, as deep as the program has literal maps and lists.
// resource is the range of the resource's name. It returns false for a property that the program does not set.
func Property(file *ast.File, resource diag.Range, text string) (diag.Range, bool) {
	path, err := value.ParsePath(text)
	if err != nil || len(path) == 0 {
		return diag.Range{}, false
	}
	bodies := [][]*ast.Resource{file.Resources}
	for _, c := range file.Components {
		bodies = append(bodies, c.Resources)
	}
	for _, r := range slices.Concat(bodies...) {
		rng := r.Name.Range
		if rng.Source == nil || rng.Source.Name() != resource.Source.Name() ||
			rng.StartPosition() != resource.StartPosition() {
			continue
		}
		for _, property := range r.Properties {
			if property.Name.Value == path[0].Key {
				return deepest(property.Value, path[1:]).Range(), true
			}
		}
	}
	return diag.Range{}, false
}

// deepest returns the expression at a path, or the last literal one on the way.
func deepest(e ast.Expr, path value.Path) ast.Expr {
	if len(path) == 0 {
		return e
	}
	switch e := e.(type) {
	case *ast.Map:
		if _, i := entryOf(e, path[0].Key); i >= 0 && !path[0].IsIndex {
			return deepest(e.Entries[i].Value, path[1:])
		}
	case *ast.List:
		if i := path[0].Index; path[0].IsIndex && i >= 0 && i < len(e.Items) {
			return deepest(e.Items[i], path[1:])
		}
	}
	return e
}
