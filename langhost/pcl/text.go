package pcl

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/internal/literal"
)

var operators = map[*hclsyntax.Operation]string{
	hclsyntax.OpLogicalOr: "||", hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=",
	hclsyntax.OpGreaterThan: ">", hclsyntax.OpGreaterThanOrEqual: ">=", hclsyntax.OpLessThan: "<",
	hclsyntax.OpLessThanOrEqual: "<=",
	hclsyntax.OpAdd:             "+", hclsyntax.OpSubtract: "-", hclsyntax.OpMultiply: "*", hclsyntax.OpDivide: "/",
	hclsyntax.OpModulo: "%",
}

// text translates an expression for use in `${…}`: it returns HCL on one line, with the names that YAML uses.
func (m *module) text(e hclsyntax.Expression) string {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		if text, ok := literalText(e); ok {
			return literal.Quoted(text)
		}
		return m.literal(e)
	case *hclsyntax.TemplateExpr:
		return literal.QuotedTemplate(m.template(e))
	case *hclsyntax.TemplateWrapExpr:
		return m.operand(e.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return "(" + m.text(e.Expression) + ")"
	case *hclsyntax.ScopeTraversalExpr:
		return m.access(e)
	case *hclsyntax.RelativeTraversalExpr:
		return m.source(e.Source) + pathText(e.Traversal)
	case *hclsyntax.IndexExpr:
		return m.source(e.Collection) + "[" + m.text(e.Key) + "]"
	case *hclsyntax.SplatExpr:
		return m.source(e.Source) + "[*]" + m.text(e.Each)
	case *hclsyntax.AnonSymbolExpr:
		return ""
	case *hclsyntax.FunctionCallExpr:
		return m.callText(e)
	case *hclsyntax.ConditionalExpr:
		return m.operand(e.Condition) + " ? " + m.operand(e.TrueResult) + " : " + m.operand(e.FalseResult)
	case *hclsyntax.BinaryOpExpr:
		return m.operand(e.LHS) + " " + operators[e.Op] + " " + m.operand(e.RHS)
	case *hclsyntax.UnaryOpExpr:
		if e.Op == hclsyntax.OpNegate {
			return "-" + m.operand(e.Val)
		}
		return "!" + m.operand(e.Val)
	case *hclsyntax.TupleConsExpr:
		return "[" + joined(e.Exprs, m.text) + "]"
	case *hclsyntax.ObjectConsExpr:
		return "{" + joined(e.Items, func(item hclsyntax.ObjectConsItem) string {
			return m.key(item.KeyExpr) + " = " + m.text(item.ValueExpr)
		}) + "}"
	case *hclsyntax.ForExpr:
		return m.forText(e)
	}
	m.fail(e.Range(), "", "this expression is not understood")
	return "null"
}

// joined returns the texts of items, separated by commas.
func joined[T any](items []T, text func(T) string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = text(item)
	}
	return strings.Join(texts, ", ")
}

// key translates an object key.
func (m *module) key(e hclsyntax.Expression) string {
	if key, ok := literalKey(e); ok {
		return literal.Quoted(key)
	}
	if key, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		e = key.Wrapped
	}
	if _, ok := e.(*hclsyntax.ParenthesesExpr); ok {
		return m.text(e)
	}
	return "(" + m.text(e) + ")"
}

// operand translates an operand of an operator. An operand with a binary or conditional operator gets parentheses, so
// that precedence does not matter; unary operators and accesses bind more tightly anyway.
func (m *module) operand(e hclsyntax.Expression) string {
	switch e.(type) {
	case *hclsyntax.BinaryOpExpr, *hclsyntax.ConditionalExpr:
		return "(" + m.text(e) + ")"
	}
	return m.text(e)
}

// source translates an expression that a property access or index follows.
func (m *module) source(e hclsyntax.Expression) string {
	if _, signed := e.(*hclsyntax.UnaryOpExpr); signed {
		return "(" + m.text(e) + ")"
	}
	return m.operand(e)
}

// access translates a variable with its accesses. PCL's range is each in YAML.
func (m *module) access(e *hclsyntax.ScopeTraversalExpr) string {
	root := e.Traversal.RootName()
	if root == "range" && len(e.Traversal) > 1 {
		root = "each"
	}
	return root + pathText(e.Traversal[1:])
}

func (m *module) forText(e *hclsyntax.ForExpr) string {
	l := loop{keyName: e.KeyVar, valueName: e.ValVar, collection: m.operand(e.CollExpr), value: m.operand(e.ValExpr),
		grouped: e.Group}
	if e.KeyExpr != nil {
		l.key = m.operand(e.KeyExpr)
	}
	if e.CondExpr != nil {
		l.condition = m.operand(e.CondExpr)
	}
	return l.text()
}

// loop is a for expression, which has the same form in PCL and YAML. Missing parts are empty.
type loop struct {
	keyName, valueName, collection, key, value, condition string
	grouped                                               bool
}

func (l loop) text() string {
	head := l.valueName + " in " + l.collection + " : "
	if l.keyName != "" {
		head = l.keyName + ", " + head
	}
	body := l.value
	if l.key != "" {
		body = l.key + " => " + body
	}
	if l.grouped {
		body += "..."
	}
	if l.condition != "" {
		body += " if " + l.condition
	}
	if l.key != "" {
		return "{for " + head + body + "}"
	}
	return "[for " + head + body + "]"
}

// callText translates a function call in an expression.
func (m *module) callText(e *hclsyntax.FunctionCallExpr) string {
	if len(e.Args) == 0 && slices.Contains(pulumiCalls, e.Name) {
		return "pulumi." + e.Name
	}
	switch {
	case e.Name == "invoke":
		return m.invokeText(e)
	case e.Name == "getOutput" && len(e.Args) == 2:
		return m.operand(e.Args[0]) + ".outputs[" + m.text(e.Args[1]) + "]"
	case e.Name == "__convert" && len(e.Args) == 1: // values are converted when the program runs (L8.40)
		return m.text(e.Args[0])
	case !known(e.Name):
		m.fail(e.NameRange, "", "there is no function `%s` in YAML", e.Name)
	}
	list := joined(e.Args, m.text)
	if e.ExpandFinal {
		list += "..."
	}
	return e.Name + "(" + list + ")"
}

// invokeText translates a call of a provider function in an expression.
func (m *module) invokeText(e *hclsyntax.FunctionCallExpr) string {
	call, ok := m.invocation(e)
	if !ok {
		return "null"
	}
	args := []string{literal.Quoted(call.token)}
	if call.arguments != nil {
		args = append(args, m.text(call.arguments))
	}
	if call.options != nil {
		var items []string
		for _, item := range call.options.Items {
			if name, ok := m.invokeOption(item); ok {
				items = append(items, name+" = "+m.text(item.ValueExpr))
			}
		}
		args = append(args, "null", "{"+strings.Join(items, ", ")+"}")
	}
	return "invoke(" + strings.Join(args, ", ") + ")"
}
