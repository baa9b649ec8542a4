package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/yamltree"
	"github.com/yamlhost/yamlhost/schema"
)

// value converts a value of a template. t is its type, or nil if unknown; path is its path in the resource.
func (c *cloudFormation) value(node *yaml.Node, t schema.Type, path string) *yaml.Node {
	t = required(t)
	name, arg := intrinsic(node)
	_, many := t.(*schema.Array)
	out := c.called(node, name, arg, t, path)
	if out != nil && many && c.single(name, arg) {
		out = list(out) // CloudFormation accepts one item as a list
	}
	if out == nil {
		out = c.literal(node, t, path)
	}
	if out.Kind == yaml.ScalarNode && strings.Contains(out.Value, "{{resolve:") {
		out = text(c.resolved(out.Value))
	}
	out.HeadComment = cmp.Or(out.HeadComment, node.HeadComment)
	out.LineComment = cmp.Or(out.LineComment, node.LineComment)
	return out
}

// single reports whether a call returns a string.
func (c *cloudFormation) single(name string, arg *yaml.Node) bool {
	resource := c.res[arg.Value]
	return name == "Fn::Sub" || name == "Fn::Join" || name == "Ref" && resource != nil && resource.name != ""
}

func required(t schema.Type) schema.Type {
	if t == nil {
		return nil
	}
	return schema.Required(t)
}

// called converts a call of an intrinsic function. It returns nil for anything else.
func (c *cloudFormation) called(node *yaml.Node, name string, arg *yaml.Node, t schema.Type, path string) *yaml.Node {
	switch name {
	case "":
		return nil
	case "Condition":
		if _, any := t.(schema.Primitive); any || t == nil && c.conds[arg.Value] == "" {
			return nil // a field named Condition, as in policies
		}
	case "Fn::Sub":
		if pieces, ok := c.pieces(arg); ok {
			return text(literal.Template(pieces))
		}
	case "Fn::Join":
		if pieces, ok := c.joined(arg); ok {
			return text(literal.Template(pieces))
		}
		fallthrough
	case "Fn::Split":
		if arg.Kind == yaml.SequenceNode && len(arg.Content) == 2 {
			both := list(c.value(arg.Content[0], nil, path), c.value(arg.Content[1], nil, path))
			return mappingOf(strings.ToLower(name), both)
		}
	case "Fn::Base64":
		return mappingOf("fn::toBase64", c.value(arg, nil, path))
	case "Fn::If":
		if arg.Kind == yaml.SequenceNode && len(arg.Content) == 3 && c.conds[arg.Content[0].Value] != "" {
			condition := c.conds[arg.Content[0].Value]
			then, other := c.value(arg.Content[1], t, path), c.value(arg.Content[2], t, path)
			if then.Tag == "!!null" || other.Tag == "!!null" { // the checker takes a null branch of ?: as absent
				return text("${" + condition + " ? " + rendered(then, "") + " : " + rendered(other, "") + "}")
			}
			return mappingOf("fn::if", list(text("${"+condition+"}"), then, other))
		}
	case "Ref":
		if arg.Value == "AWS::NoValue" {
			return null()
		}
	}
	return text("${" + c.expr(node) + "}")
}

// literal converts a value that is not a call.
func (c *cloudFormation) literal(node *yaml.Node, t schema.Type, path string) *yaml.Node {
	if u, ok := t.(*schema.Union); ok {
		t = choose(u, node)
	}
	if array, ok := t.(*schema.Array); ok && node.Kind != yaml.SequenceNode && node.ShortTag() != "!!null" {
		return list(c.value(node, array.Item, path)) // CloudFormation accepts one item as a list
	}
	switch node.Kind {
	case yaml.SequenceNode:
		var item schema.Type
		if array, ok := t.(*schema.Array); ok {
			item = array.Item
		}
		initial := func(parameter string) *yaml.Node {
			return yamltree.Member(c.sections["config"], c.params[parameter], "default")
		}
		out, maybe, empty := list(), false, false
		for i, n := range node.Content {
			maybe, empty = maybe || optional(n), empty || blank(n, initial)
			out.Content = append(out.Content, c.value(n, item, fmt.Sprintf("%s[%d]", path, i)))
		}
		switch {
		case maybe && empty: // compact leaves out empty texts too
			return text("${[for item in " + rendered(out, "") + " : item if item != null]}")
		case maybe:
			return mappingOf("fn::compact", out)
		}
		return out
	case yaml.MappingNode:
		switch t := t.(type) {
		case *schema.Object:
			return c.object(node, t, path)
		case *schema.Map:
			return c.entries(node, t.Item, path)
		case nil:
			if c.schema == nil && !free(path) {
				return c.object(node, nil, path)
			}
		}
		return c.entries(node, nil, path)
	}
	copied := *node
	switch t {
	case schema.String:
		if node.ShortTag() != "!!null" {
			return text(literal.Text(node.Value))
		}
	case schema.Bool:
		if v := strings.ToLower(node.Value); v == "true" || v == "false" || yaml11[v] != "" {
			return boolean(v == "true" || yaml11[v] == "true")
		}
	}
	out := scalar(&copied, false)
	if out.Tag == "!!str" && out.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return text(out.Value)
	}
	return out
}

// optional reports whether a list item may be absent.
func optional(node *yaml.Node) bool {
	name, arg := intrinsic(node)
	if name == "Ref" {
		return arg.Value == "AWS::NoValue"
	}
	if name != "Fn::If" || len(arg.Content) != 3 {
		return false
	}
	return optional(arg.Content[1]) || optional(arg.Content[2])
}

// blank reports whether a list item may be an empty text as far as the template says. initial returns the default of a
// parameter, or nil.
func blank(node *yaml.Node, initial func(parameter string) *yaml.Node) bool {
	name, arg := intrinsic(node)
	switch name {
	case "":
		return node.Kind == yaml.ScalarNode && node.Value == ""
	case "Ref":
		given := initial(arg.Value)
		return given != nil && given.Value == ""
	case "Fn::Sub":
		return arg.Kind == yaml.ScalarNode && strings.Trim(substitution().ReplaceAllString(arg.Value, ""), " ") == ""
	case "Fn::If":
		return slices.ContainsFunc(arg.Content[min(1, len(arg.Content)):], func(n *yaml.Node) bool {
			return blank(n, initial)
		})
	}
	return false
}

// choose returns the member of a union that fits a value best.
func choose(u *schema.Union, node *yaml.Node) schema.Type {
	var best schema.Type
	most := -1
	for _, m := range u.Members {
		m = required(m)
		fit := 0
		switch m := m.(type) {
		case *schema.Array:
			if node.Kind != yaml.SequenceNode {
				continue
			}
		case *schema.Object:
			if node.Kind != yaml.MappingNode {
				continue
			}
			each(node, func(key, _ *yaml.Node) {
				if property(m, key.Value) != nil {
					fit++
				}
			})
		case *schema.Map:
			if node.Kind != yaml.MappingNode {
				continue
			}
		default:
			if node.Kind != yaml.ScalarNode && m != schema.Any && m != schema.JSON {
				continue
			}
		}
		if fit > most {
			best, most = m, fit
		}
	}
	return best
}

// object converts a map with names of properties as its keys.
func (c *cloudFormation) object(node *yaml.Node, o *schema.Object, path string) *yaml.Node {
	out := mapping()
	each(node, func(key, value *yaml.Node) {
		name := words(key.Value)
		var t schema.Type
		inner := strings.TrimPrefix(path+"."+key.Value, ".")
		if strings.HasPrefix(key.Value, "Fn::") {
			c.leaveOut(c.owner(), inner, "CloudFormation computes it", mappingOf(key.Value, value))
			return
		}
		if o != nil {
			p := property(o, key.Value)
			if p == nil {
				const reason = "the type has no property of that name"
				c.leaveOut(c.owner(), inner, reason, mappingOf(key.Value, value))
				return
			}
			name, t = p.Name, p.Type
		}
		if yamltree.Member(out, name) != nil {
			return
		}
		put(out, name, c.value(value, t, inner)).HeadComment = key.HeadComment
	})
	return out
}

// entries converts a map with arbitrary keys.
func (c *cloudFormation) entries(node *yaml.Node, item schema.Type, path string) *yaml.Node {
	out := mapping()
	each(node, func(key, value *yaml.Node) {
		name := literal.Text(key.Value)
		if strings.HasPrefix(strings.ToLower(name), "fn::") {
			out.Content = nil
			c.leaveOut(c.owner(), path, "CloudFormation computes it with "+key.Value, value)
			return
		}
		put(out, name, c.value(value, item, path+"."+key.Value)).HeadComment = key.HeadComment
	})
	return out
}

// free reports whether the keys below a path are arbitrary. It is used without a schema.
func free(path string) bool {
	parts := []string{"PolicyDocument", "Variables", "Definition", "Labels", "Parameters", "Document", "outputs",
		"DashboardBody", "EventPattern", "ResponseTemplates", "RequestTemplates", "RequestParameters"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(path, part) })
}
