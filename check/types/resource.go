package types

import (
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// checkResource checks properties, get and options of a resource (L3.B, L3.C, L4). Its type has been resolved.
// Instances come first: forEach gives `each` its type. Everything is inferred before anything is compared with the
// schema, because a property may be inferred through another one, by a literal that a variable stands for.
func (c *Checker) checkResource(n *program.Node) {
	decl := n.Resource.Decl
	c.checkInstances(n)
	var harmless []diag.Code
	if decl.If != nil || decl.ForEach != nil {
		harmless = inBranch // there may be no instance
	}
	c.decl.report.Tolerating(harmless, func() {
		decl.Exprs(func(e ast.Expr) { c.typer.infer(e) })
	})
	c.checkName(n)
	if decl.Get != nil {
		c.checkGet(n)
	} else if s := n.Resource.Schema; s != nil {
		c.checkProperties(n, s)
	}
	c.options.checkOptions(n)
	if n.Resource.Token == schema.StackReferenceToken {
		c.checkStackReference(n)
	}
}

// checkName warns of a name with the separator of URNs (L3.20). The engine and the Pulumi CLI take such a name, but the
// grammar that Pulumi documents has none.
func (c *Checker) checkName(n *program.Node) {
	if !strings.Contains(n.Resource.LogicalName, "::") {
		return
	}
	rng := n.Resource.Decl.Name.Range
	if name := n.Resource.Decl.LogicalName; name.Text() != "" {
		rng = name.Range
	}
	c.decl.report.Warnf(diag.Malformed, rng, "write it without `::`; if the resource exists already, add its present name to "+
		"`aliases`, and it is kept", "the name %s has `::`, which separates the parts of a URN", findings.Shown(n.Resource.LogicalName))
}

// checkStackReference checks the stack that a StackReference reads: its ID, or its name, or else its own name (L7.11).
func (c *Checker) checkStackReference(n *program.Node) {
	decl := n.Resource.Decl
	if decl.Get != nil && decl.Get.ID != nil {
		c.outside.checkStack(diag.OperationFailed, decl.Get.ID)
		return
	}
	if name := decl.Property("name"); name != nil {
		c.outside.checkStack(diag.OperationFailed, name)
		return
	}
	if decl.PropertiesExpr == nil && decl.ForEach == nil {
		c.outside.checkStackName(diag.OperationFailed, n.Resource.LogicalName, decl.Name.Range)
	}
}

// checkProperties checks the inputs of a resource. Unknown members are reported before missing ones, since the former
// may mean the latter.
func (c *Checker) checkProperties(n *program.Node, s *schema.Resource) {
	decl := n.Resource.Decl
	pl := c.decl.destinations.enter(
		destination{owner: schema.CollapseToken(s.Token), noun: "input", outputs: s.Outputs})
	defer c.decl.destinations.leave(pl)
	if decl.PropertiesExpr != nil {
		pl.what = "properties of " + decl.Name.Value
		c.fitter.fit(decl.PropertiesExpr, s.Inputs, pl)
		return
	}
	pl.mean(decl.Misplaced...)
	c.fitter.fitMembers(decl.Properties, s.Inputs, pl)
	c.fitter.requireMembers(s.Inputs, pl, decl.Name.Range)
}

// fitMembers checks the written properties against the members of an object.
func (c *fitter) fitMembers(properties []ast.Property, want *schema.Object, pl *destination) {
	pl.setMembers(len(properties))
	for i := range properties {
		pl.present[properties[i].Name.Value] = true
	}
	for i := range properties {
		c.fitMember(properties[i].Name, properties[i].Value, want, pl)
	}
}

// checkGet checks `get` (L3.C): the ID is required, and the state may name any outputs. The state is a hint for the
// provider's read, which may complete it: nothing in it is required, and nothing is an input.
func (c *Checker) checkGet(n *program.Node) {
	get := n.Resource.Decl.Get
	for _, p := range get.State {
		c.typer.infer(p.Value)
	}
	if get.ID != nil {
		c.typer.infer(get.ID)
		c.fitter.fit(get.ID, schema.String, &destination{what: "id of get", strict: true})
	} // the parser reports a missing ID (L3.34)
	s := n.Resource.Schema
	if s == nil {
		return
	}
	state := s.Outputs
	if s.StateInputs != nil {
		state = mergedState(s)
	}
	c.fitter.fitMembers(get.State, state,
		&destination{owner: schema.CollapseToken(s.Token), noun: "output", optional: true})
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

// Maps with the key that marks special values are reported wherever they would enter a state or a message (F1.10).
// Arguments of built-in functions are not checked here, since many turn a map into text: the evaluator reports those.

// reportReservedKeys looks for the key in a resource. A map with it would be read back from the state as a secret or an
// asset.
func (c *Checker) reportReservedKeys(decl *ast.Resource) {
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
func (c *Checker) reservedOutput(decl *ast.Output) {
	c.reservedInside(decl.Value)
	c.reserved(decl.Name.Value, decl.Name.Range)
}

// reserved reports the key by which states and plugins mark secrets and assets. A map of the program with it would be
// read as one of these.
func (c *Checker) reserved(name string, rng diag.Range) {
	if name == value.SignatureKey {
		c.decl.report.Errorf(diag.ReservedKey, rng, "it marks secrets, assets and other special values; use another key",
			"unrecognized signature: the key `%s` is reserved", name)
	}
}

// reservedInside looks for the key in an expression. fn::secret passes its argument on as it is, and other functions
// mostly do not.
func (c *Checker) reservedInside(e ast.Expr) {
	ast.Walk(e, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Call:
			call := c.decl.call(e)
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
