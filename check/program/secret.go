package program

import (
	"iter"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Secret is a part of a program that is secret regardless of its value.
type Secret struct {
	What  string // for messages, such as password.result
	Range diag.Range
}

// FirstSecret finds the first thing in source order that the program makes secret: secret configuration, a property
// that its schema or an option marks, or a call of fn::secret. It returns nil if there is none; providers may still
// return secrets. Callers use it to ask for a passphrase before an operation begins. It may be wrong in one direction
// only: a passphrase that is asked for in vain is a nuisance, and a run that stops for one in the middle leaves work
// undone.
func (p *Program) FirstSecret() *Secret {
	var first *Secret
	found := func(what string, rng diag.Range) {
		rng = p.File.Origins.Place(rng)
		if first == nil || rng.Source == first.Range.Source && rng.Start < first.Range.Start {
			first = &Secret{What: what, Range: rng}
		}
	}
	for _, body := range p.bodies() {
		body.secrets(found)
		for call, c := range body.calls() {
			if c.Func != nil && (c.Func.Name == "secret" || c.Func.Name == "env" && !p.publicEnv(c)) {
				found("fn::"+c.Func.Name, call.Name.Range)
			}
		}
	}
	return first
}

// bodies returns the program and each component that it uses, once. The list grows while it is read, so that components
// in components are found; each body is in it once, and so a cycle of components ends.
func (p *Program) bodies() []*Program {
	all, listed := []*Program{p}, map[*Program]bool{p: true}
	for i := 0; i < len(all); i++ {
		for _, n := range all[i].Nodes {
			if n.Resource != nil && n.Resource.Component != nil && !listed[n.Resource.Component.Body] {
				listed[n.Resource.Component.Body] = true
				all = append(all, n.Resource.Component.Body)
			}
		}
	}
	return all
}

// units returns the units of the nodes and outputs of a body.
func (p *Program) units() (units []*ast.Unit) {
	for _, n := range p.Nodes {
		units = append(units, n.Unit())
	}
	for _, o := range p.Outputs {
		units = append(units, o.Decl.Unit)
	}
	return slices.DeleteFunc(units, func(u *ast.Unit) bool { return u == nil })
}

// calls yields the calls of the nodes and outputs of a body, with their targets.
func (p *Program) calls() iter.Seq2[*ast.Call, *Call] {
	return func(yield func(*ast.Call, *Call) bool) {
		for _, unit := range p.units() {
			for _, call := range unit.Calls {
				if c := p.Call(call); c != nil && !yield(call, c) {
					return
				}
			}
		}
	}
}

// publicEnv reports whether a call reads a public environment variable (L10.C9).
func (p *Program) publicEnv(c *Call) bool {
	if len(c.Args) == 0 || p.File == nil {
		return false
	}
	name, ok := c.Args[0].(*ast.String)
	return ok && slices.ContainsFunc(p.File.PublicEnv, func(l ast.Literal) bool { return l.Value == name.Value })
}

// secrets calls found for each declaration of one body that makes something secret.
func (p *Program) secrets(found func(what string, rng diag.Range)) {
	for _, n := range p.Nodes {
		switch n.Kind {
		case ConfigNode:
			if n.Config.Value != nil && n.Config.Value.ContainsSecret() {
				found("config "+n.Name, n.Range)
			}
			if d := n.Config.Decl; d != nil && p.InComponent && d.Secret.IsTrue() {
				found("input "+n.Name, n.Range)
			}
		case ResourceNode:
			p.secretsOf(n, found)
		}
	}
}

// secretsOf calls found for each property of a resource that its schema or its options make secret. One secret output
// is enough: the caller wants the first place.
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
