package editor

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// extractComponent offers to move the selected resources into a new component. Values they use from outside become
// inputs, values used outside become outputs, and aliases keep their state. Only whole entries can be moved. Resources
// whose identity in the stack is more than a name are not offered: instances, resources that are read, and those with
// aliases of their own.
func extractComponent(a *actor) []Action {
	i := keyed(a.spans, "resources")
	if a.start == a.end || a.text.json() || i < 0 || a.spans[i].Flow {
		return nil
	}
	var chosen []parser.Span
	for _, s := range a.spans[i].Children {
		if a.start <= int(s.Range().Start) && int(s.Range().End) <= a.end {
			chosen = append(chosen, s)
		}
	}
	// The selection must begin and end with entries: half of one cannot move.
	if len(chosen) == 0 || int(chosen[0].Range().Start) != a.start || int(chosen[len(chosen)-1].Range().End) != a.end {
		return nil
	}
	m := &relocation{actor: a, nodes: map[*check.Node]bool{}, inputs: map[string]string{}, outputs: map[string]string{}}
	for _, n := range a.p.Checked.Nodes {
		if n.Resource == nil {
			continue
		}
		start, _, here := a.place(n.Range)
		if !here || start < a.start || a.end <= start {
			continue
		}
		decl := n.Resource.Decl
		if decl.ForEach != nil || decl.If != nil || decl.Get != nil || decl.Options.Aliases != nil ||
			n.Resource.Component != nil {
			return nil
		}
		m.nodes[n] = true
		m.order = append(m.order, n)
	}
	// An entry that the checker does not know as a resource, such as one with a fault, cannot be moved.
	if len(m.order) != len(chosen) {
		return nil
	}
	slices.SortFunc(m.order, func(a, b *check.Node) int { return int(a.Range.Start) - int(b.Range.Start) })
	first := chosen[0].Name
	m.instance, m.component = first, m.pascal(first)
	if !m.collectUses() {
		return nil
	}
	text, ok := m.declaration(chosen[0])
	if !ok {
		return nil
	}
	// Without a flow form: a program in brackets was left alone above.
	declared, ok := a.declare("", "components", text, "", a.start)
	if !ok {
		return nil
	}
	use := m.instance + ":\n  type: components:" + m.component + "\n"
	if len(m.named) > 0 {
		given := joined(m.named, "", func(name string) string { return name + ": ${" + m.inputs[name] + "}\n" })
		use += "  properties:\n" + lines(given, 4)
	}
	used := strings.TrimSpace(lines(use, a.text.column(a.start)))
	return a.action(ExtractAction, "Extract to the component "+m.component,
		append([]diag.Edit{declared, a.replace(a.start, a.end, used)}, m.outside...)...)
}

// relocation moves resources into a new component. named, types and given have the order in which the names were found,
// which is that of the text; the maps answer whether one is there already.
type relocation struct {
	*actor
	nodes               map[*check.Node]bool
	order               []*check.Node // nodes in source order
	component, instance string
	named               []string          // names of inputs
	inputs              map[string]string // expression passed to each input
	types               []string          // types of the inputs in named
	given               []string          // names of outputs
	outputs             map[string]string // value of each output
	inside, outside     []diag.Edit       // edits in the resources, and of their uses elsewhere
}

// pascal returns name in PascalCase, with a number appended if a component of that name exists.
func (m *relocation) pascal(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case r == '-' || r == '_':
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	free := b.String()
	for i := 2; slices.ContainsFunc(m.p.File.Components,
		func(c *ast.Component) bool { return c.Name.Value == free }); i++ {
		free = fmt.Sprintf("%s%d", b.String(), i)
	}
	return free
}

// camel returns a name for an access: its root with the steps appended in camelCase, as in petLength.
func camel(root string, steps []ast.Step) string {
	for _, step := range steps {
		name := step.Name
		if step.IsIndex {
			name = fmt.Sprint(step.Index)
		}
		if name != "" {
			root += strings.ToUpper(name[:1]) + name[1:]
		}
	}
	return root
}

// collectUses collects the inputs and outputs of the component from the references that cross its border. It reports
// false if a reference cannot be expressed by them. Names of the run, such as `pulumi`, mean the same in a component. A
// reference from another file of the program cannot be edited here, and so nothing is offered.
func (m *relocation) collectUses() bool {
	ok := true
	m.each(func(e ast.Expr, start, end int) {
		access, isAccess := e.(*ast.Access)
		if !isAccess || !ok {
			return
		}
		ref := m.p.Checked.Ref(access)
		inside := m.start <= start && end <= m.end
		switch {
		case ref.Kind == check.RefPulumi || ref.Kind == check.RefArgs || ref.Kind == check.RefPolicy ||
			ref.Kind == check.RefEach && !inside:
		// What is left has no meaning that an input could carry.
		case ref.Kind != check.RefNode:
			ok = false
		case inside && !m.nodes[ref.Node]:
			ok = m.input(access, start, end)
		case !inside && m.nodes[ref.Node]:
			ok = m.output(access, start, end)
		}
	})
	for _, n := range m.order { // other files must not use the resources
		for _, use := range m.p.uses(n) {
			_, _, here := m.place(use.Range())
			ok = ok && here
		}
	}
	return ok
}

// input makes an input of an access in the resources to a name outside of them. It reports false for an access in an
// option, which may need the resource itself, while an input carries a value, and for a name that is taken.
func (m *relocation) input(access *ast.Access, start, end int) bool {
	if keyed(m.trail(start, end), "options") >= 0 {
		return false
	}
	text, ok := m.p.expression(access)
	kind := inputType(m.p.Checked.TypeOf(access))
	if !ok || kind == "" {
		return false
	}
	name := camel(access.Root.Value, access.Steps)
	// Two accesses may have one name in camelCase, such as a.bC and aB.c.
	if !plainName().MatchString(name) || m.inputs[name] != "" && m.inputs[name] != text ||
		slices.ContainsFunc(m.order, func(n *check.Node) bool { return n.Name == name }) {
		return false
	}
	if m.inputs[name] == "" {
		m.inputs[name] = text
		m.named, m.types = append(m.named, name), append(m.types, kind)
	}
	// All of the access becomes the name of the input: its steps were taken outside.
	from, to, ok := m.steps(access, len(access.Steps))
	m.inside = append(m.inside, m.replace(from, to, name))
	return ok
}

// steps returns the range of an access up to its first n steps.
func (m *relocation) steps(access *ast.Access, n int) (start, end int, ok bool) {
	start, end, ok = m.place(access.Root.Range)
	if n > 0 && ok {
		_, end, ok = m.place(access.Steps[n-1].Range)
	}
	return start, end, ok
}

// inputType returns the configuration type for t, or "" if there is none. A type that configuration does not have, such
// as a resource or an asset, cannot be passed on.
func inputType(t schema.Type) string {
	switch t := schema.Required(t).(type) {
	case schema.Primitive:
		switch t {
		case schema.String, schema.Bool, schema.Integer, schema.Number:
			return schema.TypeName(t)
		}
	case *schema.Enum:
		return inputType(t.Base)
	case *schema.Token:
		return inputType(t.Underlying)
	case *schema.Array:
		if item := inputType(t.Item); item != "" {
			return "list<" + item + ">"
		}
	case *schema.Object, *schema.Map:
		return "object"
	}
	return ""
}

// output makes an output of what is used from outside. Only the first step becomes an output; further ones stay behind
// it. The resource as a whole can be waited for, and that is the component then.
func (m *relocation) output(access *ast.Access, start, end int) bool {
	node := m.p.Checked.Ref(access).Node
	// dependsOn takes the component, which is complete when its resources are.
	if len(access.Steps) == 0 {
		from, to, ok := m.steps(access, 0)
		m.outside = append(m.outside, m.replace(from, to, m.instance))
		return ok && keyed(m.trail(start, end), "dependsOn") >= 0
	}
	step := access.Steps[0]
	if step.IsIndex || !plainName().MatchString(step.Name) {
		return false
	}
	name := step.Name
	// With several resources, their names make the names of outputs unique. `urn` is the component's own, and `id`
	// would look like it.
	if len(m.order) > 1 || name == "id" || name == "urn" {
		name = camel(node.Name, access.Steps[:1])
	}
	value := "${" + node.Name + "." + step.Name + "}"
	if m.outputs[name] != "" && m.outputs[name] != value {
		return false
	}
	if m.outputs[name] == "" {
		m.outputs[name] = value
		m.given = append(m.given, name)
	}
	from, to, ok := m.steps(access, 1)
	m.outside = append(m.outside, m.replace(from, to, m.instance+"."+name))
	return ok
}

// declaration returns the text of the component. It reports false if an alias cannot be written beside its resource, or
// if the selection does not start at the key of first. Without the aliases the resources would be deleted and created
// anew, as children of the component. Edits are applied from the end, so that earlier offsets stay valid.
func (m *relocation) declaration(first parser.Span) (string, bool) {
	for _, n := range m.order {
		path, edit, ok := m.p.alias(n, "name", n.Resource.LogicalName, true)
		if !ok || path != m.path {
			return "", false
		}
		// An edit like those of inputs: both are made in the copy that moves.
		m.inside = append(m.inside, edit)
	}
	moved := slices.Clone(m.text[m.start:m.end])
	slices.SortStableFunc(m.inside, func(a, b diag.Edit) int { return int(b.Range.Start - a.Range.Start) })
	for _, e := range m.inside {
		from, to := int(e.Range.Start)-m.start, int(e.Range.End)-m.start
		moved = slices.Concat(moved[:from], []byte(e.Text), moved[to:])
	}
	body := strings.Repeat(" ", m.text.column(m.start)) + string(moved)
	text := m.component + ":\n"
	if len(m.named) > 0 {
		text += "  inputs:\n"
		for i, name := range m.named {
			text += "    " + name + ": {type: " + quotedType(m.types[i]) + "}\n"
		}
	}
	text += "  resources:\n" + lines(unindented(body), 4)
	if len(m.given) > 0 {
		given := joined(m.given, "", func(name string) string { return name + ": " + m.outputs[name] + "\n" })
		text += "  outputs:\n" + lines(given, 4)
	}
	return text, int(first.Key.Start) == m.start
}

// quotedType quotes a type with angle brackets.
func quotedType(kind string) string {
	if strings.ContainsAny(kind, "<>") {
		return literal.JSON(kind)
	}
	return kind
}
