package types

import (
	"slices"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Hooks are commands that run beside operations on resources (L10.C14).

// checkHook finds the type of a command. The values of `args` come from the engine, and so they have the type Any.
func (c *Checker) checkHook(h *program.Hook) {
	if h.Decl.Command != nil {
		c.typer.infer(h.Decl.Command)
		c.fitter.fit(h.Decl.Command, &schema.Array{Item: schema.String},
			&destination{what: "the command of hook " + h.Decl.Name.Value})
	}
}

// checkHookOption checks that an option names kinds of hooks that exist; the scope has looked up the hooks themselves.
// The map must be literal, since the engine has to know the hooks of a resource before it is registered, and the graph
// depends on them.
func (c *options) checkHookOption(o *ast.Options) {
	c.typer.infer(o.Hooks.Value)
	if c.decl.program.InComponent {
		c.decl.report.Errorf(diag.UnknownKey, o.Hooks.Key.Range, "name the hook on the resources of the program itself",
			"a resource inside of a component cannot have hooks in this version")
		return
	}
	const shape = `hooks is a map from kinds of hooks to names, such as {beforeCreate: [check]}`
	m, ok := o.Hooks.Value.(*ast.Map)
	if !ok {
		c.decl.report.Errorf(diag.WrongKind, o.Hooks.Value.Range(), shape, "the option hooks must be a literal map")
		return
	}
	for _, entry := range m.Entries {
		for _, item := range program.ItemsOf(entry.Value) {
			if _, isText := item.(*ast.String); !isText {
				c.decl.report.Errorf(diag.NotLiteral, item.Range(), shape, "the name of a hook must be a literal string")
			}
		}
		if kind, isText := entry.Key.(*ast.String); !isText || !slices.Contains(program.HookKinds(), kind.Value) {
			c.decl.report.Errorf(diag.UnknownKey, entry.Key.Range(), "the kinds of hooks are "+findings.Listed(program.HookKinds()),
				"there are no hooks of this kind")
		}
	}
}

// checkMessage checks a message of the section `messages` (L10.C20).
func (c *Checker) checkMessage(m *ast.Message) {
	m.Exprs(func(e ast.Expr) { c.typer.infer(e) })
	if m.If != nil {
		c.typer.operand(m.If, schema.Bool, "`if`")
	}
	if m.Text != nil {
		c.typer.printable(m.Text, c.typer.infer(m.Text))
	}
	if m.Resource != nil {
		c.options.fitOption("resource", m.Resource, schema.AnyResource)
	}
}
