// Package playground checks, draws and previews one program without files, processes or state, for use in a browser.
package playground

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/output/picture"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
)

const (
	path    = "/Pulumi.yaml"
	project = "playground"
	stack   = "browser"
)

// A Playground holds one program and answers requests about it. It is safe for concurrent use.
type Playground struct {
	session *editor.Session
	open    bool
	mu      sync.Mutex // guards open
}

// New returns a playground with an empty program.
func New() *Playground {
	return &Playground{session: editor.NewSession(&opener{schemas: schema.NewLoader(func(_ context.Context,
		d schema.Descriptor) ([]byte, error) {
		if text, ok := embedded.Schema(d.PackageName()); ok {
			return text, nil
		}
		return nil, fmt.Errorf("package %s is not built in: %w", d.PackageName(), schema.ErrNotFound)
	})})}
}

// opener opens every file as a program that can use the built-in packages.
type opener struct{ schemas schema.Loader }

func (*opener) Name(string) string { return "Pulumi.yaml" }

func (*opener) Forget() {}

func (o *opener) Open(_ context.Context, file string, open func(string) *parser.Document) (*editor.Project, error) {
	return &editor.Project{Main: file, Document: open(file), Check: check.Options{Project: project, Schemas: o.schemas,
		ProgramDir: "/", RootDir: "/"},
		Join: func(found diag.Diagnostics) diag.Diagnostics { return found }, Path: func(string) string { return path },
		Packages: embedded.Names}, nil
}

// Set replaces the text of the program.
func (p *Playground) Set(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open {
		p.session.Open(path, text)
		p.open = true
		return
	}
	p.session.Edit(path, parser.Edit{Start: 0, End: len(p.session.Snapshot().Text(path).Source().Text()), Text: text})
}

// A Finding is a diagnostic about the program.
type Finding struct {
	From     int    `json:"from"` // offset in UTF-16 code units, as browsers count
	To       int    `json:"to"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
}

func units(src *diag.Source, offset int) int {
	return len(utf16.Encode([]rune(string(src.Text()[:min(offset, len(src.Text()))]))))
}

func (p *Playground) program(ctx context.Context) (*editor.Program, error) {
	if p.session.Snapshot().Text(path) == nil {
		return nil, errors.New("there is no program yet")
	}
	return p.session.Snapshot().Program(ctx, path)
}

// Check returns the findings about the program in their order.
func (p *Playground) Check(ctx context.Context) ([]Finding, error) {
	program, err := p.program(ctx)
	if err != nil {
		return nil, err
	}
	src := program.Document.Source()
	found := []Finding{}
	for _, d := range program.Findings {
		if d.Severity > diag.Info {
			continue
		}
		found = append(found, Finding{units(src, int(d.Subject.Start)), units(src, int(d.Subject.End)),
			d.Severity.String(),
			string(d.Code), d.Text()})
	}
	return found, nil
}

// A Completion is a text that may be inserted at a position.
type Completion struct {
	Label  string `json:"label"`
	Insert string `json:"insert"`
	Detail string `json:"detail"`
}

// Complete returns the completions at offset i, and the offset at which the word to replace begins. Both offsets are
// in UTF-16 code units.
func (p *Playground) Complete(ctx context.Context, i int) (from int, items []Completion, err error) {
	if _, err := p.program(ctx); err != nil {
		return 0, nil, err
	}
	snapshot := p.session.Snapshot()
	src := snapshot.Text(path).Source()
	found, err := editor.Complete(ctx, snapshot, path, offset(src, i))
	if err != nil {
		return 0, nil, err
	}
	items = []Completion{}
	for _, item := range found.Items {
		items = append(items, Completion{item.Label, item.Insert, item.Detail})
	}
	return units(src, found.Start), items, nil
}

func offset(src *diag.Source, pos int) int {
	n := 0
	for i, r := range string(src.Text()) {
		if n >= pos {
			return i
		}
		n += len(utf16.AppendRune(nil, r))
	}
	return len(src.Text())
}

// Hover returns an explanation, in Markdown, of the text at offset i in UTF-16 code units. It is empty if there is
// none.
func (p *Playground) Hover(ctx context.Context, i int) (string, error) {
	if _, err := p.program(ctx); err != nil {
		return "", err
	}
	snapshot := p.session.Snapshot()
	found, err := editor.HoverAt(ctx, snapshot, path, offset(snapshot.Text(path).Source(), i))
	if err != nil || found == nil {
		return "", err
	}
	return found.Text, nil
}

// Format returns the program as `yamlhost fmt` formats it.
func (p *Playground) Format(ctx context.Context) (string, error) {
	program, err := p.program(ctx)
	if err != nil {
		return "", err
	}
	formatted, _ := parser.Format(program.Document.Source())
	return string(formatted), nil
}

// Graph returns a drawing of the program as SVG.
func (p *Playground) Graph(ctx context.Context) (string, error) {
	program, err := p.program(ctx)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = picture.WriteSVG(&b, program.Checked)
	return b.String(), err
}

// Preview returns a text that lists what a first update of the program would do.
func (p *Playground) Preview(ctx context.Context) (string, error) {
	program, err := p.program(ctx)
	if err != nil {
		return "", err
	}
	if program.Findings.HasErrors() {
		return "", errors.New("the program has errors")
	}
	var b strings.Builder
	options := engine.Options{Project: project, Stack: stack, Organization: "organization", RootDir: "/", ProgramDir: "/",
		DryRun:    true,
		Providers: providers{embedded.NewLoader(embedded.Options{Dir: "/", Confined: "/"})},
		Events:    func(e engine.Event) { tell(&b, e) }}
	var found diag.Diagnostics
	result, err := engine.Update(ctx, options, func(ctx context.Context, m monitor.Monitor) error {
		var ran eval.Result
		ran, found = eval.Run(ctx, program.Checked, m, eval.Options{Cwd: "/", Workers: 1, Untrusted: true,
			RestrictPaths: true,
			ParseData:     parser.Data, ReadFile: func(string) ([]byte, error) {
				return nil,
					errors.New("there are no files in a browser")
			}})
		if ran.Failed > 0 {
			return errors.New("the program failed")
		}
		return nil
	})
	for _, d := range found {
		fmt.Fprintf(&b, "%s: %s\n", d.Severity, d.Summary)
	}
	if err != nil && !found.HasErrors() {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	if result != nil {
		var counts []string
		for op, n := range result.Changes {
			counts = append(counts, fmt.Sprintf("%d to %s", n, op))
		}
		slices.Sort(counts)
		b.WriteString("\n" + strings.Join(counts, ", ") + "\n")
	}
	return b.String(), nil
}

// tell writes the text for an event, if it matters to users.
func tell(b *strings.Builder, e engine.Event) {
	switch e := e.(type) {
	case *engine.StepStarted:
		if !e.Internal {
			fmt.Fprintf(b, "+ %s %s\n", e.Step.URN.Name(), schema.CollapseToken(e.Step.URN.Type()))
		}
	case *engine.Message:
		if !e.Debug && e.Severity <= diag.Warning {
			fmt.Fprintf(b, "%s: %s\n", e.Severity, strings.TrimSpace(e.Text))
		}
	case *engine.Summary:
		if e.Outputs != nil && len(e.Outputs.Outputs.Keys()) > 0 {
			b.WriteString("\noutputs:\n")
			for _, key := range e.Outputs.Outputs.Keys() {
				v, _ := e.Outputs.Outputs.Lookup(key)
				text := v.String()
				if v.ContainsUnknown() {
					text = "known after the update"
				}
				fmt.Fprintf(b, "  %s: %s\n", key, text)
			}
		}
	}
}

// providers loads the built-in providers, except the one that runs commands.
type providers struct{ provider.Loader }

func (p providers) Load(ctx context.Context, pkg provider.Package) (provider.Provider, error) {
	if pkg.Name == "command" {
		return nil, errors.New("commands do not run: not in a browser")
	}
	return p.Loader.Load(ctx, pkg)
}
