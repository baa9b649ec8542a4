package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/schema"
)

// value converts a value of a template. t is its type, or nil if unknown; path is its path in the resource. The type
// decides what a text with digits is, and whether the keys of a map are names of properties or data. Comments stay with
// the value.
func (c *cloudFormation) value(node *yamlnode.Node, t schema.Type, path string) *yamlnode.Node {
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
	// Here and not in literal, since the parts of a reference may come from Fn::Sub.
	if out.Kind == yamlnode.Scalar && strings.Contains(out.Value, "{{resolve:") {
		out = text(c.resolved(out.Value))
	}
	notes, source := out.Notes(), node.Notes()
	// Comments that the conversion has put there already win, as they were of an inner part.
	notes.Head, notes.Line = cmp.Or(notes.Head, source.Head), cmp.Or(notes.Line, source.Line)
	notes.Foot = cmp.Or(notes.Foot, source.Foot)
	out.SetNotes(notes)
	return out
}

// single reports whether a call returns a string.
func (c *cloudFormation) single(name string, arg *yamlnode.Node) bool {
	// A parameter may be a list, and a pseudo parameter, too; the ID of a resource is not.
	resource := c.res[arg.Value]
	return name == "Fn::Sub" || name == "Fn::Join" || name == "Ref" && resource != nil && resource.name != ""
}

// required returns t without its optional mark; nil stays nil.
func required(t schema.Type) schema.Type {
	if t == nil {
		return nil
	}
	return schema.Required(t)
}

// called converts a call of an intrinsic function. It returns nil for anything else. Functions whose arguments are
// long, such as Fn::If around a map, are written in lines; the others as expressions.
func (c *cloudFormation) called(node *yamlnode.Node, name string, arg *yamlnode.Node, t schema.Type,
	path string) *yamlnode.Node {
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
		if arg.Kind == yamlnode.List && len(arg.Content) == 2 {
			both := list(c.value(arg.Content[0], nil, path), c.value(arg.Content[1], nil, path))
			return mappingOf(strings.ToLower(name), both)
		}
	case "Fn::Base64":
		return mappingOf("fn::toBase64", c.value(arg, nil, path))
	case "Fn::If":
		// A condition that the template does not declare makes the whole call configuration, at the end.
		if arg.Kind == yamlnode.List && len(arg.Content) == 3 && c.conds[arg.Content[0].Value] != "" {
			condition := c.conds[arg.Content[0].Value]
			then, other := c.value(arg.Content[1], t, path), c.value(arg.Content[2], t, path)
			// The checker takes a null branch of ?: as absent.
			if then.Tag == yamlnode.NullTag || other.Tag == yamlnode.NullTag {
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

// literal converts a value that is not a call. An item of a list that may be AWS::NoValue is left out by fn::compact,
// unless that would leave out an empty text as well.
func (c *cloudFormation) literal(node *yamlnode.Node, t schema.Type, path string) *yamlnode.Node {
	// The member is chosen by the value once, before its parts are converted.
	if u, ok := t.(*schema.Union); ok {
		t = choose(u, node)
	}
	if array, ok := t.(*schema.Array); ok && node.Kind != yamlnode.List && node.ShortTag() != yamlnode.NullTag {
		return list(c.value(node, array.Item, path)) // CloudFormation accepts one item as a list
	}
	switch node.Kind {
	case yamlnode.List:
		var item schema.Type
		if array, ok := t.(*schema.Array); ok {
			item = array.Item
		}
		// Parameters have been declared before values, so their defaults are in the program already.
		initial := func(parameter string) *yamlnode.Node {
			return yamlnode.Member(c.sections["config"], c.params[parameter], "default")
		}
		out, maybe, empty := list(), false, false
		for i, n := range node.Content {
			// Of the items as the template has them: the converted ones do not show any more where a null came from.
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
	case yamlnode.Map:
		switch t := t.(type) {
		case *schema.Object:
			return c.object(node, t, path)
		case *schema.Map:
			return c.entries(node, t.Item, path)
		case nil:
			// Without a schema the name of the key and the shape of the value are all that tells properties from data.
			if c.schema == nil && !free(path) && !c.policies.below(path) {
				if !policyShaped(node) {
					return c.object(node, nil, path)
				}
				c.policies = append(c.policies, path)
				c.say("%s keeps its keys as they are, because it has the shape of a policy", path)
			} else if c.schema == nil && !c.policies.below(path) && !documented(path) {
				c.policies = append(c.policies, path)
				c.say("%s keeps its keys as they are, because of its name", path)
			}
		}
		return c.entries(node, nil, path)
	}
	// A scalar: the type decides between a text and a number or boolean, and without one the template's own notation.
	// scalar changes its argument, and node stays the input for comments and messages.
	copied := *node
	switch t {
	case schema.String:
		if node.ShortTag() != yamlnode.NullTag {
			return text(literal.Text(node.Value))
		}
	case schema.Bool:
		if v := strings.ToLower(node.Value); v == "true" || v == "false" || yaml11[v] != "" {
			return boolean(v == "true" || yaml11[v] == "true")
		}
	}
	out := scalar(&copied, false)
	if out.Tag == yamlnode.StringTag && out.Style&(yamlnode.LiteralStyle|yamlnode.FoldedStyle) != 0 {
		return text(out.Value)
	}
	return out
}

// optional reports whether a list item may be absent.
func optional(node *yamlnode.Node) bool {
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
func blank(node *yamlnode.Node, initial func(parameter string) *yamlnode.Node) bool {
	name, arg := intrinsic(node)
	switch name {
	case "":
		return node.Kind == yamlnode.Scalar && node.Value == ""
	case "Ref":
		given := initial(arg.Value)
		return given != nil && given.Value == ""
	case "Fn::Sub":
		return arg.Kind == yamlnode.Scalar && strings.Trim(substitution().ReplaceAllString(arg.Value, ""), " ") == ""
	case "Fn::If":
		return slices.ContainsFunc(arg.Content[min(1, len(arg.Content)):], func(n *yamlnode.Node) bool {
			return blank(n, initial)
		})
	}
	return false
}

// choose returns the member of a union that fits a value best. Of objects, the one with the most keys of the value
// wins.
func choose(u *schema.Union, node *yamlnode.Node) schema.Type {
	var best schema.Type
	most := -1
	for _, m := range u.Members {
		m = required(m)
		fit := 0
		switch m := m.(type) {
		case *schema.Array:
			if node.Kind != yamlnode.List {
				continue
			}
		case *schema.Object:
			if node.Kind != yamlnode.Map {
				continue
			}
			// Keys that the type has not count nothing, so of two equal ones the first wins.
			each(node, func(key, _ *yamlnode.Node) {
				if property(m, key.Value) != nil {
					fit++
				}
			})
		case *schema.Map:
			if node.Kind != yamlnode.Map {
				continue
			}
		default:
			if node.Kind != yamlnode.Scalar && m != schema.Any && m != schema.JSON {
				continue
			}
		}
		if fit > most {
			best, most = m, fit
		}
	}
	return best
}

// object converts a map with names of properties as its keys. Two keys may become one name, as `Foo` and `foo`: the
// second is left out with a remark.
func (c *cloudFormation) object(node *yamlnode.Node, o *schema.Object, path string) *yamlnode.Node {
	out := mapping()
	each(node, func(key, value *yamlnode.Node) {
		name := words(key.Value)
		var t schema.Type
		inner := strings.TrimPrefix(path+"."+key.Value, ".")
		if strings.HasPrefix(key.Value, "Fn::") {
			c.leaveOut(c.owner(), inner, "CloudFormation computes it", entryOf(key, value))
			return
		}
		// Without a type every key is taken for a property, and spelled by the rule.
		if o != nil {
			p := property(o, key.Value)
			if p == nil {
				const reason = "the type has no property of that name"
				c.leaveOut(c.owner(), inner, reason, entryOf(key, value))
				return
			}
			// The spelling of the schema: it has exceptions from the rule.
			name, t = p.Name, p.Type
		}
		if yamlnode.Member(out, name) != nil {
			c.leaveOut(c.owner(), inner, "another key of the map is the same name in a program", entryOf(key, value))
			return
		}
		put(out, name, c.value(value, t, inner)).SetNotes(key.Notes())
	})
	return out
}

// entries converts a map with arbitrary keys.
func (c *cloudFormation) entries(node *yamlnode.Node, item schema.Type, path string) *yamlnode.Node {
	out := mapping()
	each(node, func(key, value *yamlnode.Node) {
		name := literal.Text(key.Value)
		// In a program the key would be a call. Fn::Transform and Fn::ForEach stand so among others.
		if strings.HasPrefix(strings.ToLower(name), "fn::") {
			c.leaveOut(c.owner(), path, "CloudFormation computes it with "+key.Value, entryOf(key, value))
			return
		}
		put(out, name, c.value(value, item, path+"."+key.Value)).SetNotes(key.Notes())
	})
	return out
}

// policies are the paths of maps that look like policies or other documents, whose keys stay as they are.
type policies []string

// below reports whether a path is inside of such a map.
func (p policies) below(path string) bool {
	return slices.ContainsFunc(p, func(root string) bool {
		rest, inside := strings.CutPrefix(path, root)
		// The root itself is not below itself, and a name that only begins alike is another one.
		return inside && rest != "" && (rest[0] == '.' || rest[0] == '[')
	})
}

// policyShaped reports whether a map is a policy: it has statements, with an effect in each. Without a schema, the
// shape is the only sign that its keys are not names of properties.
func policyShaped(node *yamlnode.Node) bool {
	statements := yamlnode.Member(node, "Statement")
	if statements == nil {
		return false
	}
	list := []*yamlnode.Node{statements}
	if statements.Kind == yamlnode.List {
		list = statements.Content
	}
	// All statements: a map of another kind may have one such key by chance.
	return len(list) > 0 && !slices.ContainsFunc(list, func(s *yamlnode.Node) bool {
		return yamlnode.Member(s.Target(), "Effect") == nil
	})
}

// documented reports whether the keys below a path are arbitrary in all types.
func documented(path string) bool {
	return strings.Contains(path, "PolicyDocument") || strings.HasPrefix(path, "outputs")
}

// free reports whether the keys below a path are arbitrary. It is used without a schema. The parts are those of AWS
// types whose maps hold documents or free keys.
func free(path string) bool {
	parts := []string{"PolicyDocument", "Variables", "Definition", "Labels", "Parameters", "Document", "outputs",
		"DashboardBody", "EventPattern", "ResponseTemplates", "RequestTemplates", "RequestParameters"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(path, part) })
}
