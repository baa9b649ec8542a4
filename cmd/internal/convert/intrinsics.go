package convert

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// intrinsic returns the name and the argument of a call such as {Ref: x}; the name is empty for anything else.
func intrinsic(node *yaml.Node) (string, *yaml.Node) {
	if node.Kind != yaml.MappingNode || len(node.Content) != 2 {
		return "", nil
	}
	name := node.Content[0].Value
	if name == "Ref" || strings.HasPrefix(name, "Fn::") || name == "Condition" &&
		node.Content[1].Kind == yaml.ScalarNode {
		return name, node.Content[1]
	}
	return "", nil
}

// expr is a value as the text of an expression.
func (c *cloudFormation) expr(node *yaml.Node) string {
	name, arg := intrinsic(node)
	if name == "" {
		switch node.Kind {
		case yaml.ScalarNode:
			switch node.ShortTag() {
			case "!!int", "!!float", "!!bool", "!!null":
				return scalar(data(node, false), false).Value
			}
			return operandText(c.resolved(escaped(node.Value)))
		case yaml.SequenceNode:
			return "[" + strings.Join(c.exprs(node), ", ") + "]"
		}
		var items []string
		each(node, func(key, value *yaml.Node) { items = append(items, quoted(key.Value)+" = "+c.expr(value)) })
		return "{" + strings.Join(items, ", ") + "}"
	}
	args := arg.Content
	if arg.Kind != yaml.SequenceNode {
		args = []*yaml.Node{arg}
	}
	count := func(n int) bool { return arg.Kind == yaml.SequenceNode && len(args) >= n }
	switch name {
	case "Ref":
		return c.ref(arg.Value, arg.Line)
	case "Condition":
		if cond := c.conds[arg.Value]; cond != "" {
			return cond
		}
	case "Fn::GetAtt":
		if resource, attribute, ok := attributeOf(arg); ok {
			return c.attribute(resource, attribute, arg.Line)
		}
	case "Fn::Sub":
		if parts, ok := c.pieces(arg); ok {
			return literalText(c.resolved(written(parts).Value))
		}
	case "Fn::Join", "Fn::Split":
		if count(2) {
			return strings.ToLower(name[len("Fn::"):]) + "(" + c.expr(args[0]) + ", " + c.expr(args[1]) + ")"
		}
	case "Fn::Select":
		if count(2) {
			return "select(" + index(c.expr(args[0])) + ", " + c.expr(args[1]) + ")"
		}
	case "Fn::FindInMap":
		if count(3) && args[0].Kind == yaml.ScalarNode && c.maps[args[0].Value] != "" {
			return c.maps[args[0].Value] + "[" + c.expr(args[1]) + "][" + c.expr(args[2]) + "]"
		}
	case "Fn::GetAZs":
		if len(args) == 0 || args[0].Kind == yaml.ScalarNode && args[0].Value == "" {
			return `invoke("aws-native:index:getAzs", {}).azs`
		}
		return `invoke("aws-native:index:getAzs", {region = ` + c.expr(args[0]) + "}).azs"
	case "Fn::ImportValue":
		return `invoke("aws-native:index:importValue", {name = ` + c.expr(arg) + "}).value"
	case "Fn::Cidr":
		if count(3) {
			return `invoke("aws-native:index:cidr", {ipBlock = ` + c.expr(args[0]) + ", count = " + index(c.expr(args[1])) +
				", cidrBits = " + index(c.expr(args[2])) + "}).subnets"
		}
	case "Fn::Base64":
		return "toBase64(" + c.expr(arg) + ")"
	case "Fn::If":
		if count(3) && c.conds[args[0].Value] != "" {
			return "(" + c.conds[args[0].Value] + " ? " + c.expr(args[1]) + " : " + c.expr(args[2]) + ")"
		}
	case "Fn::Equals":
		if count(2) {
			return c.operand(args[0]) + " == " + c.operand(args[1])
		}
	case "Fn::Not":
		return "!(" + c.expr(args[0]) + ")"
	case "Fn::And":
		return "(" + strings.Join(c.exprs(arg), " && ") + ")"
	case "Fn::Or":
		return "(" + strings.Join(c.exprs(arg), " || ") + ")"
	case "Fn::Length":
		return "length(" + c.expr(arg) + ")"
	case "Fn::ToJsonString":
		return "toJSON(" + c.expr(arg) + ")"
	}
	c.say("%s in line %d has no counterpart: the program takes its value from its configuration", name, node.Line)
	owner := "template"
	if c.current != nil {
		owner = c.current.logical
	}
	return c.need(fmt.Sprintf("%s.%s.Line%d", owner, strings.TrimPrefix(name, "Fn::"), node.Line), "any",
		fmt.Sprintf("what %s gives in line %d of the template", name, node.Line))
}

// operand is one side of a comparison, which CloudFormation makes between texts.
func (c *cloudFormation) operand(node *yaml.Node) string {
	if node.Kind == yaml.ScalarNode {
		return quoted(node.Value)
	}
	text := c.expr(node)
	if name, arg := intrinsic(node); name == "Ref" && c.numeric[arg.Value] {
		return "toString(" + text + ")"
	}
	return text
}

// index is a number that a template may write as a text.
func index(expr string) string {
	if trimmed := strings.Trim(expr, `"`); digits().MatchString(trimmed) {
		return trimmed
	}
	return expr
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+$`) })

func (c *cloudFormation) exprs(node *yaml.Node) []string {
	if node.Kind != yaml.SequenceNode {
		return []string{c.expr(node)}
	}
	texts := make([]string, len(node.Content))
	for i, item := range node.Content {
		texts[i] = c.expr(item)
	}
	return texts
}

// attributeOf takes the argument of Fn::GetAtt apart.
func attributeOf(arg *yaml.Node) (resource, attribute string, ok bool) {
	if arg.Kind == yaml.ScalarNode {
		return strings.Cut(arg.Value, ".")
	}
	if arg.Kind != yaml.SequenceNode || len(arg.Content) < 2 {
		return "", "", false
	}
	var parts []string
	for _, part := range arg.Content {
		if part.Kind != yaml.ScalarNode {
			return "", "", false
		}
		parts = append(parts, part.Value)
	}
	return parts[0], strings.Join(parts[1:], "."), true
}
