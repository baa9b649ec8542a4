package types

import (
	"errors"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// The result of a call is known before the program runs if its arguments are literals.

// constants evaluates literal expressions, and finds out which ones depend on resources.
type constants struct{ decl *declaration }

// pure lists functions that depend on their arguments only, fail for some of them, and have small results: a check must
// not build what only a run may need.
var pure = []string{"select", "element", "slice", "zipmap", "toNumber", "parseInt", "fromJSON", "fromYAML", "fromCSV",
	"fromBase64", "urlDecode", "regex", "regexAll", "regexReplace", "formatDate", "timeAdd", "timeCompare", "uuidv5", "cidrContains",
	"cidrHost", "cidrNetmask", "cidrSubnet", "cidrSubnets"}

// constantEnv is what pure functions need of the world: they may warn, and parse a text as data. The embedded interface
// is nil, since they ask for nothing else.
type constantEnv struct {
	outer
	parse   program.ParseData
	inexact *bool
}

type outer = builtins.Env // under a name that makes the embedded field unexported

// LosesDigits notes that an integer loses digits.
func (e constantEnv) LosesDigits() { *e.inexact = true }

// ParseYAML parses a text as data, if there is a parser.
func (e constantEnv) ParseYAML(text string) (value.Value, error) {
	if e.parse == nil {
		return value.Null, nil
	}
	return program.Data(e.parse, text, e.LosesDigits)
}

// checkConstantCall reports a call with constant arguments that is certain to fail, and one that loses digits. Only
// functions that can fail for some arguments are worth evaluating, and only pure ones may be.
func (c *constants) checkConstantCall(e *ast.Call, call *program.Call) bool {
	f, args := call.Func, call.Args
	// An expanded argument stands for several, whose number is not known here.
	if !slices.Contains(pure, f.Name) || e.Expanded {
		return true
	}
	values := make([]value.Value, len(args))
	left := constantParts
	for i, arg := range args {
		v, ok := c.constantValue(arg, 0, &left)
		if !ok {
			return true
		}
		values[i] = v
	}
	env := constantEnv{parse: c.decl.body.Options.ParseData, inexact: &call.Inexact}
	_, err := builtins.Apply(c.decl.ctx, env, f, values)
	if call.Inexact {
		c.decl.report.Add(diag.LosesDigits(e.Name.Range, "", 0))
	}
	// Any other error is not about the arguments, such as a context that has ended.
	failure, ok := errors.AsType[*builtins.Error](err)
	if !ok {
		return true
	}
	rng := e.Range()
	if i := failure.Arg; i >= 0 && i < len(args) && args[i] != nil {
		rng = args[i].Range()
	}
	name := f.Name
	if e.Argument != nil {
		name = "fn::" + name
	}
	c.decl.report.Errorf(diag.FunctionFailed, rng, "", "%s: %s", name, failure.Error())
	return false
}

// constantParts bounds the values in the arguments of a constant call: variables that repeat lists of variables grow
// exponentially.
const constantParts = 10_000

// constantValue returns the value of a literal expression, also through variables. left is the number of values that it
// may still have.
func (c *constants) constantValue(e ast.Expr, depth int, left *int) (v value.Value, ok bool) {
	const deepest = 100
	if e == nil {
		return value.Null, true
	}
	if *left--; depth > deepest || *left < 0 {
		return value.Null, false
	}
	switch e := c.constant(e).(type) {
	case *ast.Null:
		return value.Null, true
	case *ast.Bool:
		return value.Bool(e.Value), true
	case *ast.Number:
		return value.Number(e.Value), true
	case *ast.String:
		v = value.String(e.Value)
		if e.Range().Hidden() {
			v = v.Secret() // so that no message has it
		}
		return v, true
	case *ast.List:
		items := make([]value.Value, len(e.Items))
		for i, item := range e.Items {
			if items[i], ok = c.constantValue(item, depth+1, left); !ok {
				return value.Null, false
			}
		}
		return value.List(items...), true
	}
	return value.Null, false
}

// maxIndirections bounds the chain of variables to a constant: they may lead back to themselves, and the names on the
// way are looked at by every declaration that uses them.
const maxIndirections = 32

// constant follows variables to the literal that e stands for (L8.15); e itself if there is none.
func (c *constants) constant(e ast.Expr) ast.Expr {
	for expr, i := e, 0; i < maxIndirections; i++ {
		access, ok := expr.(*ast.Access)
		if !ok {
			switch expr.(type) {
			case *ast.Null, *ast.Bool, *ast.Number, *ast.String, *ast.Map, *ast.List:
				return expr
			}
			return e
		}
		n := c.decl.program.Ref(access).Node
		// With steps the literal would be a part of the variable's, which intoLiteral finds.
		if len(access.Steps) > 0 || n == nil || n.Kind != program.VariableNode || c.decl.cyclic(n) {
			return e
		}
		expr = n.Variable.Value
	}
	return e
}

// intoLiteral follows an access into the literal lists and maps of a variable, whose items have types of their own. It
// returns the expression reached and the remaining steps; nil for an access to anything else. It stops at the first
// step that the literal does not have, and leaves the rest to the type of what it has reached.
func (c *constants) intoLiteral(e *ast.Access, ref program.Ref) (part ast.Expr, rest []ast.Step) {
	if ref.Kind != program.RefNode || ref.Node.Kind != program.VariableNode || c.decl.cyclic(ref.Node) {
		return nil, nil
	}
	part, rest = c.constant(ref.Node.Variable.Value), e.Steps
	for len(rest) > 0 {
		next := LiteralStep(part, &rest[0])
		if next == nil {
			break
		}
		part, rest = c.constant(next), rest[1:]
	}
	return part, rest
}

// LiteralStep returns the item or member of a literal list or map; nil if it has none.
func LiteralStep(e ast.Expr, s *ast.Step) ast.Expr {
	switch e := e.(type) {
	case *ast.List:
		if s.IsIndex && s.Index >= 0 && s.Index < len(e.Items) {
			return e.Items[s.Index]
		}
	case *ast.Map:
		for _, entry := range e.Entries {
			// The first of equal keys: the parser reports the second.
			if key, literal := entry.Key.(*ast.String); literal && !s.IsIndex && key.Value == s.Name {
				return entry.Value
			}
		}
	}
	return nil
}

// origins memoizes which values come from resources (L8.18). mu guards it, and is held from the first question to the
// answer: a value that is being asked about counts as none until then, which only the asker may see. It is shared by
// the declarations of a body since most of them ask about the same variables.
type origins struct {
	mu    sync.Mutex
	parts map[ast.Expr]bool // of variables, or all of their values
}

// comesFromResource reports whether an expression needs an output of a resource that is created (L8.18). Reading stacks
// and existing resources needs no creation. The lock is taken for a whole question, as parts holds half answers
// meanwhile.
func (c *constants) comesFromResource(e ast.Expr) bool {
	c.decl.body.origins.mu.Lock()
	defer c.decl.body.origins.mu.Unlock()
	return c.fromResource(e)
}

// fromResource is comesFromResource with origins.mu held.
func (c *constants) fromResource(e ast.Expr) bool {
	found := false
	ast.Walk(e, func(e ast.Expr) bool {
		if access, ok := e.(*ast.Access); ok && !found {
			switch ref := c.decl.program.Ref(access); ref.Kind {
			case program.RefNode:
				// Of a literal, only the part that the steps lead to counts. Steps that the literal does not have are
				// steps into the value of that part.
				if part, rest := c.intoLiteral(access, ref); part != nil && len(rest) < len(access.Steps) {
					found = c.partFromResource(part) || len(rest) > 0 && c.namesResource(part)
				} else {
					found = c.nodeFromResource(ref.Node, len(access.Steps) > 0)
				}
			case program.RefEach:
				found = c.fromResource(ref.Node.Resource.Decl.ForEach)
			}
		}
		return !found
	})
	return found
}

// partFromResource is fromResource for a part of a variable, memoized.
func (c *constants) partFromResource(part ast.Expr) bool {
	known, asked := c.decl.body.origins.parts[part]
	if !asked {
		if c.decl.body.origins.parts == nil {
			c.decl.body.origins.parts = make(map[ast.Expr]bool)
		}
		c.decl.body.origins.parts[part] = false // a cycle is reported elsewhere
		known = c.fromResource(part)
		c.decl.body.origins.parts[part] = known
	}
	return known
}

// namesResource reports whether an expression is a resource, whose members are known only once it exists.
func (c *constants) namesResource(e ast.Expr) bool {
	ref := c.decl.program.RefTo(e)
	return ref.Kind == program.RefNode && ref.Node != nil && c.nodeFromResource(ref.Node, true)
}

// nodeFromResource reports whether a value of a node, or a member of it, comes from a resource. The resource without a
// member is known: an option that takes a resource needs no value of it.
func (c *constants) nodeFromResource(n *program.Node, member bool) bool {
	switch n.Kind {
	case program.ResourceNode:
		return member && n.Resource.Token != schema.StackReferenceToken && n.Resource.Decl.Get == nil
	case program.VariableNode:
		content := n.Variable.Value
		return c.partFromResource(content) || member && !c.decl.cyclic(n) && c.namesResource(content)
	}
	return false
}

// needsResource reports whether the declaration names a resource, or a variable that may come from one. The resource
// may write the file that the declaration reads.
func (c *constants) needsResource() bool {
	return slices.ContainsFunc(c.decl.unit.Accesses, func(a *ast.Access) bool {
		ref := c.decl.program.Ref(a)
		return ref.Kind == program.RefNode && (ref.Node.Kind == program.ResourceNode || c.comesFromResource(a))
	})
}
