package check

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// declChecker checks one declaration.
type declChecker struct{ typer }

// checkerOf returns a checker for the declaration that owns the expressions of a unit.
func (b *body) checkerOf(unit *ast.Unit) *declChecker {
	j := &declChecker{typer{binder: binder{fitter{accessor{constants{body: b, unit: unit, record: b.records.of(unit),
		outcome: new(outcome), places: b.spare.Get().(*places),
		report: b.loose.Fork()}}}}}}
	if unit != nil {
		j.types, j.calls = make([]schema.Type, unit.Size), make([]*Call, len(unit.Calls))
		j.record.outcome = j.outcome
	}
	return j
}

// reconsider returns a checker for additional findings about a declaration that was checked before.
func (b *body) reconsider(unit *ast.Unit) *declChecker {
	known := b.records.of(unit).outcome
	j := b.checkerOf(unit)
	j.types, j.calls = slices.Clone(known.types), slices.Clone(known.calls)
	j.record.outcome = known
	return j
}

// checkResource checks properties, get and options of a resource (L3.B, L3.C, L4). Its type has been resolved.
func (c *declChecker) checkResource(n *Node) {
	decl := n.Resource.Decl
	c.checkInstances(n)
	var harmless []diag.Code
	if decl.If != nil || decl.ForEach != nil {
		harmless = inBranch // there may be no instance
	}
	c.report.Tolerating(harmless, func() {
		decl.Exprs(func(e ast.Expr) { c.infer(e) })
	})
	if decl.Get != nil {
		c.checkGet(n)
	} else if s := n.Resource.Schema; s != nil {
		c.checkProperties(n, s)
	}
	c.checkOptions(n)
	if n.Resource.Token == schema.StackReferenceToken {
		c.checkStackReference(n)
	}
}

// checkStackReference checks the stack that a StackReference reads: its ID, or its name, or else its own name (L7.11).
func (c *declChecker) checkStackReference(n *Node) {
	decl := n.Resource.Decl
	if decl.Get != nil && decl.Get.ID != nil {
		c.checkStack(diag.OperationFailed, decl.Get.ID)
		return
	}
	if name := decl.Property("name"); name != nil {
		c.checkStack(diag.OperationFailed, name)
		return
	}
	if decl.PropertiesExpr == nil && decl.ForEach == nil {
		c.checkStackName(diag.OperationFailed, n.Resource.LogicalName, decl.Name.Range)
	}
}

func (c *declChecker) checkProperties(n *Node, s *schema.Resource) {
	decl := n.Resource.Decl
	pl := c.places.enter(place{owner: schema.CollapseToken(s.Token), noun: "input", outputs: s.Outputs})
	defer c.places.leave(pl)
	if decl.PropertiesExpr != nil {
		pl.what = "properties of " + decl.Name.Value
		c.fit(decl.PropertiesExpr, s.Inputs, pl)
		return
	}
	pl.mean(decl.Misplaced...)
	c.fitMembers(decl.Properties, s.Inputs, pl)
	c.requireMembers(s.Inputs, pl, decl.Name.Range)
}

// fitMembers checks the written properties against the members of an object.
func (c *fitter) fitMembers(properties []ast.Property, want *schema.Object, pl *place) {
	pl.setMembers(len(properties))
	for i := range properties {
		pl.present[properties[i].Name.Value] = true
	}
	for i := range properties {
		c.fitMember(properties[i].Name, properties[i].Value, want, pl)
	}
}

// checkGet checks `get` (L3.C): the ID is required, and the state may name any outputs.
func (c *declChecker) checkGet(n *Node) {
	get := n.Resource.Decl.Get
	for _, p := range get.State {
		c.infer(p.Value)
	}
	if get.ID != nil {
		c.infer(get.ID)
		c.fit(get.ID, schema.String, &place{what: "id of get", strict: true})
	} // the parser reports a missing ID (L3.34)
	s := n.Resource.Schema
	if s == nil {
		return
	}
	state := s.Outputs
	if s.StateInputs != nil {
		state = mergedState(s)
	}
	c.fitMembers(get.State, state, &place{owner: schema.CollapseToken(s.Token), noun: "output", optional: true})
}

// mergedState lists the properties that a get may pass: the state inputs of the schema, and outputs.
func mergedState(s *schema.Resource) *schema.Object {
	return schema.NewObject("", true, func() []*schema.Property {
		all := append([]*schema.Property(nil), s.StateInputs.Properties()...)
		for _, p := range s.Outputs.Properties() {
			if s.StateInputs.Property(p.Name) == nil {
				all = append(all, p)
			}
		}
		return all
	})
}

// urnKey distinguishes resources by what is known without evaluation.
type urnKey struct{ token, parent, name string }

// checkURN reports two resources with the same URN (L3.18).
func (c *body) checkURN(n *Node) {
	r := n.Resource
	if r.Token == "" || r.Decl.ForEach != nil || r.Decl.If != nil || n.Resource.Decl.Get != nil && r.Schema == nil {
		return
	}
	key := urnKey{token: r.Token, name: r.LogicalName}
	if parent := r.Decl.Options.Parent; parent != nil {
		n := c.program.RefTo(parent.Value).Node
		if n == nil || n.Kind != ResourceNode {
			return
		}
		key.parent = n.Name
	}
	first := c.resourceKeys[key]
	if first == nil {
		c.resourceKeys[key] = n
		return
	}
	if first.Name == n.Name {
		return // a duplicate name, which the parser reports
	}
	if c.startOf(first.Range) > c.startOf(n.Range) {
		first, n = n, first
	}
	c.loose.Add(diag.Diagnostic{Code: diag.DuplicateURN, Subject: n.Range,
		Summary: "two resources of type " + schema.CollapseToken(r.Token) + " would be named " + findings.Shown(r.LogicalName),
		Detail:  "give one of them another name",
		Related: []diag.Related{{Range: first.Range, Message: "the other one is here"}}})
}

func isProviderToken(token string) bool { return strings.HasPrefix(token, providerPrefix) }

// Maps with the key that marks special values are reported wherever they would enter a state or a message (F1.10).
// Arguments of built-in functions are not checked here, since many turn a map into text: the evaluator reports those.

// reportReservedKeys looks for the key in a resource.
func (c *constants) reportReservedKeys(decl *ast.Resource) {
	decl.Exprs(c.reservedInside)
	for _, p := range decl.Properties {
		c.reserved(p.Name.Value, p.Name.Range)
	}
	if decl.Get != nil {
		for _, p := range decl.Get.State {
			c.reserved(p.Name.Value, p.Name.Range)
		}
	}
}

// reservedOutput looks for the key in an output.
func (c *constants) reservedOutput(decl *ast.Output) {
	c.reservedInside(decl.Value)
	c.reserved(decl.Name.Value, decl.Name.Range)
}

func (c *constants) reserved(name string, rng diag.Range) {
	if name == value.SignatureKey {
		c.report.Errorf(diag.ReservedKey, rng, "it marks secrets, assets and other special values; use another key",
			"unrecognized signature: the key `%s` is reserved", name)
	}
}

func (c *constants) reservedInside(e ast.Expr) {
	ast.Walk(e, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Call:
			call := c.program.Call(e)
			return call == nil || call.Func == nil || call.Func.Name == "secret"
		case *ast.Map:
			for _, entry := range e.Entries {
				if key, ok := entry.Key.(*ast.String); ok {
					c.reserved(key.Value, key.Range())
				}
			}
		}
		return true
	})
}
