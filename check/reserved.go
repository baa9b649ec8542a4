package check

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Maps with the key that marks special values are reported wherever they are about to enter a state or a message
// (F1.10). Arguments of built-in functions are left to the evaluator: what they make of a map is often a text.

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
		c.errorf(diag.ReservedKey, rng, "it marks secrets, assets and other special values; use another key",
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
