package eval

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// call evaluates a call of a built-in or of a provider's function (L6).
func (s *scope) call(ctx context.Context, e *ast.Call) (value.Value, *fault) {
	c := s.e.program.Call(e)
	switch {
	case c == nil:
		return value.Null, poison // reported before
	case c.Invoke != nil:
		return s.invoke(ctx, e, c.Invoke)
	case c.Method != nil:
		return s.method(ctx, e, c.Method)
	}
	f := &builtinCall{scope: s, call: e, fn: c.Func, args: c.Args, inexact: c.Inexact}
	return f.value(ctx)
}

// builtinCall is one call of a built-in.
type builtinCall struct {
	*scope
	call   *ast.Call
	fn     *builtins.Func
	args   []ast.Expr
	thunks []builtins.Thunk // of all arguments
	failed []value.Value    // values used by failed candidates: the failure may depend on a secret or a resource

	inexact bool // the checker has warned that digits are lost
}

func (c *builtinCall) environment(ctx context.Context) environment {
	return environment{e: c.e, ctx: ctx, at: c.call.Name.Range, inexact: c.inexact}
}

func (c *builtinCall) value(ctx context.Context) (value.Value, *fault) {
	if c.lenient && c.fn.Name == "length" && len(c.args) == 1 && !c.call.Expanded {
		return c.count(ctx)
	}
	if c.isPlain() {
		return c.plain(ctx)
	}
	c.thunks = make([]builtins.Thunk, 0, len(c.args))
	for i, arg := range c.args {
		c.thunks = append(c.thunks, c.argument(i, arg))
	}
	if o := &c.e.options; o.RestrictPaths || o.Confined || o.Untrusted {
		c.confine()
	}
	if c.call.Failure != nil && len(c.thunks) == 2 {
		c.tellFailure()
	}
	expanded := value.Null
	if c.call.Expanded && len(c.args) > 0 {
		last := c.args[len(c.args)-1]
		items, f := c.eval(ctx, last)
		switch {
		case f != nil:
			return value.Null, f
		case !items.IsKnown():
			return items.UnknownAs(value.KindAny), nil
		case !items.Is(value.KindList):
			return value.Null, blame(diag.BadArguments, last.Range(), "", "... needs a list, not %s", kindOf(items))
		}
		expanded = items
		c.thunks = c.thunks[:len(c.thunks)-1]
		for i := range items.Len() {
			item, _ := items.Index(i)
			c.thunks = append(c.thunks, func(context.Context) (value.Value, error) { return item, nil })
		}
	}
	v, err := builtins.ApplyLazy(ctx, c.environment(ctx), c.fn, c.thunks)
	if err != nil {
		return value.Null, c.fault(err)
	}
	c.used.doubt(v)
	return v.WithMarksOf(expanded).WithMarksOf(c.failed...), nil // the number of arguments may be secret too
}

// isPlain reports whether the function receives the values of all its arguments unchanged.
func (c *builtinCall) isPlain() bool {
	return c.fn.Lazy == nil && !c.call.Expanded && !slices.ContainsFunc(c.fn.Params, func(p builtins.Param) bool {
		return p.Path || p.URI
	})
}

// plain evaluates a plain call without allocating thunks.
func (c *builtinCall) plain(ctx context.Context) (value.Value, *fault) {
	values := make([]value.Value, len(c.args))
	inside := c.scope
	if c.fn.Name == "secret" && !inside.sealed {
		sealed := *c.scope
		sealed.sealed = true
		inside = &sealed
	}
	for i, arg := range c.args {
		if arg == nil {
			continue // null
		}
		var f *fault
		if values[i], f = inside.eval(ctx, arg); f != nil {
			return value.Null, c.fault(f)
		}
	}
	v, err := builtins.Apply(ctx, c.environment(ctx), c.fn, values)
	if err != nil {
		return value.Null, c.fault(err)
	}
	c.used.doubt(v)
	return v, nil
}

// count returns the length of a value for a policy. A secret inside a list does not make the length secret, since
// messages would then hide it.
func (c *builtinCall) count(ctx context.Context) (value.Value, *fault) {
	v, f := c.eval(ctx, c.args[0])
	if f != nil || !v.IsKnown() {
		return v.UnknownAs(value.KindNumber), f
	}
	n, err := builtins.Apply(ctx, c.environment(ctx), c.fn, []value.Value{v.DeepPublic()})
	if err != nil {
		return value.Null, c.fault(err)
	}
	return n.WithMarksOf(v), nil
}

// argument returns a thunk for an argument. An argument that may fail is evaluated in a strict scope.
func (c *builtinCall) argument(i int, arg ast.Expr) builtins.Thunk {
	if c.fn.Lazy != nil && c.e.options.Covered != nil && c.fn.Name == "if" && i > 0 {
		branch := c.thunk(arg)
		return func(ctx context.Context) (value.Value, error) {
			c.e.options.covers(arg, true)
			return branch(ctx)
		}
	}
	if c.fn.Lazy == nil || !program.MayFail(c.fn, i) {
		return c.thunk(arg)
	}
	inner := *c.scope
	inner.strict = true
	inner.used = &used{outer: c.used}
	candidate := inner.thunk(arg)
	return func(ctx context.Context) (value.Value, error) {
		v, err := candidate(ctx)
		switch {
		case err != nil:
			c.failed = append(c.failed, inner.used.values...)
		case len(inner.used.doubts) > 0 && v.IsKnown():
			// it may still fail: the search ends here
			v = value.UnknownFrom(value.KindAny, append(inner.used.doubts, v)...)
		}
		return v, err
	}
}

// used collects the marks of the values used by an expression that may fail.
type used struct {
	values []value.Value
	doubts []value.Value // unknown values that may make the expression fail once they are known
	outer  *used         // of the expression around it
}

// doubt records that an expression depends on values and may fail once the unknown ones are known.
func (u *used) doubt(values ...value.Value) {
	for ; u != nil; u = u.outer {
		for _, v := range values {
			if !v.IsKnown() {
				u.doubts = append(u.doubts, v)
			}
		}
	}
}

func (u *used) add(v value.Value) {
	if u == nil || !v.IsSecret() && len(v.Deps()) == 0 {
		return
	}
	for ; u != nil; u = u.outer {
		u.values = append(u.values, v)
	}
}

// tellFailure binds the name by which the second argument of recover refers to the error of the first.
func (c *builtinCall) tellFailure() {
	first, why := c.thunks[0], ""
	c.thunks[0] = func(ctx context.Context) (value.Value, error) {
		v, err := first(ctx)
		if err != nil {
			why = err.Error()
		}
		return v, err
	}
	c.thunks[1] = func(ctx context.Context) (value.Value, error) {
		return c.with(c.call.Failure, value.String(why)).thunk(c.args[1])(ctx)
	}
}

// thunk returns a function that evaluates an expression when called.
func (s *scope) thunk(e ast.Expr) builtins.Thunk {
	return func(ctx context.Context) (value.Value, error) {
		if e == nil {
			return value.Null, nil
		}
		v, f := s.eval(ctx, e)
		if f != nil {
			return value.Null, f
		}
		return v, nil
	}
}

// fault returns the fault of the call, placed at the offending argument if there is one (L6.7).
func (c *builtinCall) fault(err error) *fault {
	e, args := c.call, c.args
	if f := silent(err); f != nil {
		return f
	}
	if f, ok := errors.AsType[*fault](err); ok {
		return f.at(e.Range())
	}
	if f := c.e.budget.overspent(err, e.Range()); f != nil {
		return f
	}
	rng, code := e.Name.Range, diag.FunctionFailed
	if failure, ok := errors.AsType[*builtins.Error](err); ok {
		if c.sealed {
			discreet := *failure
			discreet.Shown, discreet.Detail = "", ""
			err = &discreet
		}
		if i := failure.Arg; i >= 0 && len(args) > 0 {
			if arg := args[min(i, len(args)-1)]; arg != nil {
				rng = arg.Range()
			}
		}
	}
	if errors.Is(err, builtins.ErrSource) {
		code = diag.BadSource
	}
	if errors.Is(err, builtins.ErrFile) {
		code = diag.FileAccess
	}
	name := c.fn.Name
	if e.Argument != nil {
		name = "fn::" + name
	}
	return blame(code, rng, "", "%s: %s", name, err)
}

// at sets the range of findings that have none.
func (f *fault) at(r diag.Range) *fault {
	placed := *f
	placed.findings = append(diag.Diagnostics(nil), f.findings...)
	for i := range placed.findings {
		if placed.findings[i].Subject.IsZero() {
			placed.findings[i].Subject = r
		}
	}
	return &placed
}

// environment gives built-ins access to files, environment variables and the engine.
type environment struct {
	e   *evaluator
	ctx context.Context // of the call that it is made for
	at  diag.Range      // of the function's name

	inexact bool // the checker has warned that digits are lost
}

var _ builtins.Env = environment{}

// ReadFile reads a file, relative to the program directory (L6.22).
func (env environment) ReadFile(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.e.options.Cwd, path)
	}
	return env.e.readFile(env.ctx, path)
}

// Bundle returns the archive members for a source file (L10.C18).
func (env environment) Bundle(ctx context.Context, r builtins.BundleRequest) (map[string]string, error) {
	if env.e.options.Bundle == nil {
		return nil, errors.New("source files cannot be bundled here")
	}
	return env.e.options.Bundle(ctx, env.e.options.Cwd, r)
}

// Env looks up an environment variable that the program may read (L10.C9).
func (env environment) Env(name string) (value.Value, bool, error) {
	listed := func(names []ast.Literal) bool {
		return slices.ContainsFunc(names, func(l ast.Literal) bool { return l.Value == name })
	}
	if env.e.options.Untrusted {
		return value.Null, false, errors.New("an untrusted program may read no environment variable")
	}
	file := env.e.program.File
	public := listed(file.PublicEnv)
	if !env.e.options.AllowEnv && !public && !listed(file.AllowEnv) {
		return value.Null, false, fmt.Errorf("the program may not read the environment variable %s; "+
			"list it, as in `pulumi: {allowEnv: [%s]}`, or run `yamlhost up --allow-env`", name, name)
	}
	if env.e.options.Getenv == nil {
		return value.Null, false, nil
	}
	text, found := env.e.options.Getenv(name)
	v := value.String(text)
	if !public {
		v = v.Secret()
	}
	return v, found, nil
}

// LosesDigits warns of an integer in an argument, without its text, which may be secret (L1.26). A call that is
// repeated warns once.
func (env environment) LosesDigits() {
	if !env.inexact {
		env.e.notes.once(diag.LosesDigits(env.at, "", 0))
	}
}

// ParseYAML parses a text as data (L10.C4).
func (env environment) ParseYAML(text string) (value.Value, error) {
	if env.e.options.ParseData == nil {
		return value.Null, errors.New("this build cannot read YAML")
	}
	return program.Data(env.e.options.ParseData, text, env.LosesDigits)
}

// StackOutput reads an output of another stack (L6.30).
func (env environment) StackOutput(ctx context.Context, stack, output string) (value.Value, error) {
	return env.e.stackOutput(ctx, stack, output, env.at)
}

// Recoverable distinguishes faults of an expression, which try skips, from failures of its dependencies, which only
// recover skips as well (L10.C5).
func (env environment) Recoverable(err error) (isFault, isFailure bool) {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.cause == broken, f.cause == poisoned
	}
	return silent(err) == nil, false
}
