package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/filelock"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/compiler"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Looking returns the options for commands that only read a program: they start nothing that the project contains
// (D13).
func (a *Console) Looking() workspace.Options {
	return workspace.Options{Shown: a.Short, LocalPackages: true, Texts: a.Texts, CRDs: a.World.CRDs(),
		Installed: func(dir, name, version string) (string, bool) {
			return install.RepositoryFolder(a.World.PulumiHome(), dir, name, version)
		},
		Inherit: func(p *project.Project, s *project.Settings) { a.Inherit(p, s, "") }}
}

// Trusting returns the options for commands that run the user's own program, and so may start its compiler. say
// receives the compiler's messages.
func (a *Console) Trusting(say func(diag.Severity, string)) workspace.Options {
	o := a.Looking()
	o.Compile = compiler.New(a.ChildEnv(), a.World.Supervisor(), func(_ context.Context, s diag.Severity,
		text string) {
		say(s, text)
	})
	return o
}

// CompilerSays returns a function that writes a compiler's messages to out (L1.F6).
func CompilerSays(out io.Writer) func(diag.Severity, string) {
	return func(s diag.Severity, text string) {
		if s == diag.Warning {
			text = "warning: " + text
		}
		fmt.Fprintln(out, text)
	}
}

// OpenProject finds and reads the project file of a directory.
func (a *Console) OpenProject(dir string) (*project.Project, diag.Diagnostics, error) {
	p, diags, err := workspace.FindProject(dir, a.Looking())
	return p, diags, AdviseProject(err)
}

// AdviseProject adds advice to the error of a project that was not found. It returns other errors unchanged.
func AdviseProject(err error) error {
	if errors.Is(err, project.ErrNotFound) {
		return fmt.Errorf("%w\nGo to a project's directory, name one with -C, or begin with `yamlhost new`", err)
	}
	return err
}

// SoundProject is like OpenProject for commands that need only the project file: it reports the file's diagnostics, and
// returns an error if the file is faulty.
func (a *Console) SoundProject(dir string) (*project.Project, error) {
	p, diags, err := a.OpenProject(dir)
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, a.Report(diags)
	}
	return p, nil
}

// ProjectIfAny is like SoundProject, but returns nil outside of a project.
func (a *Console) ProjectIfAny(dir string) (*project.Project, error) {
	p, err := a.SoundProject(dir)
	if errors.Is(err, project.ErrNotFound) {
		return nil, nil
	}
	return p, err
}

// OpenTarget opens the target that a user named: a directory, a file of a project, or a single file.
func (a *Console) OpenTarget(target string, o workspace.Options) (*workspace.Workspace, error) {
	path := a.Path(target)
	info, err := confine.Anywhere().Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist", target)
	}
	if err != nil {
		return nil, err
	}
	open := workspace.OpenFile
	if info.IsDir() {
		switch {
		case workspace.HoldsPack(path):
			open = workspace.OpenPack
		case workspace.HoldsPackage(path):
			open = workspace.OpenPackage
		default:
			open = workspace.Open
		}
	}
	ws, err := open(path, o)
	return ws, AdviseProject(err)
}

// MustBeDir returns an error unless dir is a folder.
func MustBeDir(a *Console, dir string) error {
	info, err := confine.Anywhere().Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist", a.Short(dir))
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", a.Short(dir))
	}
	return nil
}

// Hold locks a project, stack or lock file against editing by other processes until release is called: such a file is
// read, changed and written as a whole. An interrupt ends the waiting for the lock. A caller that holds a file must not
// hold another one in the same folder.
func (a *Console) Hold(path string) (release func(), err error) {
	ctx, done := a.Signals.Gentle(context.Background())
	defer done()
	release, err = filelock.Folder(ctx, filepath.Dir(path), func() {
		fmt.Fprintf(a.Streams.Err, "waiting for another yamlhost that edits files in %s\n", a.Short(filepath.Dir(path)))
	})
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", a.Short(path), err)
	}
	return release, nil
}

// SettingsPath returns the path of a stack's settings file, or of the one that --config-file names.
func (a Stacks) SettingsPath(p *project.Project, stack, file string) string {
	if file != "" {
		return a.Path(file)
	}
	return p.StackFile(stack)
}
