package types

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// outside checks what a declaration reads from outside of the program, as far as the arguments are literal: files, the
// environment, other stacks. Every question to the world makes the outcome volatile: files change without an edit, and
// so the next check asks again.
type outside struct {
	decl      *declaration
	constants *constants
}

// checkBundle reports faults of a source that a program bundles, if its arguments are literal. The bundler tries the
// source as a run would; arguments that are not literal are left out of the request, and found in the run.
func (c *outside) checkBundle(args []ast.Expr) {
	arg := func(i int) ast.Expr {
		if i < len(args) && args[i] != nil {
			return c.constants.constant(args[i])
		}
		return nil
	}
	entry, ok := arg(0).(*ast.String)
	// Without a bundler no source is read at all.
	if !ok || c.decl.body.Options.Handler == nil || !c.checkConfined(args[0], entry.Value) {
		return
	}
	source := builtins.BundleRequest{Entry: entry.Value} // the arguments are entry, export, capture and external
	if export, ok := arg(1).(*ast.String); ok {
		source.Export = export.Value
	}
	switch arg(2).(type) {
	case nil, *ast.Null:
	default:
		// Which values are captured matters in the run only; the bundler has to know that the import exists.
		source.Captured = true
	}
	if list, ok := arg(3).(*ast.List); ok {
		for _, item := range list.Items {
			if text, ok := c.constants.constant(item).(*ast.String); ok {
				source.External = append(source.External, text.Value)
			}
		}
	}
	rng := args[0].Range()
	c.decl.volatile = true
	faults, err := c.decl.body.Options.Handler(c.decl.ctx, c.decl.body.Options.ProgramDir, source)
	for _, f := range faults {
		c.decl.report.Errorf(diag.BadSource, rng, f.Place, "%s cannot be bundled: %s", findings.Shown(entry.Value), f.Message)
	}
	if err != nil {
		c.decl.report.Errorf(diag.FileAccess, rng, "", "cannot read %s: %s", findings.Shown(entry.Value), err)
	}
}

// checkEnv finds a variable of the environment that the program does not list (L10.C9). It is a warning, as the run may
// allow all variables; a component cannot list any and is not blamed. An untrusted run refuses for certain.
func (c *outside) checkEnv(arg ast.Expr) {
	if c.decl.body.Options.Untrusted {
		c.decl.report.Errorf(diag.FunctionFailed, arg.Range(), "the run is --untrusted",
			"an untrusted program may read no environment variable")
		return
	}
	name, ok := c.constants.constant(arg).(*ast.String)
	is := func(l ast.Literal) bool { return ok && l.Value == name.Value }
	if !ok || c.decl.body.Options.AllowEnv || c.decl.program.InComponent ||
		// The two lists differ only in whether the values are secret.
		slices.ContainsFunc(c.decl.file.AllowEnv, is) ||
		slices.ContainsFunc(c.decl.file.PublicEnv, is) {
		return
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.FunctionFailed, Subject: arg.Range(),
		Summary: "the program does not list the environment variable " + findings.Shown(name.Value),
		Detail:  "list it, as in `pulumi: {allowEnv: [" + name.Value + "]}`, or run `yamlhost up --allow-env`"}
	var listed []string
	for _, l := range slices.Concat(c.decl.file.AllowEnv, c.decl.file.PublicEnv) {
		listed = append(listed, l.Value)
	}
	if near := diag.Suggest(name.Value, listed); len(near) > 0 {
		d.Detail = findings.DidYouMean(near)
		d.Fixes = findings.Rename(arg.Range(), name.Value, near)
	}
	c.decl.report.Add(d)
}

// checkStack finds the name of a stack whose outputs the run does not let the program read.
func (c *outside) checkStack(code diag.Code, name ast.Expr) {
	if stack, ok := c.constants.constant(name).(*ast.String); ok {
		c.checkStackName(code, stack.Value, name.Range())
	}
}

// checkStackName reports a stack that Options.MayReadStack refuses. Its error has the reason in the first line and the
// way out in the others.
func (c *outside) checkStackName(code diag.Code, stack string, rng diag.Range) {
	if c.decl.body.Options.MayReadStack == nil {
		return
	}
	if err := c.decl.body.Options.MayReadStack(stack); err != nil {
		summary, detail, _ := strings.Cut(err.Error(), "\n")
		c.decl.report.Errorf(code, rng, detail, "%s", summary)
	}
}

// checkConfined finds a relative path that leads out of a project to which the run restricts paths (L6.23). It compares
// paths as they are written; the run opens files through a door that follows links, too.
func (c *outside) checkConfined(arg ast.Expr, path string) bool {
	full, absolute := filepath.FromSlash(path), filepath.IsAbs(filepath.FromSlash(path))
	s := c.decl.body.Options
	if !s.Untrusted && (absolute || !s.RestrictPaths) {
		return true
	}
	if !absolute {
		full = filepath.Join(s.ProgramDir, full)
	}
	relative, err := filepath.Rel(cmp.Or(s.RootDir, s.ProgramDir), full)
	if err == nil && filepath.IsLocal(relative) {
		return true
	}
	hint := "the run restricts paths; copy the file into the project, or write an absolute path"
	if s.Untrusted {
		hint = "the run is --untrusted; copy the file into the project"
	}
	c.decl.report.Errorf(diag.FileAccess, arg.Range(), hint, "%s is outside of the project", findings.Quote(path))
	return false
}

// checkPath looks whether the file of a literal path exists (L6.50): one that is missing fails the run, unless a
// resource that the declaration needs creates it. It is asked in the folder of the program, where the run will be.
func (c *outside) checkPath(f *builtins.Func, arg ast.Expr) {
	text, ok := c.constants.constant(arg).(*ast.String)
	if !ok || text.Value == "" || !c.checkConfined(arg, text.Value) || c.decl.body.Options.Stat == nil {
		return
	}
	path := c.resolve(text.Value)
	c.decl.volatile = true
	info, err := c.decl.body.Options.Stat(path)
	// A path with backslashes exists on Windows and nowhere else; it is an error where this machine does not find it.
	if other, found := diag.Slashed(arg.Range(), text.Value); found != nil && c.exists(other) {
		if err != nil {
			found.Severity = diag.Error
		}
		c.decl.report.Add(*found)
		return
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		report := c.decl.report.Errorf
		// The resource may be a command that writes the file, so that the check cannot know.
		if c.constants.needsResource() {
			report = c.decl.report.Warnf
		}
		report(diag.FileAccess, arg.Range(), "paths are relative to the directory of the program",
			"the file %s does not exist", findings.Shown(text.Value))
	case err != nil:
	case f.Name == "fileArchive" && !info.IsDir() && !isArchive(path): // L6.52
		c.decl.report.Warnf(diag.FileAccess, arg.Range(), "an archive is a directory, or a .tar, .tgz, .tar.gz, .zip or .jar file",
			"%s is not an archive", findings.Shown(text.Value))
	case f.Name != "fileArchive" && info.IsDir():
		hint := ""
		if f.Name == "fileAsset" {
			hint = "use fn::fileArchive for a directory"
		}
		c.decl.report.Warnf(diag.FileAccess, arg.Range(), hint, "%s is a directory", findings.Shown(text.Value))
	}
}

// resolve returns the path of a file that a program names.
func (c *outside) resolve(name string) string {
	path := filepath.FromSlash(name)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.decl.body.Options.ProgramDir, path)
}

// exists reports whether a file exists. Its callers have set volatile.
func (c *outside) exists(name string) bool {
	_, err := c.decl.body.Options.Stat(c.resolve(name))
	return err == nil
}

// isArchive reports whether a file has the ending of an archive (L6.52). Its content is read in the run only.
func isArchive(path string) bool {
	name := strings.ToLower(path)
	return slices.ContainsFunc([]string{".tar", ".tgz", ".tar.gz", ".zip", ".jar"}, func(suffix string) bool {
		return strings.HasSuffix(name, suffix)
	})
}
