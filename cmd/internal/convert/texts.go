package convert

import (
	"fmt"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/yamltree"
)

// escapes replaces the characters that need escapes between quotes.
var escapes = sync.OnceValue(func() *strings.Replacer {
	pairs := []string{"${", "$${", "%{", "%%{", `"`, `\"`, `\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`}
	for r := range ' ' {
		pairs = append(pairs, string(r), fmt.Sprintf(`\u%04x`, r))
	}
	return strings.NewReplacer(pairs...)
})

// quoted returns a text as a string literal of an expression.
func quoted(value string) string { return `"` + escapes().Replace(value) + `"` }

// piece is a part of a text with references: either a text or an expression.
type piece struct{ text, expr string }

var substitution = lazyregexp.New(`\$\{([^}]*)\}`)

// pieces splits the argument of Fn::Sub. It reports false if the argument is malformed.
func (c *cloudFormation) pieces(arg *yaml.Node) ([]piece, bool) {
	var own *yaml.Node
	if arg.Kind == yaml.SequenceNode {
		if len(arg.Content) == 0 || len(arg.Content) > 2 {
			return nil, false
		}
		if len(arg.Content) == 2 {
			own = arg.Content[1]
		}
		arg = arg.Content[0]
	}
	if arg.Kind != yaml.ScalarNode {
		return nil, false
	}
	var pieces []piece
	rest := arg.Value
	for {
		loc := substitution().FindStringSubmatchIndex(rest)
		if loc == nil {
			break
		}
		before, name := rest[:loc[0]], rest[loc[2]:loc[3]]
		rest = rest[loc[1]:]
		if before != "" {
			pieces = append(pieces, piece{text: before})
		}
		name = strings.TrimSpace(name)
		switch resource, attribute, dotted := strings.Cut(name, "."); {
		case strings.HasPrefix(name, "!"):
			pieces = append(pieces, piece{text: "${" + name[1:] + "}"})
		case name == "":
			pieces = append(pieces, piece{text: "${}"})
		case yamltree.Member(own, name) != nil:
			pieces = append(pieces, piece{expr: c.expr(yamltree.Member(own, name))})
		case dotted:
			pieces = append(pieces, piece{expr: c.attribute(resource, attribute, arg.Line)})
		default:
			pieces = append(pieces, piece{expr: c.ref(name, arg.Line)})
		}
	}
	if rest != "" {
		pieces = append(pieces, piece{text: rest})
	}
	return pieces, true
}

// joined splits {Fn::Join: [delimiter, list]}. It reports false unless every item is a text or a simple reference.
func (c *cloudFormation) joined(arg *yaml.Node) ([]piece, bool) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 || arg.Content[0].Kind != yaml.ScalarNode ||
		arg.Content[1].Kind != yaml.SequenceNode {
		return nil, false
	}
	var pieces []piece
	for i, item := range arg.Content[1].Content {
		if i > 0 && arg.Content[0].Value != "" {
			pieces = append(pieces, piece{text: arg.Content[0].Value})
		}
		name, _ := intrinsic(item)
		switch {
		case item.Kind == yaml.ScalarNode:
			pieces = append(pieces, piece{text: item.Value})
		case name == "Fn::Sub":
			inner, ok := c.pieces(item.Content[1])
			if !ok {
				return nil, false
			}
			pieces = append(pieces, inner...)
		case name == "Ref" || name == "Fn::GetAtt" || name == "Fn::FindInMap" || name == "Fn::ImportValue":
			pieces = append(pieces, piece{expr: c.expr(item)})
		default:
			return nil, false
		}
	}
	return pieces, true
}

// written returns pieces as a text of a program.
func written(pieces []piece) *yaml.Node {
	var b strings.Builder
	for _, p := range pieces {
		if p.expr == "" {
			b.WriteString(escaped(p.text))
			continue
		}
		if strings.HasSuffix(b.String(), "$") { // a dollar sign before a reference would escape it
			b.WriteString("$")
		}
		b.WriteString("${" + p.expr + "}")
	}
	return text(b.String())
}

// rendered returns a value of a program as an expression; pad indents its further lines.
func rendered(node *yaml.Node, pad string) string {
	switch node.Kind {
	case yaml.SequenceNode:
		return enclosed("[", allRendered(node, pad), "]", pad)
	case yaml.MappingNode:
		if len(node.Content) == 2 && strings.HasPrefix(node.Content[0].Value, "fn::") {
			function, arg := strings.TrimPrefix(node.Content[0].Value, "fn::"), node.Content[1]
			if arg.Kind == yaml.SequenceNode && function != "compact" {
				return enclosed(function+"(", allRendered(arg, pad), ")", pad)
			}
			return function + "(" + rendered(arg, pad) + ")"
		}
		var items []string
		each(node, func(key, value *yaml.Node) {
			items = append(items, literalText(key.Value)+" = "+rendered(value, pad+"  "))
		})
		return enclosed("{", items, "}", pad)
	}
	if node.Tag != "!!str" {
		return node.Value
	}
	return strings.ReplaceAll(operandText(node.Value), "\n", "\n"+pad)
}

// operandText returns a text of a program as an expression: the expression that fills it, or a string literal.
func operandText(value string) string {
	inner, found := strings.CutPrefix(value, "${")
	depth, quote := 1, false
	for i := 0; found && i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '\\' && quote:
			i++
		case c == '"':
			quote = !quote
		case c == '{' && !quote:
			depth++
		case c == '}' && !quote:
			if depth--; depth == 0 && i == len(inner)-1 {
				return inner[:i]
			}
			found = depth > 0
		}
	}
	return literalText(value)
}

func allRendered(node *yaml.Node, pad string) []string {
	texts := make([]string, len(node.Content))
	for i, item := range node.Content {
		texts[i] = rendered(item, pad+"  ")
	}
	return texts
}

// enclosed joins items on one line, or puts each on its own line if that line would be long.
func enclosed(left string, items []string, right, pad string) string {
	one := left + strings.Join(items, ", ") + right
	if len(pad)+len(one) <= 80 && !strings.Contains(one, "\n") {
		return one
	}
	return left + "\n" + pad + "  " + strings.Join(items, ",\n"+pad+"  ") + "\n" + pad + right
}

// literalText returns a text of a program, with its interpolations, as a string literal.
func literalText(value string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(value); i++ {
		rest := value[i:]
		switch {
		case depth == 0 && strings.HasPrefix(rest, "$$${"): // a dollar sign before a reference
			b.WriteString(`${"$"}`)
			i++
		case strings.HasPrefix(rest, "$${"):
			b.WriteString("$${")
			i += 2
		case depth == 0 && strings.HasPrefix(rest, "%{"):
			b.WriteString("%%{")
			i++
		case strings.HasPrefix(rest, "${"):
			depth++
			b.WriteString("${")
			i++
		case depth > 0:
			depth += map[byte]int{'{': 1, '}': -1}[value[i]]
			b.WriteByte(value[i])
		default:
			b.WriteString(escapes().Replace(value[i : i+1]))
		}
	}
	return `"` + b.String() + `"`
}
