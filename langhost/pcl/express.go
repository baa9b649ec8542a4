package pcl

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var hclStart = hcl.InitialPos

// expr translates an expression to PCL.
func (p *printer) expr(e ast.Expr) string {
	switch e := e.(type) {
	case nil, *ast.Null:
		return "null"
	case *ast.Bool:
		return strconv.FormatBool(e.Value)
	case *ast.Number:
		return numberText(big.NewFloat(e.Value))
	case *ast.String:
		return literal.Quoted(e.Value)
	case *ast.Template:
		parts := make([]literal.Part, len(e.Parts))
		for i, part := range e.Parts {
			if s, ok := part.(*ast.String); ok {
				parts[i].Text = s.Value
			} else {
				parts[i].Expression = p.expr(part)
			}
		}
		return literal.QuotedTemplate(parts)
	case *ast.Access:
		return p.access(e)
	case *ast.LocalRef:
		if e.Local.Name == "*" {
			return ""
		}
		return e.Local.Name
	case *ast.List:
		return "[" + joined(e.Items, p.expr) + "]"
	case *ast.Map:
		return "{" + joined(e.Entries, func(entry ast.MapEntry) string {
			key := p.expr(entry.Key)
			switch entry.Key.(type) {
			case *ast.String, *ast.Template:
			default:
				key = `"${` + key + `}"`
			}
			return key + " = " + p.expr(entry.Value)
		}) + "}"
	case *ast.Call:
		return p.callOf(e)
	case *ast.Unary:
		return e.Op + p.operand(e.Operand)
	case *ast.Binary:
		return p.operand(e.Left) + " " + e.Op + " " + p.operand(e.Right)
	case *ast.Conditional:
		return p.operand(e.Condition) + " ? " + p.operand(e.Then) + " : " + p.operand(e.Else)
	case *ast.Index:
		return p.source(e.Collection) + "[" + p.expr(e.Key) + "]"
	case *ast.Member:
		return p.source(e.Object) + member(e.Name.Value)
	case *ast.Splat:
		return p.source(e.Source) + "[*]" + p.expr(e.Each)
	case *ast.For:
		return p.loop(e)
	}
	p.fail(e.Range(), "this cannot be said in PCL")
	return "null"
}

// operand translates an operand of an operator, in parentheses if it has an operator itself.
func (p *printer) operand(e ast.Expr) string {
	switch e.(type) {
	case *ast.Binary, *ast.Conditional:
		return "(" + p.expr(e) + ")"
	}
	return p.expr(e)
}

// source translates an expression that a property access or index follows.
func (p *printer) source(e ast.Expr) string {
	if _, signed := e.(*ast.Unary); signed {
		return "(" + p.expr(e) + ")"
	}
	return p.operand(e)
}

func member(name string) string {
	if hclsyntax.ValidIdentifier(name) {
		return "." + name
	}
	return "[" + literal.Quoted(name) + "]"
}

func (p *printer) access(e *ast.Access) string {
	root := e.Root.Value
	steps := e.Steps
	switch {
	case root == "pulumi" && len(steps) == 1 && slices.Contains(pulumiCalls, steps[0].Name):
		return steps[0].Name + "()"
	case root == "pulumi":
		p.fail(e.Range(), "only a member of pulumi can be said in PCL")
	case root == "each" && p.counting && len(steps) == 1 && steps[0].Name == "key":
		return "range.value"
	case root == "each":
		root = "range"
	case !hclsyntax.ValidIdentifier(root):
		p.fail(e.Root.Range, "%s cannot be a name in PCL", root)
	}
	var b strings.Builder
	b.WriteString(root)
	for _, s := range steps {
		switch {
		case s.IsIndex:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case s.Quoted:
			b.WriteString("[" + literal.Quoted(s.Name) + "]")
		default:
			b.WriteString(member(s.Name))
		}
	}
	return b.String()
}

func (p *printer) loop(e *ast.For) string {
	l := loop{valueName: e.ValueName.Name, collection: p.operand(e.Collection), value: p.operand(e.Value),
		grouped: e.Grouped}
	if e.KeyName != nil {
		l.keyName = e.KeyName.Name
	}
	if e.Key != nil {
		l.key = p.operand(e.Key)
	}
	if e.Condition != nil {
		l.condition = p.operand(e.Condition)
	}
	return l.text()
}

// callOf translates a function call.
func (p *printer) callOf(e *ast.Call) string {
	name := e.Name.Value
	if strings.Contains(name, ":") {
		return p.invokeOf(name, e.Argument, nil, nil)
	}
	switch strings.ToLower(name) {
	case "invoke":
		a := argumentsOf(e, "function", "arguments", "return", "options")
		return p.invokeOf(literalOf(a[0]), a[1], a[2], a[3])
	case "call":
		return p.methodOf(e, argumentsOf(e, "resource", "method", "arguments", "return"))
	case "select":
		if list, ok := e.Argument.(*ast.List); ok && len(list.Items) == 2 {
			return "element(" + p.expr(list.Items[1]) + ", " + p.expr(list.Items[0]) + ")"
		}
	}
	args := e.Args
	if e.Argument != nil {
		args = []ast.Expr{e.Argument}
		if list, ok := e.Argument.(*ast.List); ok && portable(name) != 1 {
			args = list.Items
		}
	}
	list := joined(args, p.expr)
	if e.Expanded {
		list += "..."
	}
	return name + "(" + list + ")"
}

// argumentsOf returns the arguments of a call with the given names, which are their names in a map or their order. An
// argument that the call lacks is nil.
func argumentsOf(e *ast.Call, names ...string) []ast.Expr {
	args := make([]ast.Expr, len(names))
	body, ok := e.Argument.(*ast.Map)
	if !ok {
		copy(args, e.Args)
		return args
	}
	for _, entry := range slices.Backward(body.Entries) { // the first of equal keys counts
		if i := slices.Index(names, literalOf(entry.Key)); i >= 0 {
			args[i] = entry.Value
		}
	}
	return args
}

func literalOf(e ast.Expr) string {
	if s, ok := e.(*ast.String); ok {
		return s.Value
	}
	return ""
}

// methodOf translates a call of a resource method. args are resource, method, arguments and return.
func (p *printer) methodOf(e *ast.Call, args []ast.Expr) string {
	if args[0] == nil || literalOf(args[1]) == "" {
		p.fail(e.Range(), "a call needs a resource and the name of a method")
		return "null"
	}
	arguments := "{}"
	if args[2] != nil {
		arguments = p.expr(args[2])
	}
	text := "call(" + p.expr(args[0]) + ", " + literal.Quoted(literalOf(args[1])) + ", " + arguments + ")"
	if out := literalOf(args[3]); out != "" {
		text += member(out)
	}
	return text
}

// invokeOf returns a call of a provider function. out is the literal path of the wanted part of the result, or nil.
func (p *printer) invokeOf(token string, arguments, out, options ast.Expr) string {
	texts := []string{literal.Quoted(token)}
	positions := p.options.positional(p.ctx, token)
	switch m, isMap := arguments.(*ast.Map); {
	case len(positions) > 0 && (arguments == nil || isMap):
		given := map[string]ast.Expr{}
		last := -1
		if isMap {
			for _, entry := range m.Entries {
				given[literalOf(entry.Key)] = entry.Value
			}
		}
		for i, name := range positions {
			if given[name] != nil {
				last = i
			}
		}
		for _, name := range positions[:last+1] {
			texts = append(texts, p.expr(given[name]))
		}
	case arguments != nil:
		texts = append(texts, p.expr(arguments))
	default:
		texts = append(texts, "{}")
	}
	if _, null := options.(*ast.Null); options != nil && !null {
		m, ok := options.(*ast.Map)
		if !ok {
			p.fail(options.Range(), "the options of a function call must be written out in PCL")
		} else {
			texts = append(texts, "{"+joined(m.Entries, func(entry ast.MapEntry) string {
				name := literalOf(entry.Key)
				if name == "pluginDownloadURL" {
					name = "pluginDownloadUrl"
				}
				return name + " = " + p.expr(entry.Value)
			})+"}")
		}
	}
	text := "invoke(" + strings.Join(texts, ", ") + ")"
	if path := literalOf(out); path != "" {
		if _, diags := hclsyntax.ParseTraversalAbs([]byte(path), "", hclStart); diags.HasErrors() {
			return text + "[" + literal.Quoted(path) + "]"
		}
		text += "." + path
	}
	return text
}
