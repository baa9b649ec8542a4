package check

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Secret is something in a program that is secret whatever its value.
type Secret struct {
	What  string // for people, such as password.result
	Range diag.Range
}

// FirstSecret finds the first thing in source order that the program makes secret: secret configuration, a property
// that its schema or an option marks, or a call of fn::secret. The second result is false for a program without; its
// providers may still answer with secrets. A caller uses it to ask for a passphrase before anything is done.
func (p *Program) FirstSecret() (Secret, bool) {
	var first *Secret
	found := func(what string, rng diag.Range) {
		rng = p.File.Origins.Place(rng)
		if first == nil || rng.Source == first.Range.Source && rng.Start < first.Range.Start {
			first = &Secret{What: what, Range: rng}
		}
	}
	visit := func(e ast.Expr) {
		ast.Walk(e, func(e ast.Expr) bool {
			if call, ok := e.(*ast.Call); ok {
				if c := p.Call(call); c != nil && c.Func != nil && (c.Func.Name == "secret" || c.Func.Name == "env" &&
					!p.publicEnv(c)) {
					found("fn::"+c.Func.Name, call.Name.Range)
				}
			}
			return true
		})
	}
	seen := make(map[*Program]bool)
	p.eachBody(seen, func(body *Program) { body.secrets(found, visit) })
	if first == nil {
		return Secret{}, false
	}
	return *first, true
}

// eachBody calls fn for the program, and for each component that it uses, once.
func (p *Program) eachBody(seen map[*Program]bool, fn func(body *Program)) {
	if seen[p] {
		return
	}
	seen[p] = true
	fn(p)
	for _, n := range p.Nodes {
		if n.Resource != nil && n.Resource.Component != nil {
			n.Resource.Component.Body.eachBody(seen, fn)
		}
	}
}

// publicEnv reports whether a call reads an environment variable that is no secret (L10.C9).
func (p *Program) publicEnv(c *Call) bool {
	if len(c.Args) == 0 || p.File == nil {
		return false
	}
	name, ok := c.Args[0].(*ast.String)
	return ok && slices.ContainsFunc(p.File.PublicEnv, func(l ast.Literal) bool { return l.Value == name.Value })
}

// secrets calls found for each secret of one body.
func (p *Program) secrets(found func(what string, rng diag.Range), visit func(ast.Expr)) {
	for _, n := range p.Nodes {
		switch n.Kind {
		case ConfigNode:
			if n.Config.Value != nil && n.Config.Value.ContainsSecret() {
				found("config "+n.Name, n.Range)
			}
			if d := n.Config.Decl; d != nil {
				visit(d.Default)
				if p.component && d.Secret != nil && d.Secret.Value {
					found("input "+n.Name, n.Range)
				}
			}
		case VariableNode:
			visit(n.Variable.Value)
		case ResourceNode:
			p.secretsOf(n, found)
			n.Resource.Decl.Exprs(visit)
		}
	}
	for _, o := range p.Outputs {
		visit(o.Decl.Value)
	}
}

// secretsOf calls found for each property of a resource that its schema or its options make secret.
func (p *Program) secretsOf(n *Node, found func(what string, rng diag.Range)) {
	decl, s := n.Resource.Decl, n.Resource.Schema
	if d := n.Resource.Dynamic; d != nil && d.Path != "" { // the state keeps its code, sealed
		found("the code of "+d.Path, n.Range)
	}
	if decl.Options.AdditionalSecretOutputs != nil {
		found(n.Name, decl.Options.AdditionalSecretOutputs.Key.Range)
	}
	if s == nil {
		return
	}
	for _, name := range s.SecretOutputs() {
		found(n.Name+"."+name, n.Range)
		break
	}
	for _, property := range decl.Properties {
		if input := s.Inputs.Property(property.Name.Value); input != nil && input.Secret {
			found(n.Name+"."+input.Name, property.Name.Range)
		}
	}
}
