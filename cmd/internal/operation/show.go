package operation

import (
	"errors"
	"io"

	"github.com/yamlhost/yamlhost/cmd/internal/report"
	"github.com/yamlhost/yamlhost/cmd/internal/view"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// shownView is how one phase of an operation is shown: on the terminal or as JSON, and in the reports of --out.
type shownView struct {
	event func(engine.Event)
	close func() error
}

// show makes the view of an operation. Of a plan that an operation follows, outputs are progress and no result.
func (p *Pipeline) show(name string, document, final bool) *shownView {
	o := p.viewOptions(name)
	known := make([]*engine.Message, 0, len(p.warned))
	for _, d := range p.warned.Sorted() {
		if d.Severity <= diag.Info {
			known = append(known, p.messageOf(d))
		}
	}
	told, ended := p.Console.Reports.Phase(o, p.stage.secrets(), known)
	event, closing := p.terminalView(o, document, final, known)
	return &shownView{
		event: func(e engine.Event) {
			event(e)
			told(e)
			if p.listen != nil {
				p.listen(e)
			}
		},
		close: func() error { return errors.Join(closing(), ended()) },
	}
}

// viewOptions say how every view of the command shows an operation.
func (p *Pipeline) viewOptions(name string) view.Options {
	a, o := p.Console, p.options
	columns, lines := a.Size()
	known := p.stage.secrets()
	for _, text := range p.secretTexts() {
		known.LearnText(text)
	}
	options := view.Options{
		Interactive: a.Streams.ErrTerminal && !a.Global.NonInteractive && a.World.Getenv("TERM") != "dumb",
		Color:       a.Color(a.Streams.ErrTerminal), Width: columns, Height: lines, Size: a.Size,
		ShowSames: o.ShowSames, ShowSecrets: o.ShowSecrets, ShowReads: o.ShowReads, Diff: o.Diff,
		SuppressOutputs: o.SuppressOutputs, SuppressProgress: o.SuppressProgress, Timestamps: o.Timestamps, Operation: name,
		Source: p.source, Property: p.Property,
		Secrets: p.secretTexts(), Crash: a.Crashes.Crash, Found: a.World.Found,
	}
	if p.Workspace != nil {
		options.Root = p.Workspace.Project.Dir
	}
	if p.Stack != nil {
		options.Stack = p.Stack.Ref.Stack
		a.Reports.About(p.Stack.Ref.Project, p.Stack.Ref.Stack, a.Short(p.Workspace.Project.Path))
	}
	return options
}

// terminalView shows an operation on the terminal, or on standard output as JSON.
func (p *Pipeline) terminalView(o view.Options, document, final bool, known []*engine.Message) (func(engine.Event),
	func() error) {
	a := p.Console
	if p.options.Json {
		if document && !a.World.Enabled("PULUMI_ENABLE_STREAMING_JSON_PREVIEW") {
			digest := report.NewDigest(o, p.stage.secrets())
			return report.AfterPrelude(digest.Event, known), func() error { return digest.Write(a.Streams.Out) }
		}
		lines := report.NewLines(a.Streams.Out, o, p.stage.secrets())
		return report.AfterPrelude(lines.Event, known), func() error { return nil }
	}
	progress, flush := p.discreetErr()
	o.Out, o.Err = a.Streams.Out, progress
	if !final || a.Reports.TakesStdout() {
		o.Out = io.Writer(a.Streams.Err)
	}
	v := view.New(o)
	return v.Event, func() error { v.Close(); return flush() }
}

// source finds the texts of the workspace by their absolute paths.
func (p *Pipeline) source(path string) *diag.Source {
	for _, src := range append([]*diag.Source{p.Workspace.Source, p.Workspace.Project.Source, p.settingsSource()},
		p.Workspace.Parts...) {
		if src != nil && p.Console.Path(src.Name()) == path {
			return src
		}
	}
	return nil
}

func (p *Pipeline) settingsSource() *diag.Source {
	if p.settings == nil {
		return nil
	}
	return p.settings.Source
}
