package program

import (
	"slices"

	"github.com/yamlhost/yamlhost/parser/ast"
)

// Hook is a checked hook.
type Hook struct {
	Decl *ast.Hook
	// OnError reports whether resources name it for their errors: then it decides whether to try again.
	OnError bool
	// Needs are the nodes that its command refers to. A resource that names the hook needs them too.
	Needs []Edge
}

// OnError is the kind of hooks that decide whether to try again after an error.
const OnError = "onError"

var hookKinds = []string{"afterCreate", "afterDelete", "afterUpdate", "beforeCreate", "beforeDelete", "beforeUpdate",
	OnError}

// HookKinds returns the kinds of hooks that a resource can name.
func HookKinds() []string { return slices.Clone(hookKinds) }

// EachHook calls fn for the kind and the name of every hook of a resource.
func EachHook(o *ast.Options, fn func(kind, name *ast.String)) {
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
		for _, item := range ItemsOf(entry.Value) {
			if name, ok := item.(*ast.String); ok {
				fn(kind, name)
			}
		}
	}
}

// ItemsOf returns the items of a literal list, or the expression itself.
func ItemsOf(e ast.Expr) []ast.Expr {
	if list, ok := e.(*ast.List); ok {
		return list.Items
	}
	return []ast.Expr{e}
}
