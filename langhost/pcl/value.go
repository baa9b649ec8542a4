package pcl

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/literal"
)

// value translates an expression to YAML: literals, lists and maps to their YAML forms, portable functions to `fn::…`,
// and everything else to an expression in `${…}`.
func (m *module) value(e hclsyntax.Expression) node {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return scalar(m.literal(e))
	case *hclsyntax.TemplateExpr:
		return scalar(literal.Scalar(literal.Template(m.template(e))))
	case *hclsyntax.TemplateWrapExpr:
		return m.value(e.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return m.value(e.Expression)
	case *hclsyntax.TupleConsExpr:
		list := &sequence{}
		for _, item := range e.Exprs {
			list.items = append(list.items, m.value(item))
		}
		return list
	case *hclsyntax.ObjectConsExpr:
		if object := m.object(e); object != nil {
			return object
		}
	case *hclsyntax.UnaryOpExpr:
		if number, ok := e.Val.(*hclsyntax.LiteralValueExpr); ok && e.Op == hclsyntax.OpNegate {
			return scalar("-" + m.literal(number))
		}
	case *hclsyntax.FunctionCallExpr:
		if call := m.call(e); call != nil {
			return call
		}
	case *hclsyntax.RelativeTraversalExpr:
		if call, ok := e.Source.(*hclsyntax.FunctionCallExpr); ok && call.Name == "invoke" {
			return m.invoke(call, pathText(e.Traversal))
		}
	}
	return scalar(literal.Scalar("${" + m.text(e) + "}"))
}

// object translates a map. It returns nil if a key is neither literal nor interpolated, or begins with fn::.
func (m *module) object(e *hclsyntax.ObjectConsExpr) node {
	out := &mapping{}
	for _, item := range e.Items {
		key, ok := m.keyText(item.KeyExpr)
		if !ok || strings.HasPrefix(strings.ToLower(key), "fn::") {
			return nil
		}
		out.entries = append(out.entries, entry{key: literal.Scalar(key), value: m.value(item.ValueExpr)})
	}
	return out
}

// keyText returns the key of an object in YAML, escaped and interpolated. It reports false for other expressions.
func (m *module) keyText(e hclsyntax.Expression) (string, bool) {
	if key, ok := literalKey(e); ok {
		return literal.Key(key), true
	}
	if key, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		switch wrapped := key.Wrapped.(type) {
		case *hclsyntax.ParenthesesExpr:
			return "${" + m.text(wrapped.Expression) + "}", true
		case *hclsyntax.TemplateWrapExpr:
			return "${" + m.text(wrapped.Wrapped) + "}", true
		case *hclsyntax.TemplateExpr:
			return literal.Template(m.template(wrapped)), true
		}
	}
	return "", false
}

// literal translates a literal to a scalar of YAML.
func (m *module) literal(e *hclsyntax.LiteralValueExpr) string {
	switch v := e.Val; {
	case v.IsNull():
		return "null"
	case v.Type().FriendlyName() == "bool":
		return strconv.FormatBool(v.True())
	case v.Type().FriendlyName() == "number":
		return numberText(v.AsBigFloat())
	case v.Type().FriendlyName() == "string":
		return literal.Scalar(literal.Text(v.AsString()))
	}
	m.fail(e.SrcRange, "", "this literal is not understood")
	return "null"
}

// numberText formats a number for YAML, JSON and HCL: as digits if it is whole and short, else as the shortest text of
// the double.
func numberText(f *big.Float) string {
	if f.IsInt() {
		if text := f.Text('f', 0); len(text) <= 17 {
			return text
		}
	}
	d, _ := f.Float64()
	return big.NewFloat(d).Text('g', -1)
}

func (m *module) template(e *hclsyntax.TemplateExpr) []literal.Part {
	var parts []literal.Part
	for _, p := range e.Parts {
		if text, ok := literalText(p); ok {
			parts = append(parts, literal.Part{Text: text})
			continue
		}
		switch p.(type) {
		case *hclsyntax.ConditionalExpr, *hclsyntax.TemplateJoinExpr:
			if source := m.sources[p.Range().Filename]; source != nil &&
				bytes.HasPrefix(p.Range().SliceBytes(source.Text()), []byte("%{")) {
				m.fail(p.Range(), "write a conditional or a for expression in ${…}", "template directives are not understood")
			}
		}
		parts = append(parts, literal.Part{Expression: m.text(p)})
	}
	return parts
}

// literalText returns the value of a string without interpolation.
func literalText(e hclsyntax.Expression) (string, bool) {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		if !e.Val.IsNull() && e.Val.Type().FriendlyName() == "string" {
			return e.Val.AsString(), true
		}
	case *hclsyntax.TemplateExpr:
		var b strings.Builder
		for _, p := range e.Parts {
			text, ok := literalText(p)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		}
		return b.String(), true
	}
	return "", false
}

// literalKey returns the literal key of an object.
func literalKey(e hclsyntax.Expression) (string, bool) {
	key, ok := e.(*hclsyntax.ObjectConsKeyExpr)
	if !ok {
		return literalText(e)
	}
	if !key.ForceNonLiteral {
		if t, ok := key.Wrapped.(*hclsyntax.ScopeTraversalExpr); ok && len(t.Traversal) == 1 {
			return t.Traversal.RootName(), true
		}
	}
	if l, ok := key.Wrapped.(*hclsyntax.LiteralValueExpr); ok && !l.Val.IsNull() &&
		l.Val.Type().FriendlyName() == "number" {
		return numberText(l.Val.AsBigFloat()), true
	}
	return literalText(key.Wrapped)
}

// pulumiCalls are the PCL functions that are members of the variable pulumi in YAML.
var pulumiCalls = []string{"stack", "project", "organization", "rootDirectory", "cwd"}

// portable returns the number of arguments of a function that all hosts have under this name, with the same arguments;
// 0 for any other. In YAML several arguments are one list.
func portable(name string) int {
	f, found := builtins.Lookup(name)
	if !found || f.Name != name || !f.Portable {
		return 0
	}
	switch name {
	case "select", "invoke", "stackReference": // PCL writes these in another way
		return 0
	}
	return len(f.Params)
}

// call translates a function call to a map; nil if it must be an expression.
func (m *module) call(e *hclsyntax.FunctionCallExpr) node {
	if e.ExpandFinal {
		return nil
	}
	function := func(name string, argument node) node {
		return &mapping{[]entry{{key: "fn::" + name, value: argument}}}
	}
	switch n := portable(e.Name); {
	case e.Name == "invoke":
		return m.invoke(e, "")
	case e.Name == "element" && len(e.Args) == 2:
		return function("select", &sequence{[]node{m.value(e.Args[1]), m.value(e.Args[0])}})
	case n != len(e.Args) || n == 0:
		return nil
	case n == 1:
		return function(e.Name, m.value(e.Args[0]))
	default:
		list := &sequence{}
		for _, argument := range e.Args {
			list.items = append(list.items, m.value(argument))
		}
		return function(e.Name, list)
	}
}

// known reports whether YAML has a function.
func known(name string) bool {
	_, found := builtins.Lookup(name)
	return found
}
