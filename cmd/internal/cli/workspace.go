package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/compiler"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// looking are the options for commands that only look at a program: they start nothing that the project brings (D13).
func (a *app) looking() workspace.Options {
	return workspace.Options{Shown: a.short, LocalPackages: true}
}

// trusting are the options for commands that use the user's own program: they start its compiler. say is told what the compiler
// has to say.
func (a *app) trusting(say func(diag.Severity, string)) workspace.Options {
	o := a.looking()
	o.Compile = compiler.New(a.childEnv(), func(_ context.Context, s diag.Severity, text string) { say(s, text) })
	return o
}

// compilerSays shows on out what a compiler has to say (L1.F6).
func (a *app) compilerSays(out io.Writer) func(diag.Severity, string) {
	return func(s diag.Severity, text string) {
		if s == diag.Warning {
			text = "warning: " + text
		}
		fmt.Fprintln(out, text)
	}
}

// openProject finds and reads the project file of a directory.
func (a *app) openProject(dir string) (*project.Project, diag.Diagnostics, error) {
	p, diags, err := workspace.FindProject(dir, a.looking())
	return p, diags, adviseProject(err)
}

// adviseProject adds to the error of a project that is not there what to do about it.
func adviseProject(err error) error {
	if errors.Is(err, project.ErrNotFound) {
		return fmt.Errorf("%w\nGo to a project's directory, name one with -C, or write a Pulumi.yaml", err)
	}
	return err
}

// soundProject is openProject for commands that need no program: a faulty project file is reported and ends the command.
func (a *app) soundProject(dir string) (*project.Project, error) {
	p, diags, err := a.openProject(dir)
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, a.report(diags)
	}
	return p, nil
}

// checkWorkspace checks a program against the schemas of providers. config is nil without a stack.
func checkWorkspace(ctx context.Context, ws *workspace.Workspace, providers *providers, config map[project.Key]project.Text) (*check.Program, diag.Diagnostics) {
	return checkFor(ctx, ws, providers, config, workspace.CheckOptions{})
}

// checkFor is checkWorkspace for a run, of which the options tell what it allows.
func checkFor(ctx context.Context, ws *workspace.Workspace, providers *providers, config map[project.Key]project.Text, run workspace.CheckOptions) (*check.Program, diag.Diagnostics) {
	return ws.Check(ctx, workspace.CheckOptions{
		AllowEnv: run.AllowEnv, RestrictPaths: run.RestrictPaths,
		Schemas: providers.watchedSchemas, Parameterize: providers.parameterize, Config: ws.ConfigTexts(config), ConfigKnown: config != nil,
		Stat: os.Stat, Bundle: providers.sources.Bundle,
	})
}

// openTarget opens what a user named: a directory, or a file of a project or by itself.
func (a *app) openTarget(target string, o workspace.Options) (*workspace.Workspace, error) {
	path := a.path(target)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist", target)
	}
	if err != nil {
		return nil, err
	}
	open := workspace.OpenFile
	if info.IsDir() {
		open = workspace.Open
	}
	ws, err := open(path, o)
	return ws, adviseProject(err)
}

func mustBeDir(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist", dir)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	return nil
}
