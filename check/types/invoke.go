package types

import (
	"errors"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// inferShortInvoke infers fn::pkg:module:function with a map of arguments (L6.3). It has no place for options, so that
// its provider is the default one.
func (c *caller) inferShortInvoke(e *ast.Call) schema.Type {
	inv := &program.Invoke{Token: e.Name.Value}
	switch arg := e.Argument.(type) {
	case nil, *ast.Null:
		c.typer.infer(e.Argument)
	case *ast.Bad:
		return c.typer.infer(e.Argument)
	case *ast.Map:
		inv.Arguments = arg
	default:
		if e.Argument != nil {
			c.typer.infer(e.Argument)
			return c.decl.invalid(diag.BadArguments, e.Argument.Range(), "write a map of arguments, or fn::invoke",
				"fn::%s takes a map of arguments", e.Name.Value)
		}
	}
	return c.inferProviderCall(e, inv, &e.Name, nil)
}

// inferInvoke infers fn::invoke (L6.C). The token must be literal: without it, neither the package nor the type of the
// result is known, and no plugin could be loaded before the program runs. Options are checked before the function is
// looked up, because they choose the package's version.
func (c *caller) inferInvoke(e *ast.Call) schema.Type {
	f, _ := builtins.Lookup(packages.InvokeName)
	args, ok := c.bindAll(e, f)
	if !ok {
		return schema.Invalid
	}
	function, arguments, selector, options := args[0], args[1], args[2], args[3]
	inv := &program.Invoke{Arguments: arguments}
	if _, null := arguments.(*ast.Null); null {
		c.typer.infer(arguments)
		inv.Arguments = nil
	}
	var returned *ast.Literal
	switch s := selector.(type) {
	case nil:
	case *ast.String:
		// The selector is a path, which resultOf follows when the type of the result is known.
		returned = &ast.Literal{Value: s.Value, Range: s.Range()}
		inv.Return = s.Value
		c.typer.infer(selector)
	case *ast.Null, *ast.Bad:
		c.typer.infer(selector)
	default:
		c.typer.infer(selector)
		c.decl.report.Errorf(diag.NotLiteral, selector.Range(), "write the name of one output", "return must be a literal string")
	}
	token := packages.Called(e)
	pkg := ""
	if token != nil {
		pkg = packages.Of(token.Value)
	}
	c.checkInvokeOptions(inv, options, pkg)
	c.typer.infer(function)
	if token == nil {
		c.typer.infer(arguments)
		// The parser has reported it; a second finding about the same text would be noise.
		if _, reported := function.(*ast.Bad); reported {
			return schema.Invalid
		}
		return c.decl.invalid(diag.NotLiteral, function.Range(), "write the function's token, such as aws:index:getRegion",
			"function must be a literal string")
	}
	inv.Token = token.Value
	return c.inferProviderCall(e, inv, token, returned)
}

// inferProviderCall infers the call of a provider function. The call is recorded before its function is found, so that
// the editor can complete its arguments while the token is being typed.
func (c *caller) inferProviderCall(e *ast.Call, inv *program.Invoke, token, returned *ast.Literal) schema.Type {
	c.typer.infer(inv.Arguments)
	// The linker has chosen it, with the dependency on it.
	inv.DefaultProvider = c.decl.body.Scope.CallProvider(e)
	if !packages.Valid(token.Value) {
		ast.HideTexts(inv.Arguments) // no schema says which of them are secret
		packages.ReportBadToken(c.decl.report, token, "Function")
		return schema.Invalid
	}
	c.decl.setCall(e, &program.Call{Invoke: inv})
	f := c.resolveFunction(inv, packages.OfCall(e, token))
	if f == nil {
		return schema.Invalid
	}
	c.checkArguments(inv.Arguments, f.Inputs, schema.CollapseToken(f.Token), e.Name.Range)
	return c.resultOf(f, schema.CollapseToken(f.Token), returned)
}

// resultOf returns the type of the result of a function or method, or of the part of it that `return` names by a member
// or a path; returned is nil for the whole result.
func (c *caller) resultOf(f *schema.Function, name string, returned *ast.Literal) schema.Type {
	owner := "the result of " + name
	switch {
	case returned == nil && f.Result == nil:
		return schema.Null
	case returned == nil:
		return f.Result
	case f.Result == nil || f.Scalar:
		return c.decl.invalid(diag.NoMember, returned.Range, "leave `return` out: the result is the value itself",
			"%s has no outputs by name", owner)
	}
	result := f.Result
	for _, s := range program.ReturnPath(result, returned.Value) {
		// One step at a time, so that the finding names the step that does not exist.
		if result = c.accessor.member(result, step{name: s.Key, index: s.Index, isIndex: s.IsIndex, at: returned.Range,
			owner: owner}); result == schema.Invalid {
			return result
		}
		owner += value.Path{s}.String()
	}
	return result
}

// resolveFunction finds the function that a call means. A missing package is noted, not reported: all uses of it make
// one finding.
func (c *caller) resolveFunction(inv *program.Invoke, u packages.Use) *schema.Function {
	f, known, d, err := c.decl.body.Resolver.Function(u)
	// Set even if there is no such function, since the call needs the package all the same.
	inv.Package = d
	switch {
	case err == nil:
	case !errors.Is(err, schema.ErrNoSuchToken):
		ast.HideSounding(inv.Arguments)
		c.decl.report.Errorf(diag.PackageMissing, u.Token.Range, "the package's schema has an error", "%s cannot be called: %s",
			u.Token.Value, err)
		return nil
	case known.Absent():
		ast.HideSounding(inv.Arguments)
		c.decl.missing = append(c.decl.missing, MissingUse{known, u.Token.Range})
		return nil
	default:
		ast.HideTexts(inv.Arguments)
		packages.ReportUnknown(c.decl.report, u.Token, known.Schema, "function")
		return nil
	}
	inv.Token, inv.Schema = f.Token, f
	c.decl.report.OldToken(u.Token, f.Token)
	// An overlay is code of an SDK, which no provider serves.
	if f.Overlay {
		ast.HideTexts(inv.Arguments)
		c.decl.report.Errorf(diag.TokenNotFound, u.Token.Range, "the provider itself does not have it", "%s exists in other languages only",
			schema.CollapseToken(f.Token))
		return nil
	}
	if f.Deprecation != "" {
		c.decl.report.Warnf(diag.Deprecated, u.Token.Range, schema.Plain(f.Deprecation), "%s is deprecated",
			schema.CollapseToken(f.Token))
	}
	return f
}

// checkArguments checks a call's arguments, nil for none, like a resource's properties (L6.42). name is the range of
// the function's name.
func (c *caller) checkArguments(args ast.Expr, inputs *schema.Object, function string, name diag.Range) {
	p := &destination{owner: function, noun: "argument", key: name}
	if args == nil {
		// There is no map to point at, so what is missing is reported at the name.
		c.fitter.requireMembers(inputs, p, name)
		return
	}
	if _, literal := args.(*ast.Map); !literal {
		p.what = "arguments of " + p.owner
	}
	c.fitter.fit(args, inputs, p)
}

// checkInvokeOptions checks the options of a call (L4.D). pkg is the called package; empty if unknown. version and
// pluginDownloadURL must be literal, since they decide which package is loaded; the other options may be any
// expression.
func (c *caller) checkInvokeOptions(inv *program.Invoke, options ast.Expr, pkg string) {
	if options == nil {
		return
	}
	m, ok := options.(*ast.Map)
	if !ok {
		if t := c.typer.infer(options); t != schema.Null && t != schema.Invalid {
			c.decl.report.Errorf(diag.WrongKind, options.Range(), "", "options must be a map")
		}
		return
	}
	names := []string{"dependsOn", "parent", "pluginDownloadURL", "provider", "version"}
	// The map itself is not inferred: its keys are options, and no value of the program has its type.
	c.decl.setType(m, schema.Any)
	for _, entry := range m.Entries {
		key, literal := entry.Key.(*ast.String)
		c.typer.infer(entry.Key)
		c.typer.infer(entry.Value)
		if !literal {
			c.decl.report.Errorf(diag.NotLiteral, entry.Key.Range(), "", "the names of options must be literal")
			continue
		}
		name := key.Value
		for _, known := range names {
			if strings.EqualFold(known, name) {
				c.decl.report.OldSpelling(key.Range(), key.Value, known)
				name = known
			}
		}
		switch name {
		case "parent":
			inv.Parent = entry.Value
			c.options.fitOption(name, entry.Value, schema.AnyResource)
		case "provider":
			inv.Provider = entry.Value
			c.options.fitProvider(name, entry.Value, pkg)
		case "dependsOn":
			inv.DependsOn = entry.Value
			c.options.fitResources(name, entry.Value)
		case "version", "pluginDownloadURL":
			if _, ok := entry.Value.(*ast.String); !ok {
				c.decl.report.Errorf(diag.NotLiteral, entry.Value.Range(), "", "%s must be a literal string", name)
			} else if name == "version" {
				c.options.checkVersion(name, entry.Value)
			}
		default:
			c.decl.report.Errorf(diag.UnknownKey, key.Range(), findings.DidYouMean(diag.Suggest(name, names)), "unknown option `%s` of a call", name)
		}
	}
}
