package operation

import (
	"io"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/cmd/internal/output/runlog"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/workspace"
)

// shownView is how one phase of an operation is shown: on the terminal or as JSON, and in the reports of --out.
type shownView struct {
	event func(engine.Event)
	close func() error
}

// display shows the progress of an operation on the terminal or as JSON, and in the reports of --out. workspace,
// stack and program are nil until the preparation of the operation has them.
type display struct {
	console   *console.Console
	options   *Options
	sink      *eventSink
	document  bool // the plan is all there will be, and with --json makes one document
	config    *configuration
	workspace *workspace.Workspace
	stack     *console.Stack
	program   *check.Program
	warned    diag.Diagnostics   // what the checker found, none of it an error
	listen    func(engine.Event) // also told of every event; nil for nobody
	blast     *view.BlastRadius  // of the last operation
	// what evaluating the program had to say so far; a plan and what follows it say the same
	noted       map[string]bool
	wantsConfig bool // the run was refused because configuration is missing
}

// show makes the view of an operation, or of a plan where nothing is done. Of a plan that an operation follows, outputs
// are progress and no result.
func (s *display) show(name string, plan, final bool) *shownView {
	o, document := s.viewOptions(name), plan && s.document
	o.Plan, o.Followed = plan && (final || !o.SuppressProgress), !final
	known := make([]*engine.Message, 0, len(s.warned))
	for _, d := range s.warned.Sorted() {
		if d.Severity <= diag.Info {
			known = append(known, s.messageOf(d))
		}
	}
	blast := &view.BlastRadius{}
	s.blast = blast
	told, ended := s.console.Reports.Phase(o, s.sink.secrets(), known)
	event, closing := s.terminalView(o, document, final, known)
	recorder := s.record(plan)
	return &shownView{
		event: func(e engine.Event) {
			event(e)
			told(e)
			recorder.Event(e)
			if step, ok := e.(*engine.StepFinished); ok && !step.Internal && !step.Outputs {
				blast.Take(step.Step, o.Stateful)
			}
			s.options.Neighbours.heard(s, e)
			if s.listen != nil {
				s.listen(e)
			}
		},
		close: func() error {
			recorder.Close()
			err := closing()
			ended()
			return err
		},
	}
}

// record begins the record of an operation for the console, if one is kept.
func (s *display) record(plan bool) *runlog.Recorder {
	world := &s.console.World
	if s.stack == nil || world.Process == nil || world.PulumiHome() == "" {
		return nil
	}
	head := runlog.Subject(s.stack.Backend, s.stack.Ref, world.Process())
	head.Command, head.Planning = s.options.Command, plan
	return runlog.Begin(runlog.Folder(world.PulumiHome()), head, s.sink.secrets())
}

// viewOptions returns the options that all views of the command share.
func (s *display) viewOptions(name string) view.Options {
	a, o := s.console, s.options
	columns, lines := a.Size()
	known := s.sink.secrets()
	for _, text := range s.config.secrets() {
		known.LearnText(text)
	}
	options := view.Options{
		Interactive: a.Streams.ErrTerminal && !a.Global.NonInteractive && a.World.Getenv("TERM") != "dumb",
		Color:       a.Color(a.Streams.ErrTerminal), OutTerminal: a.Streams.OutTerminal,
		OutColor: a.Color(a.Streams.OutTerminal), Flat: o.Flat, Command: s.nextCommand(),
		Width: columns, Height: lines, Size: a.Size,
		ShowSames: o.ShowSames, ShowSecrets: o.ShowSecrets, ShowReads: o.ShowReads, ShowComputed: o.ShowComputed, Drift: o.Command == "drift", Diff: o.Diff,
		SuppressOutputs: o.SuppressOutputs, SuppressProgress: o.SuppressProgress, Timestamps: o.Timestamps, Operation: name,
		Source: s.source, Property: s.property,
		Secrets: s.config.secrets(), Crash: a.Crashes.Crash, Found: a.World.Found,
	}
	if s.workspace != nil {
		options.Root, options.Stateful = s.workspace.Project.Dir, s.workspace.Project.Stateful
	}
	if s.stack != nil {
		options.Stack = s.stack.Ref.Stack
		a.Reports.About(s.stack.Ref.Project, s.stack.Ref.Stack, a.Short(s.workspace.Project.Path))
	}
	return options
}

// nextCommand is the command that a view may speak of when it says what to do next; empty for none. Who calls the
// program by Pulumi's name reads what that writes.
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
func (s *display) terminalView(o view.Options, document, final bool, known []*engine.Message) (func(engine.Event),
	func() error) {
	a := s.console
	if s.options.Json {
		if document && !a.World.Enabled("PULUMI_ENABLE_STREAMING_JSON_PREVIEW") {
			digest := report.NewDigest(o, s.sink.secrets())
			return report.AfterPrelude(digest.Event, known), func() error { return digest.Write(a.Streams.Out) }
		}
		lines := report.NewLines(a.Streams.Out, o, s.sink.secrets())
		return report.AfterPrelude(lines.Event, known), func() error { return nil }
	}
	o.Out, o.Err = a.Streams.Out, a.Screen
	if !s.options.ShowSecrets {
		o.Mask = s.sink.secrets()
	}
	if !final || a.Reports.TakesStdout() {
		o.Out, o.OutTerminal, o.OutColor = io.Writer(a.Streams.Err), a.Streams.ErrTerminal, o.Color
	}
	v := view.New(o)
	return v.Event, func() error { v.Close(); return nil }
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
