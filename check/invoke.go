package check

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// field returns the value of a map's key in any capitalisation (L1.20); nil for a nil map.
func field(m *ast.Map, name string) ast.Expr {
	if m == nil {
		return nil
	}
	for _, entry := range m.Entries {
		if key, ok := entry.Key.(*ast.String); ok && strings.EqualFold(key.Value, name) {
			return entry.Value
		}
	}
	return nil
}

// invokeArgument returns an argument of fn::invoke, given by its name in a map or by its position; nil for any other
// call.
func invokeArgument(e *ast.Call, name string, position int) ast.Expr {
	if !strings.EqualFold(e.Name.Value, invokeName) {
		return nil
	}
	if m, ok := e.Argument.(*ast.Map); ok {
		return field(m, name)
	}
	if position < len(e.Args) {
		return e.Args[position]
	}
	return nil
}

// ProviderCall returns the token of the called provider function, as written, with the version and download URL if the
// options give them as literal texts; nil for any other call.
func ProviderCall(e *ast.Call) (token *ast.Literal, version, url string) {
	if token = invokedToken(e); token != nil {
		version, url = invokeVersion(e)
	}
	return token, version, url
}

// invokedToken returns the token of the called provider function, as written; nil for any other call.
func invokedToken(e *ast.Call) *ast.Literal {
	if strings.Contains(e.Name.Value, ":") {
		return &e.Name
	}
	if s, ok := invokeArgument(e, "function", 0).(*ast.String); ok {
		return &ast.Literal{Value: s.Value, Range: s.Range()}
	}
	return nil
}

// invokeOptions returns the options of fn::invoke; nil if there are none.
func invokeOptions(e *ast.Call) *ast.Map {
	options, _ := invokeArgument(e, "options", 3).(*ast.Map)
	return options
}

func invokeVersion(e *ast.Call) (version, url string) {
	options := invokeOptions(e)
	if s, ok := field(options, "version").(*ast.String); ok {
		version = s.Value
	}
	if s, ok := field(options, "pluginDownloadURL").(*ast.String); ok {
		url = s.Value
	}
	return version, url
}

// useOf returns the use of a package by a call of a provider function.
func useOf(e *ast.Call, token *ast.Literal) use {
	u := use{token: token, explicit: hasExplicitProvider(e)}
	u.versionText, u.urlText = invokeVersion(e)
	return u
}

// providerCalls yields the calls of provider functions in a unit, which may be nil, with their tokens as written.
func providerCalls(unit *ast.Unit) iter.Seq2[*ast.Call, *ast.Literal] {
	return func(yield func(*ast.Call, *ast.Literal) bool) {
		if unit == nil {
			return
		}
		for _, call := range unit.Calls {
			if token := invokedToken(call); token != nil && !yield(call, token) {
				return
			}
		}
	}
}

func hasExplicitProvider(e *ast.Call) bool { return field(invokeOptions(e), "provider") != nil }

// inferShortInvoke infers fn::pkg:module:function with a map of arguments (L6.3).
func (c *typer) inferShortInvoke(e *ast.Call) schema.Type {
	inv := &Invoke{Token: e.Name.Value}
	switch arg := e.Argument.(type) {
	case nil, *ast.Null:
		c.infer(e.Argument)
	case *ast.Bad:
		return c.infer(e.Argument)
	case *ast.Map:
		inv.Arguments = arg
	default:
		if e.Argument != nil {
			c.infer(e.Argument)
			c.report.Errorf(diag.BadArguments, e.Argument.Range(), "write a map of arguments, or fn::invoke",
				"fn::%s takes a map of arguments", e.Name.Value)
			return schema.Invalid
		}
	}
	return c.inferProviderCall(e, inv, &e.Name, nil)
}

// inferInvoke infers fn::invoke (L6.C).
func (c *typer) inferInvoke(e *ast.Call) schema.Type {
	f, _ := builtins.Lookup(invokeName)
	args, ok := c.bindAll(e, f)
	if !ok {
		return schema.Invalid
	}
	function, arguments, selector, options := args[0], args[1], args[2], args[3]
	inv := &Invoke{Arguments: arguments}
	if _, null := arguments.(*ast.Null); null {
		c.infer(arguments)
		inv.Arguments = nil
	}
	var returned *ast.Literal
	switch s := selector.(type) {
	case nil:
	case *ast.String:
		returned = &ast.Literal{Value: s.Value, Range: s.Range()}
		inv.Return = s.Value
		c.infer(selector)
	case *ast.Null, *ast.Bad:
		c.infer(selector)
	default:
		c.infer(selector)
		c.report.Errorf(diag.NotLiteral, selector.Range(), "write the name of one output", "return must be a literal string")
	}
	token := invokedToken(e)
	pkg := ""
	if token != nil {
		pkg = packageOf(token.Value)
	}
	c.checkInvokeOptions(inv, options, pkg)
	c.infer(function)
	if token == nil {
		c.infer(arguments)
		if _, reported := function.(*ast.Bad); reported {
			return schema.Invalid
		}
		c.report.Errorf(diag.NotLiteral, function.Range(), "write the function's token, such as aws:index:getRegion",
			"function must be a literal string")
		return schema.Invalid
	}
	inv.Token = token.Value
	return c.inferProviderCall(e, inv, token, returned)
}

func (c *typer) inferProviderCall(e *ast.Call, inv *Invoke, token, returned *ast.Literal) schema.Type {
	c.infer(inv.Arguments)
	inv.DefaultProvider = c.packages.callProviders[e]
	if !validToken(token.Value) {
		reportBadToken(c.report, token, "Function")
		return schema.Invalid
	}
	c.setCall(e, &Call{Invoke: inv})
	f := c.resolveFunction(inv, useOf(e, token))
	if f == nil {
		return schema.Invalid
	}
	c.checkArguments(inv.Arguments, f.Inputs, schema.CollapseToken(f.Token), e.Name.Range)
	owner := "the result of " + schema.CollapseToken(f.Token)
	switch {
	case returned != nil && f.Result != nil && !f.Scalar:
		return c.returned(f.Result, returned, owner)
	case returned != nil:
		c.report.Errorf(diag.NoMember, returned.Range, "leave return out: the result is the value itself",
			"%s has no outputs by name", owner)
		return schema.Invalid
	case f.Result == nil:
		return schema.Null
	}
	return f.Result
}

// returned returns the type of the part of a result that `return` names by a member or a path.
func (c *typer) returned(result schema.Type, name *ast.Literal, owner string) schema.Type {
	path := ReturnPath(result, name.Value)
	for _, s := range path {
		if result = c.member(result, step{name: s.Key, index: s.Index, isIndex: s.IsIndex, at: name.Range,
			owner: owner}); result == schema.Invalid {
			return result
		}
		owner += value.Path{s}.String()
	}
	return result
}

// ReturnPath parses the text of `return`. It has one step if the result has a member of that name or the text is not a
// path.
func ReturnPath(result schema.Type, text string) value.Path {
	if o, ok := schema.Required(result).(*schema.Object); ok && o.Property(text) != nil {
		return value.PathOf(text)
	}
	path, err := value.ParsePath(text)
	if err != nil || len(path) == 0 {
		return value.PathOf(text)
	}
	return path
}

func (c *constants) resolveFunction(inv *Invoke, u use) *schema.Function {
	f, known, d, err := find(c.choose(u), u.token.Value, (*loadedPackage).function)
	inv.Package = d
	switch {
	case err == nil:
	case !errors.Is(err, schema.ErrNoSuchToken):
		c.report.Errorf(diag.PackageMissing, u.token.Range, "the package's schema has an error", "%s cannot be called: %s",
			u.token.Value, err)
		return nil
	case known.absent():
		c.missingPackage(known, u.token.Range)
		return nil
	default:
		tokenNotFound(c.report, u.token, known.pkg, "function")
		return nil
	}
	inv.Token, inv.Schema = f.Token, f
	c.report.OldSpelling(u.token.Range, u.token.Value, findings.Spelling(u.token.Value, f.Token))
	if f.Overlay {
		c.report.Errorf(diag.TokenNotFound, u.token.Range, "the provider itself does not have it", "%s exists in other languages only",
			schema.CollapseToken(f.Token))
		return nil
	}
	if f.Deprecation != "" {
		c.report.Warnf(diag.Deprecated, u.token.Range, schema.Plain(f.Deprecation), "%s is deprecated",
			schema.CollapseToken(f.Token))
	}
	return f
}

// checkArguments checks a call's arguments, nil for none, like a resource's properties (L6.42). name is the range of
// the function's name.
func (c *typer) checkArguments(args ast.Expr, inputs *schema.Object, function string, name diag.Range) {
	p := &place{owner: function, noun: "argument", key: name}
	if args == nil {
		c.requireMembers(inputs, p, name)
		return
	}
	if _, literal := args.(*ast.Map); !literal {
		p.what = "arguments of " + p.owner
	}
	c.fit(args, inputs, p)
}

// checkInvokeOptions checks the options of a call (L4.D). pkg is the called package; empty if unknown.
func (c *typer) checkInvokeOptions(inv *Invoke, options ast.Expr, pkg string) {
	if options == nil {
		return
	}
	m, ok := options.(*ast.Map)
	if !ok {
		if t := c.infer(options); t != schema.Null && t != schema.Invalid {
			c.report.Errorf(diag.WrongKind, options.Range(), "", "options must be a map")
		}
		return
	}
	names := []string{"dependsOn", "parent", "pluginDownloadURL", "provider", "version"}
	c.setType(m, schema.Any)
	for _, entry := range m.Entries {
		key, literal := entry.Key.(*ast.String)
		c.infer(entry.Key)
		c.infer(entry.Value)
		if !literal {
			c.report.Errorf(diag.NotLiteral, entry.Key.Range(), "", "the names of options must be literal")
			continue
		}
		name := key.Value
		for _, known := range names {
			if strings.EqualFold(known, name) {
				c.report.OldSpelling(key.Range(), key.Value, known)
				name = known
			}
		}
		switch name {
		case "parent":
			inv.Parent = entry.Value
			c.fitOption(name, entry.Value, schema.AnyResource)
		case "provider":
			inv.Provider = entry.Value
			c.fitProvider(name, entry.Value, pkg)
		case "dependsOn":
			inv.DependsOn = entry.Value
			c.fitResources(name, entry.Value)
		case "version", "pluginDownloadURL":
			if _, ok := entry.Value.(*ast.String); !ok {
				c.report.Errorf(diag.NotLiteral, entry.Value.Range(), "", "%s must be a literal string", name)
			} else if name == "version" {
				c.checkVersion(name, entry.Value)
			}
		default:
			c.report.Errorf(diag.UnknownKey, key.Range(), findings.DidYouMean(diag.Suggest(name, names)), "unknown option `%s` of a call", name)
		}
	}
}

// Invokes returns one call of each provider function in the program and its components, sorted by token.
func (p *Program) Invokes() []*Invoke {
	byToken := make(map[string]*Invoke)
	for _, r := range p.records {
		if r.outcome == nil {
			continue
		}
		for _, call := range r.outcome.calls {
			if call == nil || call.Invoke == nil {
				continue
			}
			if inv := call.Invoke; byToken[inv.Token] == nil || byToken[inv.Token].Schema == nil {
				byToken[inv.Token] = inv
			}
		}
	}
	return slices.SortedFunc(maps.Values(byToken), func(a, b *Invoke) int { return strings.Compare(a.Token, b.Token) })
}
