package editor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// resource returns the resource whose declaration contains the selection, or nil.
func (a *actor) resource() *check.Node {
	// A selection lies in one body at most, so that their order does not matter.
	for _, body := range a.p.bodies() {
		for _, n := range body.Nodes {
			if n.Resource == nil {
				continue
			}
			if start, end, ok := a.place(n.Resource.Decl.Range); ok && start <= a.start && a.end <= end {
				return n
			}
		}
	}
	return nil
}

// fill offers to add the missing required properties of a resource, or of the innermost map around the selection. It
// goes down from the resource along the selection, in the type and in the text at once, and stops at the innermost map
// that lacks something.
func fill(a *actor) []Action {
	n := a.resource()
	if n == nil || n.Resource.Schema == nil || n.Resource.Decl.Get != nil || n.Resource.Decl.PropertiesExpr != nil {
		return nil
	}
	trail := a.trail(a.start, a.end)
	// The spans are of the text as it is now, and the node of the last check. The place of the key is what both have;
	// without it the text has changed since.
	depth := slices.IndexFunc(trail, func(s parser.Span) bool { return s.Key.Start == a.p.location(n.Range).At.Start })
	if depth < 0 {
		return nil
	}
	resource, inner := trail[depth], trail[depth+1:]
	var t schema.Type = n.Resource.Schema.Inputs
	i := keyed(resource.Children, "properties")
	// Nothing shows how the fields of the resource are indented.
	if i < 0 && len(resource.Children) == 0 {
		return nil
	}
	if i < 0 {
		return a.fillMap(resource, n, missing(t, nil), "properties")
	}
	properties := resource.Children[i]
	if len(inner) == 0 || inner[0].Key != properties.Key {
		inner = nil
	} else {
		inner = inner[1:]
	}
	for target, dst := properties, t; ; {
		// A map around the selection that lacks something is passed by as long as there is a deeper one.
		if offered := a.fillMap(target, n, missing(dst, target.Children), ""); offered != nil &&
			(len(inner) == 0 || inner[0].Kind == parser.ScalarSpan) {
			return offered
		}
		if len(inner) == 0 {
			return nil
		}
		name := inner[0].Name
		// memberType takes a name in brackets for an item.
		if inner[0].Key.IsZero() {
			name = "[0]"
		}
		if dst, _ = memberType(a.p.Checked.Known(a.ctx, dst), name); dst == nil {
			return nil
		}
		dst = a.p.Checked.Known(a.ctx, dst)
		target, inner = inner[0], inner[1:]
		// A text where a map is wanted may be a reference to one.
		if target.Kind == parser.ScalarSpan && target.Value.Text() != "" {
			return nil
		}
	}
}

// missing returns the required properties of t that have no default and are not in there. It returns none if a function
// computes the value. What a default, an environment variable or a constant provides need not be written.
func missing(t schema.Type, there []parser.Span) []*schema.Property {
	o, ok := schema.Required(t).(*schema.Object)
	if !ok {
		return nil
	}
	var list []*schema.Property
	for _, p := range o.Properties() {
		here := slices.ContainsFunc(there, func(s parser.Span) bool { return s.Name == p.Name })
		if p.Required && p.Const == nil && p.Default == nil && len(p.DefaultEnv) == 0 && !here {
			list = append(list, p)
		}
	}
	// The one entry of such a map is a call, whose value has the properties.
	if slices.ContainsFunc(there, func(s parser.Span) bool { return strings.HasPrefix(s.Name, "fn::") }) {
		return nil
	}
	return list
}

// members formats properties as map entries with example values: in lines, as a snippet with placeholders, and in flow
// style. Clients without snippets get the plain lines, and texts in brackets the flow form, in which there are no
// placeholders.
func (a *actor) members(list []*schema.Property) (plain, snippet, flow string) {
	escape := strings.NewReplacer(`\`, `\\`, "$", `\$`, "}", `\}`)
	for i, p := range list {
		value := schema.Example(p)
		plain += p.Name + ": " + value + "\n"
		// The quotes stay outside of the placeholder, so that typing replaces the text between them.
		open, closing := "", ""
		if text := strings.Trim(value, `"`); len(value) > 1 && value[0] == '"' && strings.HasSuffix(value, `"`) {
			open, closing, value = `"`, `"`, text
		}
		snippet += fmt.Sprintf("%s: %s${%d:%s}%s\n", p.Name, open, i+1, escape.Replace(value), closing)
		if flow != "" {
			flow += ", "
		}
		if a.text.json() {
			flow += literal.JSON(p.Name) + ": " + jsonOf(schema.Example(p))
			continue
		}
		flow += p.Name + ": " + inFlowText(schema.Example(p))
	}
	return plain, snippet, flow
}

// jsonOf converts a YAML value to JSON.
func jsonOf(yaml string) string {
	e, _ := parser.Data(diag.NewSource("", []byte(yaml)))
	return strings.TrimSuffix(writeJSON(e, -1), "\n")
}

// inFlowText quotes a reference, whose braces would be a flow map.
func inFlowText(value string) string {
	if strings.HasPrefix(value, "${") {
		return literal.JSON(value)
	}
	return value
}

// fillTitle returns the menu title of the action that fills in required properties.
func fillTitle(n *check.Node, list []*schema.Property) string {
	if len(list) == 1 {
		return fmt.Sprintf("Fill in %s of %s", list[0].Name, n.Name)
	}
	return fmt.Sprintf("Fill in %d required properties of %s", len(list), n.Name)
}

// fillMap offers to add properties to target, or to a new map under key in target if key is not empty.
func (a *actor) fillMap(target parser.Span, n *check.Node, list []*schema.Property, key string) []Action {
	if len(list) == 0 {
		return nil
	}
	plain, snippet, flow := a.members(list)
	if key != "" {
		plain, snippet = key+":\n"+lines(plain, 2), key+":\n"+lines(snippet, 2)
		flow = a.flowKey(key) + ": {" + flow + "}"
	}
	inFlow := a.text.inFlow(a.trail(int(target.Range().Start), int(target.Range().End)))
	edit, ok := a.add(target, inFlow, plain, flow)
	if !ok {
		return nil
	}
	offered := a.action(FillAction, fillTitle(n, list), edit)
	if !inFlow && !target.Flow && !strings.HasPrefix(target.Value.Text(), "{") {
		// Added in the same way as the plain text, so that only the placeholders differ.
		e, _ := a.add(target, inFlow, snippet, flow)
		offered[0].Snippet = e.Text
	}
	return offered
}
