package check

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
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// The result of a call is known before the program runs if its arguments are literals.

// constants evaluates literal expressions. It has the types inferred so far.
type constants struct {
	*body
	report   *findings.Reporter // of the declaration
	unit     *ast.Unit          // of the declaration; nil for one without expressions
	record   *record            // of the unit
	*outcome                    // in the making
	places   *places
}

// hasLost reports whether the parser lost a part of a name.
func (c *constants) hasLost(name string) bool {
	yes := slices.Contains(c.file.Lost, name)
	c.lost = append(c.lost, answer{name, yes})
	return yes
}

func (c *constants) missingPackage(p *loadedPackage, rng diag.Range) {
	c.missing = append(c.missing, missingUse{p, rng})
}

// typeOf returns the inferred type of an expression.
func (c *constants) typeOf(e ast.Expr) schema.Type {
	return c.program.TypeOf(e)
}

// pure lists functions that depend on their arguments only and fail for some of them.
var pure = []string{"select", "fromJSON", "fromBase64", "regex", "regexAll", "regexReplace", "parseInt"}

// checkConstantCall reports a call with constant arguments that is certain to fail.
func (c *constants) checkConstantCall(e *ast.Call, f *builtins.Func, args []ast.Expr) bool {
	if !slices.Contains(pure, f.Name) || e.Expanded {
		return true
	}
	values := make([]value.Value, len(args))
	left := constantParts
	for i, arg := range args {
		v, ok := c.constantValue(arg, 0, &left)
		if !ok {
			return true
		}
		values[i] = v
	}
	_, err := builtins.Apply(c.ctx, nil, f, values)
	failure, ok := errors.AsType[*builtins.Error](err)
	if !ok {
		return true
	}
	rng := e.Range()
	if i := failure.Arg; i >= 0 && i < len(args) && args[i] != nil {
		rng = args[i].Range()
	}
	name := f.Name
	if e.Argument != nil {
		name = "fn::" + name
	}
	c.report.Errorf(diag.FunctionFailed, rng, "", "%s: %s", name, failure.Error())
	return false
}

// constantParts bounds the values in the arguments of a constant call: variables that repeat lists of variables grow
// exponentially.
const constantParts = 10_000

// constantValue returns the value of a literal expression, also through variables. left is the number of values that it
// may still have.
func (c *constants) constantValue(e ast.Expr, depth int, left *int) (v value.Value, ok bool) {
	const deepest = 100
	if e == nil {
		return value.Null, true
	}
	if *left--; depth > deepest || *left < 0 {
		return value.Null, false
	}
	switch e := c.constant(e).(type) {
	case *ast.Null:
		return value.Null, true
	case *ast.Bool:
		return value.Bool(e.Value), true
	case *ast.Number:
		return value.Number(e.Value), true
	case *ast.String:
		return value.String(e.Value), true
	case *ast.List:
		items := make([]value.Value, len(e.Items))
		for i, item := range e.Items {
			if items[i], ok = c.constantValue(item, depth+1, left); !ok {
				return value.Null, false
			}
		}
		return value.List(items...), true
	}
	return value.Null, false
}

// checkEnv finds a variable of the environment that the program does not list (L10.C9).
func (c *constants) checkEnv(arg ast.Expr) {
	if c.opts.Untrusted {
		c.report.Errorf(diag.FunctionFailed, arg.Range(), "the run is --untrusted",
			"an untrusted program may read no environment variable")
		return
	}
	name, ok := c.constant(arg).(*ast.String)
	is := func(l ast.Literal) bool { return ok && l.Value == name.Value }
	if !ok || c.opts.AllowEnv || c.component != nil || slices.ContainsFunc(c.file.AllowEnv, is) ||
		slices.ContainsFunc(c.file.PublicEnv, is) {
		return
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.FunctionFailed, Subject: arg.Range(),
		Summary: "the program does not list the environment variable " + findings.Shown(name.Value),
		Detail:  "list it, as in `pulumi: {allowEnv: [" + name.Value + "]}`, or run with --allow-env"}
	var listed []string
	for _, l := range slices.Concat(c.file.AllowEnv, c.file.PublicEnv) {
		listed = append(listed, l.Value)
	}
	if near := diag.Suggest(name.Value, listed); len(near) > 0 {
		d.Detail = findings.DidYouMean(near)
		d.Fixes = findings.Rename(arg.Range(), name.Value, near)
	}
	c.report.Add(d)
}

// checkStack finds the name of a stack whose outputs the run does not let the program read.
func (c *constants) checkStack(code diag.Code, name ast.Expr) {
	if stack, ok := c.constant(name).(*ast.String); ok {
		c.checkStackName(code, stack.Value, name.Range())
	}
}

func (c *constants) checkStackName(code diag.Code, stack string, rng diag.Range) {
	if c.opts.MayReadStack == nil {
		return
	}
	if err := c.opts.MayReadStack(stack); err != nil {
		summary, detail, _ := strings.Cut(err.Error(), "\n")
		c.report.Errorf(code, rng, detail, "%s", summary)
	}
}

// checkConfined finds a relative path that leads out of a project to which the run restricts paths (L6.23).
func (c *constants) checkConfined(arg ast.Expr, path string) bool {
	path = strings.TrimPrefix(path, "file://")
	full, absolute := filepath.FromSlash(path), filepath.IsAbs(filepath.FromSlash(path))
	if !c.opts.RestrictPaths && !c.opts.Untrusted || strings.Contains(path, "://") || absolute && !c.opts.Untrusted {
		return true
	}
	if !absolute {
		full = filepath.Join(c.opts.ProgramDir, full)
	}
	relative, err := filepath.Rel(cmp.Or(c.opts.RootDir, c.opts.ProgramDir), full)
	if err == nil && filepath.IsLocal(relative) {
		return true
	}
	hint := "the run restricts paths; copy the file into the project, or write an absolute path"
	if c.opts.Untrusted {
		hint = "the run is --untrusted; copy the file into the project"
	}
	c.report.Errorf(diag.FileAccess, arg.Range(), hint, "%s is outside of the project", findings.Quote(path))
	return false
}

// checkPath looks whether the file of a literal path exists (L6.50): one that is missing fails the run, unless a
// resource that the declaration needs creates it.
func (c *constants) checkPath(f *builtins.Func, arg ast.Expr) {
	text, ok := c.constant(arg).(*ast.String)
	if !ok || text.Value == "" || !c.checkConfined(arg, text.Value) || c.opts.Stat == nil {
		return
	}
	path := filepath.FromSlash(text.Value)
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.opts.ProgramDir, path)
	}
	c.volatile = true
	info, err := c.opts.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		report := c.report.Errorf
		if c.needsResource() {
			report = c.report.Warnf
		}
		report(diag.FileAccess, arg.Range(), "paths are relative to the directory of the program",
			"the file %s does not exist", findings.Shown(text.Value))
	case err != nil:
	case f.Name == "fileArchive" && !info.IsDir() && !isArchive(path): // L6.52
		c.report.Warnf(diag.FileAccess, arg.Range(), "an archive is a directory, or a .tar, .tgz, .tar.gz, .zip or .jar file",
			"%s is not an archive", findings.Shown(text.Value))
	case f.Name != "fileArchive" && info.IsDir():
		hint := ""
		if f.Name == "fileAsset" {
			hint = "use fn::fileArchive for a directory"
		}
		c.report.Warnf(diag.FileAccess, arg.Range(), hint, "%s is a directory", findings.Shown(text.Value))
	}
}

// needsResource reports whether the declaration names a resource, or a variable that may come from one.
func (c *constants) needsResource() bool {
	return slices.ContainsFunc(c.unit.Accesses, func(a *ast.Access) bool {
		ref := c.program.Ref(a)
		return ref.Kind == RefNode && (ref.Node.Kind == ResourceNode || c.comesFromResource(a))
	})
}

func isArchive(path string) bool {
	name := strings.ToLower(path)
	return slices.ContainsFunc([]string{".tar", ".tgz", ".tar.gz", ".zip", ".jar"}, func(suffix string) bool {
		return strings.HasSuffix(name, suffix)
	})
}
