package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// CheckOptions describe a run, besides the program's text.
type CheckOptions struct {
	// Schemas loads the schemas of packages. damaged reports whether one of those that were loaded since has turned out to
	// be damaged, for example by somebody who writes to its file: loaded anew, it is sound or says what is wrong.
	Schemas func() (loader schema.Loader, damaged func() bool)
	// Parameterize asks a plugin what package it becomes with the parameters of an entry of `packages` (L7.32). Its error
	// may have a method Advice() string that tells the way out. It is nil where only declarations beside the program
	// count.
	Parameterize func(ctx context.Context, pkg project.Package) (schema.Descriptor, error)
	// Config is the configuration of a stack and of the project file by full key. ConfigKnown says that there is a
	// stack; without one, missing values are not reported.
	Config      map[string]check.ConfigText
	ConfigKnown bool
	// Project overrides the project's name; empty for the name in the project file.
	Project string
	// Stat looks for files that programs name; nil when there is no file system.
	Stat func(path string) (fs.FileInfo, error)
	// AllowEnv, RestrictPaths and Untrusted are the run's permissions for the program.
	AllowEnv, RestrictPaths, Untrusted bool
	// MayReadStack returns an error for a stack whose outputs the program may not read; nil allows all.
	MayReadStack func(name string) error
	// Bundle makes the code of dynamic types; nil leaves their sources unread.
	Bundle check.Bundler
	// Handler looks at the sources that fn::bundle takes; nil leaves them unread.
	Handler func(ctx context.Context, dir string, r check.HandlerSource) ([]check.BundleFault, error)
}

// attempts bounds how often a program is checked while somebody writes to the schemas that it needs.
const attempts = 8

// Check parses and checks the program. All findings, those of the workspace too, come back together, each position
// once. The program is nil when there is no text.
func (w *Workspace) Check(ctx context.Context, o CheckOptions) (*check.Program, diag.Diagnostics) {
	if w.Source == nil {
		if w.compiler != nil && w.options.Compile == nil {
			return nil, onceEach(diag.Diagnostics{w.notCompiled()}, w.Diags)
		}
		return nil, w.Diags
	}
	file, parsed := w.options.Texts.parse(w, w.ParserOptions(o))
	file = w.Declare(file)
	options, failed := w.CheckerOptions(ctx, o)
	var program *check.Program
	var checked diag.Diagnostics
	for range attempts {
		var damaged func() bool
		options.Schemas, damaged = o.Schemas()
		options.Schemas = w.Schemas(options.Schemas)
		program, checked = check.Check(ctx, file, options)
		switch {
		case w.CRDs.Damaged():
			w.readCRDs()
		case !damaged():
			return program, w.Join(slices.Concat(parsed, failed, checked))
		}
	}
	return program, w.Join(slices.Concat(parsed, failed, checked))
}

// runtime returns the findings about the project's runtime: yamlhost reads no other language, and the Pulumi CLI
// needs the field.
func (w *Workspace) runtime() diag.Diagnostics {
	const yaml = "yaml"
	p := w.Project
	switch {
	case p.Runtime == yaml || p.Source == nil || w.isPack() || p.Runtime == "" && p.Name.Text == "":
		return nil
	case p.Runtime == "":
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.YamlhostOnly, Subject: p.Name.Range,
			Summary: "the project names no runtime", Detail: "write `runtime: yaml`; the Pulumi CLI refuses a project without it"}
		if end := p.Name.Range.End; bytes.HasPrefix(p.Source.Text()[end:], []byte("\n")) {
			rng := diag.NewRange(p.Source, int(end), int(end))
			d.Fixes = []diag.Fix{{Label: "Add `runtime: yaml`", Edits: []diag.Edit{{Range: rng, Text: "\nruntime: yaml"}}}}
		}
		return diag.Diagnostics{d}
	}
	d := diag.Diagnostic{Code: diag.NoProgram, Subject: p.RuntimePlace, Summary: "the runtime " + p.Runtime +
		" cannot be run here",
		Detail: "yamlhost runs programs of the runtime yaml; others need the Pulumi CLI and its language host"}
	if diag.Surely(p.Runtime, yaml) {
		d.Summary, d.Detail = "there is no runtime "+p.Runtime, "did you mean `yaml`?"
		if rng, ok := p.RuntimePlace.Word(p.Runtime); ok {
			d.Fixes = []diag.Fix{{Label: "Write `yaml`", Edits: []diag.Edit{{Range: rng, Text: yaml}}}}
		}
	}
	return diag.Diagnostics{d}
}

// Parse reads the program's text without checking it. Configuration that the text uses need not be declared in it when
// config has its key. The program's text must be known (Source).
func (w *Workspace) Parse(config map[string]check.ConfigText) (*ast.File, diag.Diagnostics) {
	file, diags := w.parse(names(config, w.Project.Name.Text))
	return file, onceEach(diags, w.Diags)
}

func (w *Workspace) parse(declared []string) (*ast.File, diag.Diagnostics) {
	o := w.parserOptions(declared)
	file, diags := parser.Parse(w.Source, o)
	w.options.Texts.keep(w, parsed{w.Source, o.Declared, file, diags})
	return w.Declare(file), diags
}

func (w *Workspace) parserOptions(declared []string) parser.Options {
	for _, d := range w.Project.Config {
		if d.Own {
			declared = append(declared, d.Key.Name)
		}
	}
	return parser.Options{Declared: declared, Include: w.include, Pack: w.isPack()}
}

// names returns the names that programs use for the values of a configuration.
func names(config map[string]check.ConfigText, name string) []string {
	return programNames(slices.Sorted(maps.Keys(config)), name)
}

// programNames returns the names that programs use for values: the full keys, and the short ones for values of the
// project itself.
func programNames(keys []string, name string) []string {
	var all []string
	for _, key := range keys {
		all = append(all, key)
		if short, own := strings.CutPrefix(key, name+":"); own && short != "" {
			all = append(all, short)
		}
	}
	return all
}

// ConfigTexts is a stack's configuration as Check takes it. Without a stack (nil) the values of the project file are
// all there is.
func (w *Workspace) ConfigTexts(config map[project.Key]project.Text) map[string]check.ConfigText {
	if config == nil {
		config, _, _ = project.Merge(w.Project, project.NewSettings("", w.Project.Name.Text), "", nil)
	}
	texts := make(map[string]check.ConfigText, len(config))
	for key, text := range config {
		texts[key.String()] = check.ConfigText{Text: text.Text, Secret: text.Secret, Project: text.FromProject,
			Structured: text.Structured, Unread: text.Unread, Key: text.Key}
	}
	return texts
}

// parameterized are the packages that the project's `packages` make of plugins and parameters (L7.32). One that is
// declared beside the program is not asked for: the declaration has all that is needed.
func (w *Workspace) parameterized(ctx context.Context, ask func(context.Context, project.Package) (schema.Descriptor,
	error)) ([]schema.Descriptor, diag.Diagnostics) {
	var found []schema.Descriptor
	var diags diag.Diagnostics
	declared := map[string]bool{}
	for _, d := range w.Packages {
		declared[d.PackageName()] = true
	}
	for _, pkg := range w.Project.Packages {
		if ask == nil || len(pkg.Parameters) == 0 || declared[pkg.Name.Text] {
			continue
		}
		entry := pkg
		if i := slices.IndexFunc(w.Plugins, func(p Plugin) bool { return p.Package.Name == pkg.Name }); i >= 0 {
			if w.Plugins[i].Faulty {
				continue
			}
			entry.Source, entry.Version = w.Plugins[i].Name, "" // the folder decides
		} else if _, local := w.Project.LocalDir(pkg); local {
			continue // components, which are not made of parameters
		}
		d, err := ask(ctx, entry)
		if errors.Is(err, schema.ErrReported) {
			continue
		}
		if err != nil {
			summary, detail, _ := strings.Cut(err.Error(), "\n")
			diags.Add(diag.Diagnostic{Code: diag.PackageMissing, Subject: pkg.Name.Range,
				Summary: fmt.Sprintf("package `%s`: %s", pkg.Name.Text, summary),
				Detail:  cmp.Or(detail, "the plugin "+pkg.Source+" makes it of its parameters")})
			continue
		}
		found = append(found, d)
	}
	return found, diags
}

// ParserOptions, Declare, CheckerOptions and Join are the parts of Check, for an editor that parses and checks by
// itself: what the parser has to know, what is declared beside the program, what the checker has to know but for the
// schemas, and the findings of the parser and the checker with those about the workspace, each position once.
func (w *Workspace) ParserOptions(o CheckOptions) parser.Options {
	name := cmp.Or(o.Project, w.Project.Name.Text)
	declared := append(names(o.Config, name), programNames(w.stackKeys(o), name)...)
	return w.parserOptions(declared)
}

// Declare adds what the project file declares for a program in a file of its own (L1.7).
func (w *Workspace) Declare(file *ast.File) *ast.File {
	if w.Source == w.Project.Source {
		return file
	}
	return withDeclarations(file, w.Project)
}

// CheckerOptions returns the options of the checker, without schemas, and the findings about the project's packages.
func (w *Workspace) CheckerOptions(ctx context.Context, o CheckOptions) (check.Options, diag.Diagnostics) {
	made, failed := w.parameterized(ctx, o.Parameterize)
	return check.Options{
		Project: cmp.Or(o.Project, w.Project.Name.Text), Packages: append(slices.Clip(w.Packages), made...),
		Local: w.Components, Config: o.Config, ConfigKnown: o.ConfigKnown || w.isPack(), StackKeys: w.stackKeys(o),
		ProgramDir: w.Program.Dir, RootDir: w.Project.Dir, AllowEnv: o.AllowEnv, RestrictPaths: o.RestrictPaths,
		Untrusted: o.Untrusted, Stat: o.Stat,
		MayReadStack: o.MayReadStack, Bundle: o.Bundle, Handler: o.Handler,
		KindsUnknown: w.CRDs != nil && w.CRDs.Faulty,
	}, failed
}

// Join puts findings together with those about the workspace, each position once.
func (w *Workspace) Join(found diag.Diagnostics) diag.Diagnostics {
	return diag.Folded(onceEach(slices.Concat(found, w.runtime()), w.Diags))
}

// stackKeys are the keys that any stack has, for a check without one.
func (w *Workspace) stackKeys(o CheckOptions) (keys []string) {
	if o.ConfigKnown {
		return nil
	}
	for _, key := range project.StackKeys(w.Project, w.options.Inherit) {
		keys = append(keys, key.String())
	}
	return keys
}

// onceEach joins findings: at one position an error of first wins over one of second, and an error over everything that
// matters less. One fault has one diagnostic (D7).
func onceEach(first, second diag.Diagnostics) diag.Diagnostics {
	start := func(d diag.Diagnostic) diag.Range { d.Subject.End = 0; return d.Subject }
	errorsOf := func(ds diag.Diagnostics) (places map[diag.Range]bool, broken map[*diag.Source]bool) {
		places, broken = map[diag.Range]bool{}, map[*diag.Source]bool{}
		for _, d := range ds {
			if d.Severity == diag.Error && !d.Subject.IsZero() {
				places[start(d)] = true
				broken[d.Subject.Source] = broken[d.Subject.Source] || d.Code == diag.Syntax || d.Code == diag.RunawayInput
			}
		}
		return places, broken
	}
	taken, broken := errorsOf(first)
	wanted, _ := errorsOf(second)
	// A value of the stack that does not match its declaration is reported at the value, with the declaration as a
	// related place.
	type fault struct {
		place diag.Range
		code  diag.Code
	}
	told := map[fault]bool{}
	for _, d := range second {
		for _, related := range d.Related {
			told[fault{start(diag.Diagnostic{Subject: related.Range}), d.Code}] = true
		}
	}
	var all diag.Diagnostics
	for _, d := range first {
		if (d.Severity == diag.Error || !wanted[start(d)]) && !told[fault{start(d), d.Code}] {
			all.Add(d)
		}
	}
	for _, d := range second {
		if !taken[start(d)] && !within(first, d) && !(d.Code == diag.Syntax && broken[d.Subject.Source]) {
			all.Add(d)
		}
	}
	return all
}

// within reports whether an error of findings is about a part of another error's subject, with the same fault.
func within(findings diag.Diagnostics, d diag.Diagnostic) bool {
	return d.Code == diag.ConfigDefault && slices.ContainsFunc(findings, func(f diag.Diagnostic) bool {
		return f.Code == d.Code && f.Subject.Source == d.Subject.Source && d.Subject.Start <= f.Subject.Start &&
			f.Subject.End <= d.Subject.End
	})
}
