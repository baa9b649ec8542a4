package types

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/phrasebook"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// caller finds the targets of calls, assigns the arguments to the parameters, and checks that they fit. A call is one
// of four: of a function of the language, of a provider function by fn::invoke or by its token, and of a method by
// fn::call. inferCall tells them apart by the name.
type caller struct {
	decl      *declaration
	constants *constants
	outside   *outside
	accessor  *accessor
	fitter    *fitter
	typer     *typer
	options   *options
}

// inferCall resolves a call and finds the type of its result (L6). Arguments are inferred before they are fitted, as
// everywhere, but within Tolerating: try, can, recover and if may hold what would be a fault elsewhere. What reads the
// world comes after the arguments fit, since it needs literals of the right kind; a call that is certain to fail comes
// last, since it is evaluated.
func (c *caller) inferCall(e *ast.Call) schema.Type {
	if strings.Contains(e.Name.Value, ":") {
		return c.inferShortInvoke(e)
	}
	f, ok := builtins.Lookup(e.Name.Value)
	if !ok {
		// What is inside of an unknown call may have faults of its own.
		c.inferInside(e)
		near := c.decl.report.Suggest(e.Name.Value, "functions", builtins.Names)
		hint := findings.DidYouMean(near)
		summary := "there is no function fn::" + e.Name.Value
		if n := c.decl.body.Scope.Lookup(e.Name.Value); n != nil && e.Argument == nil {
			// Other languages read a map by parentheses.
			near, summary = nil, findings.Quote(e.Name.Value)+" is a "+n.Kind.String()+", not a function"
			hint = "write `" + memberOf(e) + "` for what is in it"
		}
		// Names of other tools: their counterpart here is certain, unlike a similar spelling.
		if advice := phrasebook.Function(e.Name.Value); advice != "" {
			near, hint = nil, advice
		}
		c.decl.report.Add(diag.Diagnostic{Code: diag.UnknownFunction, Subject: e.Name.Range, Detail: hint,
			Summary: summary, Fixes: findings.Replace(e.Name.Range, e.Name.Value,
				diag.Meant(e.Name.Value, near))})
		return schema.Invalid
	}
	c.warnSpelling(e, f.Spelling(e.Name.Value))
	if f.Warning != "" {
		c.decl.report.Warnf(diag.Deprecated, e.Name.Range, "", "%s", f.Warning)
	}
	if !f.Portable {
		c.decl.report.Extension(e.Name.Range, "fn::"+f.Name)
	}
	// These two take options of their own and a token or a method as an argument, and so share nothing with the rest
	// but bind.
	if f.Name == packages.InvokeName {
		return c.inferInvoke(e)
	}
	if f.Name == callName {
		return c.inferMethod(e, f)
	}
	args, ok := c.bind(e, f)
	if !ok {
		c.inferInside(e)
		return schema.Invalid
	}
	if e.Failure != nil {
		// Bound before the arguments are inferred, one of which uses it.
		c.decl.bindLocal(e.Failure, schema.String)
	}
	if f.Name == "toJSON" && len(args) > 0 {
		// Looked at after all declarations have been checked: see NoteTexts.
		c.decl.jsonArguments = append(c.decl.jsonArguments, args[0])
	}
	types := make([]schema.Type, len(args))
	for i, arg := range args {
		if arg != nil {
			c.decl.report.Tolerating(harmless(f, i), func() { types[i] = c.typer.infer(arg) })
		}
	}
	sound := c.fitArguments(f, args, e)
	for i, arg := range args {
		// The entry of bundle is a path, too, which checkBundle looks for in its own way.
		if arg != nil && i < len(f.Params) && f.Params[i].Path && f.Params[i].Name == "path" {
			c.outside.checkPath(f, arg)
		}
	}
	if len(args) > 0 {
		switch f.Name {
		case "bundle":
			c.outside.checkBundle(args)
		case "env":
			c.outside.checkEnv(args[0])
		case "stackReference":
			c.outside.checkStack(diag.FunctionFailed, args[0])
		}
	}
	call := &program.Call{Func: f, Args: args}
	c.decl.setCall(e, call)
	// Evaluated only if the arguments fit: the fault of a call is reported once.
	if !sound || !c.constants.checkConstantCall(e, call) {
		return schema.Invalid
	}
	for i, t := range types {
		if t == nil {
			// An argument that is left out is null in the body of the function.
			types[i] = schema.Null
		}
	}
	// The result may depend on the types of the arguments, as that of element on its list.
	if t := f.Result(types); t != nil {
		return t
	}
	return schema.Any
}

// memberOf returns the reference that was probably meant by a call of a map: m(a) is ${m.a}.
func memberOf(e *ast.Call) string {
	if len(e.Args) == 1 {
		switch arg := e.Args[0].(type) {
		case *ast.Access:
			if len(arg.Steps) == 0 {
				return "${" + e.Name.Value + "." + arg.Root.Value + "}"
			}
		case *ast.String, *ast.Number:
			return "${" + e.Name.Value + "[" + arg.Range().Text() + "]}"
		}
	}
	return "${" + e.Name.Value + ".NAME}"
}

// warnSpelling warns of an old spelling or other capitals in a function's name or prefix (L1.20, L6.24).
func (c *caller) warnSpelling(e *ast.Call, name string) {
	rng, written := e.Name.Range, e.Name.Value
	if !e.Prefix.IsZero() {
		rng.Start = e.Prefix.Start
		written, name = e.Prefix.Text()+written, "fn::"+name
	}
	c.decl.report.OldSpelling(rng, written, name)
}

// fieldAbbreviations maps other words for the keys of a call to these keys. These are the words of other tools and of
// earlier versions of this language; the distance of letters would not find them.
var fieldAbbreviations = map[string]string{
	"args": "arguments", "inputs": "arguments", "params": "arguments", "parameters": "arguments", "opts": "options",
	"fn": "function", "name": "function", "returns": "return",
}

// inferInside infers the arguments of an invalid call, so that their own faults are reported. Everything in the program
// gets a type, so that names in it are found by the editor, too.
func (c *caller) inferInside(e *ast.Call) {
	c.typer.infer(e.Argument)
	for _, arg := range e.Args {
		c.typer.infer(arg)
	}
}

func isFunction(name string) bool { _, ok := builtins.Lookup(name); return ok }

// bind puts the arguments of a call in the order of the parameters (L6.B). There are three notations: arguments in
// parentheses, a list or a map below fn::name, and one value there, of which a function with one parameter needs no
// list.
func (c *caller) bind(e *ast.Call, f *builtins.Func) ([]ast.Expr, bool) {
	if e.Argument == nil {
		return c.count(e, f, e.Args, e.Name.Range)
	}
	if _, reported := e.Argument.(*ast.Bad); reported {
		return nil, false
	}
	switch f.Shape {
	case builtins.Positional:
		list, ok := e.Argument.(*ast.List)
		if !ok {
			if f.Min() <= 1 && !f.Variadic {
				return []ast.Expr{e.Argument}, true // one argument needs no list
			}
			return nil, c.badShape(e, f, e.Argument.Range())
		}
		return c.count(e, f, list.Items, list.Range())
	case builtins.Fields:
		m, ok := e.Argument.(*ast.Map)
		if !ok {
			return nil, c.badShape(e, f, e.Argument.Range())
		}
		return c.bindFields(e, f, m)
	}
	return []ast.Expr{e.Argument}, true
}

// bindAll is bind with nil for each omitted argument. If the arguments cannot be bound, it infers the expressions in
// them.
func (c *caller) bindAll(e *ast.Call, f *builtins.Func) ([]ast.Expr, bool) {
	args, ok := c.bind(e, f)
	if !ok {
		c.inferInside(e)
		return nil, false
	}
	for len(args) < len(f.Params) {
		args = append(args, nil)
	}
	return args, true
}

// count returns the arguments if there may be so many of them. With an expanded last argument the number is known in a
// run only, at least that of the others.
func (c *caller) count(e *ast.Call, f *builtins.Func, args []ast.Expr, rng diag.Range) ([]ast.Expr, bool) {
	if e.Expanded {
		if len(args)-1 > f.Max() && f.Max() >= 0 {
			return nil, c.badShape(e, f, rng)
		}
		return args, true
	}
	switch most := f.Max(); {
	case most >= 0 && len(args) > most:
		// The finding is at the arguments that are too many.
		rng = args[most].Range()
		rng.End = args[len(args)-1].Range().End
		fallthrough
	case len(args) < f.Min():
		return nil, c.badShape(e, f, rng)
	}
	return args, true
}

// bindFields binds arguments that are given by name. All keys are looked at before a missing one is reported: an
// unknown key may be the missing one, misspelt.
func (c *caller) bindFields(e *ast.Call, f *builtins.Func, m *ast.Map) ([]ast.Expr, bool) {
	args := make([]ast.Expr, len(f.Params))
	names := make([]string, len(f.Params))
	for i, p := range f.Params {
		names[i] = p.Name
	}
	ok := true
	var meant []string // unknown argument names
	for _, entry := range m.Entries {
		key, literal := entry.Key.(*ast.String)
		if !literal {
			c.decl.report.Errorf(diag.NotLiteral, entry.Key.Range(), "", "the keys of fn::%s must be literal", f.Name)
			ok = false
			continue
		}
		found := false
		for i, name := range names {
			// Other capitals mean the same, with a warning (L1.20).
			if strings.EqualFold(name, key.Value) {
				args[i], found = entry.Value, true
				c.decl.report.OldSpelling(key.Range(), key.Value, name)
			}
		}
		if !found {
			ok = false
			near := diag.Suggest(key.Value, names)
			meant = append(meant, near...)
			d := diag.Diagnostic{Code: diag.UnknownKey, Subject: key.Range(), Detail: findings.DidYouMean(near),
				Summary: fmt.Sprintf("fn::%s takes no `%s`", f.Name, key.Value)}
			sure := diag.Meant(key.Value, near)
			if short := fieldAbbreviations[key.Value]; slices.Contains(names, short) {
				sure, d.Detail = short, findings.DidYouMean([]string{short})
				meant = append(meant, short)
			}
			// A fix must not write a key that the map has already.
			if packages.Field(m, sure) == nil {
				d.Fixes = findings.Replace(key.Range(), key.Value, sure)
			} else {
				d.Detail = findings.Quote(sure) + " is already given: remove one of the two"
			}
			c.decl.report.Add(d)
		}
	}
	for i := range f.Params {
		if args[i] == nil && !f.Params[i].Optional {
			ok = false
			if !slices.Contains(meant, names[i]) && !c.decl.hasLost(names[i]) { // a lost name has a finding already
				c.decl.report.Errorf(diag.BadArguments, e.Name.Range, f.Params[i].Doc, "fn::%s needs %s", f.Name, names[i])
			}
		}
	}
	return args, ok
}

// badShape reports arguments that do not fit the parameters, and returns false. The message names the call as it is
// written: without fn:: inside of an expression.
func (c *caller) badShape(e *ast.Call, f *builtins.Func, rng diag.Range) bool {
	name := "fn::" + f.Name
	if e.Argument == nil {
		name = f.Name
	}
	hint := ""
	if f.Example != "" && e.Argument != nil {
		hint = "for example: " + f.Example
	}
	c.decl.report.Errorf(diag.BadArguments, rng, hint, "%s takes %s", name, shapeOf(f, e.Argument != nil))
	return false
}

// shapeOf describes the parameters of a function for messages, in the notation of the call: a list below fn::name, or
// arguments in parentheses.
func shapeOf(f *builtins.Func, asList bool) string {
	names := make([]string, len(f.Params))
	for i, p := range f.Params {
		names[i] = p.Name
		if p.Optional {
			names[i] += "?"
		}
	}
	if f.Variadic && len(names) > 0 {
		names[len(names)-1] += "..."
	}
	list := strings.Join(names, ", ")
	switch {
	case f.Shape == builtins.Fields:
		return "a map with " + list
	case asList:
		return "a list: [" + list + "]"
	}
	return "(" + list + ")"
}

// fitArguments checks the types of a call's arguments. Two swapped arguments are one fault. Each pair is exchanged and
// attempted again, which happens only where something does not fit.
func (c *caller) fitArguments(f *builtins.Func, args []ast.Expr, e *ast.Call) bool {
	all := func() bool {
		sound := true
		for i, arg := range args {
			if arg != nil {
				sound = c.fitArgument(f, arg, i, e) && sound
			}
		}
		return sound
	}
	var sound bool
	faults := c.decl.report.Attempt(func() { sound = all() })
	if sound || f.Shape != builtins.Positional || e.Expanded {
		c.decl.report.Add(faults...)
		return sound
	}
	for i := range args {
		for j := range args[:i] {
			// A single fault is no exchange, for both arguments would be wrong; only a literal that is missing hides
			// the fault of the other.
			if args[i] == nil || args[j] == nil || len(faults) < 2 && !(f.Param(i).Literal || f.Param(j).Literal) {
				continue
			}
			// The arguments are exchanged in place and back again, so nobody sees them exchanged but this attempt.
			args[i], args[j] = args[j], args[i]
			fits := len(c.decl.report.Attempt(func() { all() })) == 0
			args[i], args[j] = args[j], args[i]
			if fits {
				c.reportSwapped(f, args[j], args[i], e)
				return false
			}
		}
	}
	c.decl.report.Add(faults...)
	return false
}

// reportSwapped reports two arguments, in the order of the text, that fit after an exchange. The fix exchanges their
// texts, and so both must be on one line.
func (c *caller) reportSwapped(f *builtins.Func, first, second ast.Expr, e *ast.Call) {
	a, b := first.Range(), second.Range()
	d := diag.Diagnostic{Code: diag.NotAssignable, Subject: diag.Range{Source: a.Source, Start: a.Start, End: b.End},
		Summary: "the arguments of fn::" + f.Name + " are in the wrong order",
		Detail:  "it takes " + shapeOf(f, e.Argument != nil)}
	if a.Source == b.Source && a.End <= b.Start && !strings.Contains(a.Text()+b.Text(), "\n") {
		d.Fixes = []diag.Fix{{Label: "Swap them", Edits: []diag.Edit{{Range: a, Text: b.Text()}, {Range: b, Text: a.Text()}}}}
	}
	c.decl.report.Add(d)
}

// fitArgument checks the argument at an index. Functions of the language are strict: conversions belong to providers.
func (c *caller) fitArgument(f *builtins.Func, arg ast.Expr, i int, e *ast.Call) bool {
	p := f.Param(i)
	if p == nil || p.Type == nil {
		return true
	}
	// f(list...) passes the items of the last argument.
	if e.Expanded && i == len(e.Args)-1 && e.Argument == nil {
		return c.fitter.fit(arg, &schema.Array{Item: p.Type},
			&destination{what: "the expanded argument of " + f.Name, strict: true})
	}
	if p.Literal {
		if _, ok := arg.(*ast.String); !ok {
			c.decl.report.Errorf(diag.NotLiteral, arg.Range(), "", "%s of fn::%s must be a literal string", p.Name, f.Name)
			return false
		}
	}
	what := fmt.Sprintf("argument %s of fn::%s", findings.Quote(p.Name), f.Name)
	return c.fitter.fit(arg, p.Type, &destination{what: what, strict: true, nullable: p.Optional})
}
