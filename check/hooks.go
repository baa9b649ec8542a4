package check

import (
	"slices"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Hooks are commands that run beside operations on resources (L10.C14).

// Hook is a checked hook.
type Hook struct {
	Decl *ast.Hook
	// OnError reports whether resources name it for their errors: then it decides whether to try again.
	OnError bool
	// Needs are the nodes that its command refers to. A resource that names the hook needs them too.
	Needs []Edge

	other diag.Range // a place that names it for another kind than an error
}

// argsName names the engine's description of the operation in the command of a hook, and the changed resource in a
// transform.
const argsName = "args"

const onError = "onError"

var hookKinds = []string{"afterCreate", "afterDelete", "afterUpdate", "beforeCreate", "beforeDelete", "beforeUpdate",
	onError}

// HookKinds returns the kinds of hooks that a resource can name.
func HookKinds() []string { return slices.Clone(hookKinds) }

// linkHooks resolves the names in the commands of hooks.
func (c *linker) linkHooks() {
	for _, decl := range c.file.Hooks {
		h := &Hook{Decl: decl}
		c.linkUnit(nil, &h.Needs, decl.Unit, surroundings{args: schema.Any})
		c.program.Hooks = append(c.program.Hooks, h)
	}
}

// hook returns the hook with a name; nil if there is none.
func (c *linker) hook(name string) *Hook {
	for _, h := range c.program.Hooks {
		if h.Decl.Name.Value == name {
			return h
		}
	}
	return nil
}

// eachHook calls fn for the kind and the name of every hook of a resource.
func eachHook(o *ast.Options, fn func(kind, name *ast.String)) {
	if o.Hooks == nil {
		return
	}
	m, ok := o.Hooks.Value.(*ast.Map)
	if !ok {
		return
	}
	for _, entry := range m.Entries {
		kind, ok := entry.Key.(*ast.String)
		if !ok {
			continue
		}
		for _, item := range itemsOf(entry.Value) {
			if name, ok := item.(*ast.String); ok {
				fn(kind, name)
			}
		}
	}
}

// linkHooksOf adds the dependencies of a resource's hooks to the resource.
func (c *linker) linkHooksOf(n *Node) {
	eachHook(&n.Resource.Decl.Options, func(_, name *ast.String) {
		if h := c.hook(name.Value); h != nil {
			for _, edge := range h.Needs {
				n.Needs = append(n.Needs, Edge{To: edge.To, Range: name.Range()})
			}
		}
	})
}

// checkHook finds the type of a command.
func (c *declChecker) checkHook(h *Hook) {
	if h.Decl.Command != nil {
		c.infer(h.Decl.Command)
		c.fit(h.Decl.Command, &schema.Array{Item: schema.String}, &place{what: "the command of hook " + h.Decl.Name.Value})
	}
}

// checkHookOption checks that an option names kinds and hooks that exist.
func (c *declChecker) checkHookOption(o *ast.Options) {
	c.volatile = true // a hook's purpose depends on every option that names it
	c.infer(o.Hooks.Value)
	if c.component != nil {
		c.report.Errorf(diag.UnknownKey, o.Hooks.Key.Range, "name the hook on the resources of the program itself",
			"a resource inside of a component cannot have hooks in this version")
		return
	}
	const shape = `hooks is a map from kinds of hooks to names, such as {beforeCreate: [check]}`
	m, ok := o.Hooks.Value.(*ast.Map)
	if !ok {
		c.report.Errorf(diag.WrongKind, o.Hooks.Value.Range(), shape, "the option hooks must be a literal map")
		return
	}
	for _, entry := range m.Entries {
		for _, item := range itemsOf(entry.Value) {
			if _, isText := item.(*ast.String); !isText {
				c.report.Errorf(diag.NotLiteral, item.Range(), shape, "the name of a hook must be a literal string")
			}
		}
		if kind, isText := entry.Key.(*ast.String); !isText || !slices.Contains(hookKinds, kind.Value) {
			c.report.Errorf(diag.UnknownKey, entry.Key.Range(), "the kinds of hooks are "+findings.Listed(hookKinds),
				"there are no hooks of this kind")
		}
	}
	eachHook(o, func(kind, name *ast.String) {
		h := c.hook(name.Value)
		if h == nil {
			var names []string
			for _, known := range c.program.Hooks {
				names = append(names, known.Decl.Name.Value)
			}
			near := findings.DidYouMean(diag.Suggest(name.Value, names))
			if !slices.Contains(c.file.Lost, name.Value) && !c.nameless(name.Value) {
				c.report.Errorf(diag.Undeclared, name.Range(), near, "there is no hook `%s`", name.Value)
			}
			return
		}
		if kind.Value == onError {
			h.OnError = true
		} else {
			h.other = name.Range()
		}
		if h.OnError && !h.other.IsZero() {
			c.report.Errorf(diag.WrongKind, name.Range(), "declare two hooks with the same command",
				"the hook `%s` cannot be an error hook and a hook of another kind", name.Value)
		}
	})
}

// checkMessage checks a message of the section `messages` (L10.C20).
func (c *declChecker) checkMessage(m *ast.Message) {
	m.Exprs(func(e ast.Expr) { c.infer(e) })
	if m.If != nil {
		c.operand(m.If, schema.Bool, "`if`")
	}
	if m.Text != nil {
		c.printable(m.Text, c.infer(m.Text))
	}
	if m.Resource != nil {
		c.fitOption("resource", m.Resource, schema.AnyResource)
	}
}
