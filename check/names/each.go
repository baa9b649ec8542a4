package names

import (
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// argsName names the engine's description of the operation in the command of a hook, and the changed resource in a
// transform.
const argsName = "args"

// eachName names the instance in the fields of a resource with forEach.
const eachName = "each"

// linkResource links the expressions of a resource. `each` and `args` exist in parts of a resource only. A unit is read
// in the order of its slots, and so the parts are given by the slot at which they begin.
func (l *linker) linkResource(n *program.Node) {
	decl := n.Resource.Decl
	if decl.ForEach != nil {
		// A declaration of that name is fine until a forEach hides it, and is reported once however many do.
		if other := l.scope.Lookup(eachName); other != nil && !l.eachTaken {
			l.eachTaken = true
			l.scope.report.Add(diag.Diagnostic{Code: diag.DeclaredTwice, Subject: other.Range,
				Summary: "`each` is a " + other.Kind.String() + " and the instance in resources with `forEach`",
				Detail:  "rename the " + other.Kind.String(),
				Related: []diag.Related{{Range: decl.ForEach.Range(), Message: "a `forEach` is here"}}})
		}
	}
	// Most resources have neither: they take the short way, on which relink may answer.
	if decl.ForEach == nil && len(decl.Options.Transforms) == 0 {
		l.linkUnit(n, &n.Needs, decl.Unit)
		return
	}
	inTransform := make(map[ast.Expr]schema.Type)
	for _, t := range decl.Options.Transforms {
		t.Exprs(func(e ast.Expr) { inTransform[e] = program.ArgsOf(t) })
	}
	var around []surroundings
	decl.Exprs(func(e ast.Expr) {
		_, slot := ast.Slot(e)
		here := surroundings{from: slot, args: inTransform[e]}
		// The collection is what the instances come from, and so has none.
		if decl.ForEach != nil && e != decl.ForEach {
			here.each = n
		}
		around = append(around, here)
	})
	l.linkUnit(n, &n.Needs, decl.Unit, around...)
}

// resolveIn resolves a root in a node and its surroundings; n is nil for an output. The narrower meaning wins: a
// declaration called `each` or `args` is hidden where these exist, and linkResource reports the former.
func (l *linker) resolveIn(n *program.Node, root ast.Literal, around surroundings) program.Ref {
	if root.Value == eachName && n != nil && n == around.each {
		return program.Ref{Kind: program.RefEach, Node: n}
	}
	if around.args != nil && root.Value == argsName {
		return program.Ref{Kind: program.RefArgs}
	}
	if _, named := around.names[root.Value]; named {
		return program.Ref{Kind: program.RefPolicy}
	}
	ref := l.scope.resolve(root)
	if wrong := l.scope.undeclared.names[root.Value]; around.args != nil && wrong != nil {
		wrong.hasArgs = true
	}
	return ref
}
