package check

import (
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/value"
)

// reportReservedKeys reports maps with the key that marks special values, wherever they are about to enter a state or a
// message (F1.10). Arguments of built-in functions are left to the evaluator: what they make of a map is often a text.
func (c *body) reportReservedKeys() {
	named := func(name string, at diag.Range) {
		if name == value.SignatureKey {
			c.errorf(diag.ReservedKey, at, "it marks secrets, assets and other special values; use another key",
				"unrecognized signature: the key `%s` is reserved", name)
		}
	}
	visit := func(e ast.Expr) {
		ast.Walk(e, func(e ast.Expr) bool {
			switch e := e.(type) {
			case *ast.Call:
				call := c.program.Call(e)
				return call == nil || call.Func == nil || call.Func.Name == "secret"
			case *ast.Map:
				for _, entry := range e.Entries {
					if key, ok := entry.Key.(*ast.String); ok {
						named(key.Value, key.Range())
					}
				}
			}
			return true
		})
	}
	for _, decl := range c.file.Resources {
		decl.Exprs(visit)
		for _, p := range decl.Properties {
			named(p.Name.Value, p.Name.Range)
		}
		if decl.Get != nil {
			for _, p := range decl.Get.State {
				named(p.Name.Value, p.Name.Range)
			}
		}
	}
	for _, decl := range c.file.Outputs {
		visit(decl.Value)
		named(decl.Name.Value, decl.Name.Range)
	}
}
