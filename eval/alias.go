package eval

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// aliases reads the option aliases (L4.10): a list of URNs, old names or maps, from any expression (L4.11).
func (o *optionReader) aliases(option *ast.Option) []monitor.Alias {
	v := o.known(option)
	items, ok := v.AsList()
	switch {
	case v.IsNull():
		return nil
	case !ok:
		items = []value.Value{v}
	}
	var aliases []monitor.Alias
	for i, item := range items {
		rng := elementRange(option.Value, i)
		switch {
		case item.IsNull():
		case item.Is(value.KindString):
			text, _ := item.AsString()
			if !strings.HasPrefix(text, "urn:") {
				aliases = append(aliases, monitor.Alias{Name: text})
				continue
			}
			aliases = append(aliases, monitor.Alias{URN: o.parseURN(option, text, rng)})
		case item.Is(value.KindMap):
			aliases = append(aliases, o.alias(option, item, rng))
		default:
			o.blame(blame(diag.NotAssignable, rng, "write a URN, an old name, or a map such as {name: old}",
				"%s must hold strings and maps, not %s", option.Key.Value, kindOf(item)))
		}
	}
	return aliases
}

func (o *optionReader) parseURN(option *ast.Option, text string, rng diag.Range) urn.URN {
	u, err := urn.Parse(text)
	if err != nil {
		o.blame(blame(diag.Malformed, rng, "a URN looks like urn:pulumi:stack::project::type::name", "%s: %q is not a URN",
			option.Key.Value, text))
	}
	return u
}

// alias reads the map form; omitted parts are those of the resource.
func (o *optionReader) alias(option *ast.Option, m value.Value, rng diag.Range) monitor.Alias {
	var a monitor.Alias
	for i, key := range m.Keys() {
		part := m.At(i)
		if part.IsNull() {
			continue
		}
		text, isText := part.AsString()
		wants := "a string"
		switch key {
		case "urn":
			if isText {
				a.URN = o.parseURN(option, text, rng)
			}
		case "name":
			a.Name = text
		case "type":
			a.Type = text
		case "stack":
			a.Stack = text
		case "project":
			a.Project = text
		case "parent":
			wants = "a resource or a URN"
			if ref, ok := part.AsResource(); ok {
				a.Parent, isText = ref.URN, true
			} else if isText {
				a.Parent = o.parseURN(option, text, rng)
			}
		case "noParent":
			wants = "a boolean"
			a.NoParent, isText = part.AsBool()
		default:
			o.blame(blame(diag.UnknownKey, rng, "an alias has urn, name, type, parent, noParent, stack and project",
				"unknown key %s in an alias", key))
			continue
		}
		if !isText {
			o.blame(blame(diag.NotAssignable, rng, "", "%s of an alias must be %s, not %s", key, wants, kindOf(part)))
		}
	}
	return a
}
