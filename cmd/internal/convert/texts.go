package convert

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// substitution matches a variable in the text of Fn::Sub.
var substitution = lazyregexp.New(`\$\{([^}]*)\}`)

// pieces splits the argument of Fn::Sub. It reports false if the argument is malformed. `${!name}` is the text
// `${name}` itself. A variable that is given and not used would be lost without the remark.
func (c *cloudFormation) pieces(arg *yamlnode.Node) ([]literal.Part, bool) {
	var own *yamlnode.Node
	if arg.Kind == yamlnode.List {
		if len(arg.Content) == 0 || len(arg.Content) > 2 {
			return nil, false
		}
		// The second item has variables that only this text knows.
		if len(arg.Content) == 2 {
			own = arg.Content[1]
		}
		arg = arg.Content[0]
	}
	if arg.Kind != yamlnode.Scalar || own != nil && own.Kind != yamlnode.Map {
		return nil, false
	}
	used := map[string]bool{}
	var pieces []literal.Part
	rest := arg.Value
	for {
		// A variable ends at the first brace: names have none.
		loc := substitution().FindStringSubmatchIndex(rest)
		if loc == nil {
			break
		}
		before, written := rest[:loc[0]], rest[loc[2]:loc[3]]
		rest = rest[loc[1]:]
		if before != "" {
			pieces = append(pieces, literal.Part{Text: before})
		}
		name := strings.TrimSpace(written)
		switch resource, attribute, dotted := strings.Cut(name, "."); {
		// The order of the cases matters: own variables hide resources of the same name.
		case strings.HasPrefix(name, "!"): // blanks belong to the text
			pieces = append(pieces, literal.Part{Text: "${" + strings.Replace(written, "!", "", 1) + "}"})
		case name == "":
			pieces = append(pieces, literal.Part{Text: "${}"})
		case yamlnode.Member(own, name) != nil:
			used[name] = true
			// A variable that is a text needs no expression.
			// Empty for a call, and for an empty text, of which an expression is as good.
			piece := literal.Part{Text: yamlnode.TextAt(own, name)}
			if piece.Text == "" {
				piece = literal.Part{Expression: c.expr(yamlnode.Member(own, name))}
			}
			pieces = append(pieces, piece)
		case dotted:
			pieces = append(pieces, literal.Part{Expression: c.attribute(resource, attribute, lineOf(c.src, arg))})
		default:
			pieces = append(pieces, literal.Part{Expression: c.ref(name, lineOf(c.src, arg))})
		}
	}
	if rest != "" {
		pieces = append(pieces, literal.Part{Text: rest})
	}
	each(own, func(key, value *yamlnode.Node) {
		if !used[key.Value] {
			c.leaveOut(c.owner(), "the variable "+key.Value+" of Fn::Sub", "its text does not use it", entryOf(key, value))
		}
	})
	return pieces, true
}

// joined splits {Fn::Join: [delimiter, list]}. It reports false unless every item is a text or a simple reference. A
// text with the values in it is what a person would write; only lists that are computed need the function.
func (c *cloudFormation) joined(arg *yamlnode.Node) ([]literal.Part, bool) {
	if arg.Kind != yamlnode.List || len(arg.Content) != 2 || arg.Content[0].Kind != yamlnode.Scalar ||
		arg.Content[1].Kind != yamlnode.List {
		return nil, false
	}
	var pieces []literal.Part
	for i, item := range arg.Content[1].Content {
		if i > 0 && arg.Content[0].Value != "" {
			pieces = append(pieces, literal.Part{Text: arg.Content[0].Value})
		}
		// These calls give texts. Others may give a list, or nothing.
		name, _ := intrinsic(item)
		switch {
		case item.Kind == yamlnode.Scalar:
			pieces = append(pieces, literal.Part{Text: item.Value})
		case name == "Fn::Sub":
			// Its parts join those of the text around it, so that one text results.
			inner, ok := c.pieces(item.Content[1])
			if !ok {
				return nil, false
			}
			pieces = append(pieces, inner...)
		case name == "Ref" || name == "Fn::GetAtt" || name == "Fn::FindInMap" || name == "Fn::ImportValue":
			pieces = append(pieces, literal.Part{Expression: c.expr(item)})
		default:
			return nil, false
		}
	}
	return pieces, true
}

// rendered returns a value of a program as an expression; pad indents its further lines. It is for the places where a
// condition or a loop needs the value as an expression, after it has been converted to YAML.
func rendered(node *yamlnode.Node, pad string) string {
	switch node.Kind {
	case yamlnode.List:
		return enclosed("[", allRendered(node, pad), "]", pad)
	case yamlnode.Map:
		// The conversion writes calls with such keys only; entries has refused those of the template.
		if len(node.Content) == 2 && strings.HasPrefix(node.Content[0].Value, "fn::") {
			function, arg := strings.TrimPrefix(node.Content[0].Value, "fn::"), node.Content[1]
			// A list is the arguments of a call; compact takes the list itself.
			if arg.Kind == yamlnode.List && function != "compact" {
				return enclosed(function+"(", allRendered(arg, pad), ")", pad)
			}
			return function + "(" + rendered(arg, pad) + ")"
		}
		var items []string
		each(node, func(key, value *yamlnode.Node) {
			items = append(items, operandText(key.Value)+" = "+rendered(value, pad+"  "))
		})
		return enclosed("{", items, "}", pad)
	}
	// Numbers, booleans and null are the same in an expression.
	if node.Tag != yamlnode.StringTag {
		return node.Value
	}
	// Only an expression of several lines has line breaks: in a string literal they are escaped.
	return strings.ReplaceAll(operandText(node.Value), "\n", "\n"+pad)
}

// operandText returns a text of a program as an expression: the expression that fills it, or a string literal.
func operandText(content string) string {
	parts := split(content)
	if len(parts) == 1 && parts[0].Expression != "" {
		return parts[0].Expression
	}
	return literal.QuotedTemplate(parts)
}

// split returns the parts of a text that a conversion has written. It is the inverse of literal.Template.
func split(content string) []literal.Part {
	var parts []literal.Part
	for content != "" {
		dollar := strings.IndexByte(content, '$')
		switch {
		case dollar < 0:
			return append(parts, literal.Part{Text: content})
		case dollar > 0:
			parts = append(parts, literal.Part{Text: content[:dollar]})
		}
		content = content[max(dollar, 0):]
		switch {
		case strings.HasPrefix(content, "$$"):
			parts, content = append(parts, literal.Part{Text: "$"}), content[2:]
		case strings.HasPrefix(content, "${"):
			end := expressionEnd(content, 2)
			parts, content = append(parts, literal.Part{Expression: content[2:end]}), content[min(end+1, len(content)):]
		default:
			parts, content = append(parts, literal.Part{Text: "$"}), content[1:]
		}
	}
	return parts
}

// expressionEnd returns the offset of the brace that closes the expression at i. Strings in it may have expressions of
// their own.
func expressionEnd(content string, i int) int {
	var open []byte // braces and quotes
	for ; i < len(content); i++ {
		// A brace on top means an expression, in a string or in a map; a quote means text.
		inText := len(open) > 0 && open[len(open)-1] == '"'
		switch c := content[i]; {
		// Neither of these ends the text or begins an expression in it.
		case inText && (c == '\\' || strings.HasPrefix(content[i:], "$${")):
			i++
		case inText && c == '"', !inText && c == '}' && len(open) > 0:
			open = open[:len(open)-1]
		case inText && strings.HasPrefix(content[i:], "${"):
			open = append(open, '{')
			i++
		case !inText && c == '}':
			return i
		case !inText && (c == '"' || c == '{'):
			open = append(open, c)
		}
	}
	return len(content)
}

// allRendered renders the items of a list, indented one level deeper.
func allRendered(node *yamlnode.Node, pad string) []string {
	texts := make([]string, len(node.Content))
	for i, item := range node.Content {
		texts[i] = rendered(item, pad+"  ")
	}
	return texts
}

// enclosed joins items on one line, or puts each on its own line if that line would be long. Expressions may span
// lines, and a long one is read better so.
func enclosed(left string, items []string, right, pad string) string {
	one := left + strings.Join(items, ", ") + right
	if len(pad)+len(one) <= 80 && !strings.Contains(one, "\n") {
		return one
	}
	return left + "\n" + pad + "  " + strings.Join(items, ",\n"+pad+"  ") + "\n" + pad + right
}
