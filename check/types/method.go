package types

import (
	"errors"
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Methods of resources, called with fn::call (L10.C8).

const (
	callName = "call"
	selfName = "__self__" // the argument that is the resource itself
)

// inferMethod resolves the call of a method, checks its arguments and returns the type of its result. Which method is
// meant depends on the type of the resource, and so the arguments are inferred before the method is looked up. Where
// that type is known only in a run, or its package has no schema, the call is left to the engine and its result is Any.
func (c *caller) inferMethod(e *ast.Call, f *builtins.Func) schema.Type {
	args, ok := c.bindAll(e, f)
	if !ok {
		return schema.Invalid
	}
	sound := true
	for i, arg := range args {
		if arg != nil {
			c.typer.infer(arg)
			sound = c.fitArgument(f, arg, i, e) && sound
		}
	}
	if !sound {
		return schema.Invalid
	}
	// The parameters of fn::call are resource, method, arguments and return; bindAll leaves nil for the last two.
	m := &program.Method{Resource: args[0], Arguments: args[2]}
	// fitArgument has refused anything but a literal here, which the record of call asks for.
	method := args[1].(*ast.String)
	m.Name = method.Value
	if _, null := m.Arguments.(*ast.Null); null {
		m.Arguments = nil
	}
	var returned *ast.Literal
	if s, ok := args[3].(*ast.String); ok {
		returned, m.Return = &ast.Literal{Value: s.Value, Range: s.Range()}, s.Value
	}
	t, known := schema.Required(c.typer.infer(m.Resource)).(*schema.ResourceType)
	if !known {
		ast.HideSounding(m.Arguments) // no schema says which of them are secret
		c.decl.setCall(e, &program.Call{Func: f, Method: m})
		return schema.Any
	}
	c.decl.volatile = true // it searches all packages
	p, r := c.decl.body.Packages.ResourceOfType(t.Token)
	if r == nil {
		ast.HideSounding(m.Arguments)
		if c.decl.body.Components(t.Token) {
			return c.decl.invalid(diag.TokenNotFound, method.Range(), "read its outputs", "the component %s has no methods",
				schema.CollapseToken(t.Token))
		}
		// The package has no schema: its plugin decides in the run whether the method exists. Schemas write the tokens
		// of methods so.
		m.Token = t.Token + "/" + m.Name
		c.decl.setCall(e, &program.Call{Func: f, Method: m})
		return schema.Any
	}
	function, err := p.Schema.Method(r, m.Name)
	switch {
	case errors.Is(err, schema.ErrNoSuchToken):
		ast.HideTexts(m.Arguments) // a misspelt name may mean one that has secrets
		names := slices.Sorted(maps.Keys(r.Methods))
		hint := findings.NearOrAll(diag.Suggest(m.Name, names), names, "it has ", "it has none at all")
		return c.decl.invalid(diag.NoMember, method.Range(), hint, "%s has no method `%s`",
			schema.CollapseToken(r.Token), m.Name)
	case err != nil:
		ast.HideSounding(m.Arguments)
		return c.decl.invalid(diag.PackageMissing, method.Range(), "the package's schema has an error",
			"%s cannot be called: %s", m.Name,
			err)
	}
	m.Token, m.Package, m.Schema = function.Token, p.Descriptor, function
	// Recorded before the arguments are checked, so that the editor can complete them while one is wrong.
	m.Inputs = withoutSelf(function.Inputs)
	c.decl.setCall(e, &program.Call{Func: f, Method: m})
	if function.Deprecation != "" {
		c.decl.report.Warnf(diag.Deprecated, method.Range(), schema.Plain(function.Deprecation), "%s is deprecated", m.Name)
	}
	owner := schema.CollapseToken(r.Token) + "." + m.Name
	c.checkArguments(m.Arguments, m.Inputs, owner, method.Range())
	return c.resultOf(function, owner, returned)
}

// withoutSelf returns the inputs of a method without the resource itself.
func withoutSelf(inputs *schema.Object) *schema.Object {
	// Closed, since a method takes no argument that its schema does not name.
	return schema.NewObject("", true, func() []*schema.Property {
		var named []*schema.Property
		for _, p := range inputs.Properties() {
			if p.Name != selfName {
				named = append(named, p)
			}
		}
		return named
	})
}
