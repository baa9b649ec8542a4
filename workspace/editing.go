package workspace

import (
	"cmp"
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/workspace/project"
)

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
