package program

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Transform is a checked transform of the stack.
type Transform struct {
	Decl *ast.Transform
	// Needs are the nodes that its expressions refer to. Every node that it can match depends on them too.
	Needs []Edge
}

// MatchesResource reports whether a transform applies to a resource. typ is its canonical token; a glob may use the
// short form.
func MatchesResource(t *ast.Transform, typ, name string, custom bool) bool {
	m := &t.Match
	return !t.Arguments && (m.Custom == nil || m.Custom.Value == custom) && MatchesToken(m.Types, typ) &&
		matchesAny(m.Names, name)
}

// MatchesFunction reports whether a transform applies to calls of a function.
func MatchesFunction(t *ast.Transform, token string) bool {
	return t.Arguments && MatchesToken(t.Match.Functions, token)
}

// MatchesToken reports whether a canonical token, in its long or short form, matches one of several globs, or there are
// none.
func MatchesToken(globs []ast.Literal, token string) bool {
	return matchesAny(globs, token) || matchesAny(globs, schema.CollapseToken(token))
}

func matchesAny(globs []ast.Literal, text string) bool {
	return len(globs) == 0 ||
		slices.ContainsFunc(globs, func(glob ast.Literal) bool { return matchesGlob(glob.Value, text) })
}

// matchesGlob reports whether a glob matches a text. `*` matches any text, also the empty one.
func matchesGlob(glob, text string) bool {
	parts := strings.Split(glob, "*")
	last := len(parts) - 1
	if last == 0 {
		return glob == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[last])
}

var (
	resourceArgs = ObjectOf(map[string]schema.Type{"type": schema.String, "name": schema.String, "custom": schema.Bool,
		"parent": schema.String, "properties": schema.Any, "options": schema.Any})
	callArgs = ObjectOf(map[string]schema.Type{"function": schema.String, "arguments": schema.Any,
		"options": schema.Any})
)

// ObjectOf returns an object that has all of the given members.
func ObjectOf(members map[string]schema.Type) *schema.Object {
	var list []*schema.Property
	for name, t := range members {
		list = append(list, &schema.Property{Name: name, Type: t, Required: true})
	}
	slices.SortFunc(list, func(a, b *schema.Property) int { return strings.Compare(a.Name, b.Name) })
	return schema.ObjectOf(list...)
}

// ArgsOf returns the type of `args` in a transform.
func ArgsOf(t *ast.Transform) schema.Type {
	if t.Arguments {
		return callArgs
	}
	return resourceArgs
}

// Likelihood reports whether a transform changes what a node registers or calls.
type Likelihood uint8

const (
	Never  Likelihood = iota
	Maybe             // only a run can tell
	Always            // it does, for at least one instance
)

// ChanceOf reports whether a transform applies to the resource of the node itself. Only a run knows the names of
// instances and of resources inside of a component. Everything but the name is known before a run.
func ChanceOf(t *ast.Transform, n *Node, inside bool) Likelihood {
	r := n.Resource
	named := *t
	if inside || r.Decl.ForEach != nil {
		named.Match.Names = nil
	}
	if !MatchesResource(&named, r.Token, r.LogicalName, !n.IsComponent()) {
		return Never
	}
	if len(named.Match.Names) != len(t.Match.Names) {
		return Maybe
	}
	return Always
}

// Matched describes the resources or calls that a transform or a policy applies to.
type Matched struct {
	Transform *ast.Transform
	What      string // transform or policy, in messages
	// Found reports whether a resource or call matches; Open, whether an unknown one may match.
	Found, Open bool
	Inputs      []*schema.Object
	Outputs     []*schema.Object // of the same types; for policies
	Types       []string         // of Inputs, to name in messages
}

// Inspect adds a node if it matches. inside reports whether it belongs to the body of a component. A resource that is
// read, with `get`, is not registered with inputs, and so nothing can change them.
func (m *Matched) Inspect(n *Node, inside bool, set *packages.Set) {
	if m.Transform.Arguments {
		for _, token := range packages.Calls(n.Unit()) {
			if MatchesFunction(m.Transform, token.Value) {
				m.Found = true
				m.add(set.FunctionInputs(token.Value), token.Value)
			}
		}
		return
	}
	if n.Kind != ResourceNode || n.Resource.Token == "" || n.Resource.Decl.Get != nil {
		return
	}
	if n.IsRemote() {
		m.Open = true
	}
	if ChanceOf(m.Transform, n, inside) == Never {
		return
	}
	m.Found = true
	m.add(n.Resource.Inputs(), n.Resource.Token)
	if s := n.Resource.Schema; s != nil && s.Outputs != nil && !slices.Contains(m.Outputs, s.Outputs) {
		m.Outputs = append(m.Outputs, s.Outputs)
	}
}

// add records the inputs of a match; if they are nil or open, any input is accepted.
func (m *Matched) add(inputs *schema.Object, token string) {
	if inputs == nil || !inputs.Closed {
		m.Open = true
		return
	}
	if !slices.Contains(m.Inputs, inputs) {
		m.Inputs, m.Types = append(m.Inputs, inputs), append(m.Types, schema.CollapseToken(token))
	}
}

// AddSchema records the schema of a type that a policy of a pack matches.
func (m *Matched) AddSchema(r *schema.Resource) {
	m.Found = true
	m.Inputs, m.Outputs = append(m.Inputs, r.Inputs), append(m.Outputs, r.Outputs)
	m.Types = append(m.Types, schema.CollapseToken(r.Token))
}

// EachRegistered calls fn for a node and for what is inside of its component. inside reports whether that is the body
// of a component. The node of an output has nothing but its calls. A body is visited once for each node, however often
// the component is used in it.
func EachRegistered(n *Node, inside bool, fn func(n *Node, inside bool)) {
	seen := make(map[*Program]bool)
	var visit func(n *Node, inside bool)
	visit = func(n *Node, inside bool) {
		fn(n, inside)
		if n.Kind != ResourceNode || n.Resource.Component == nil || seen[n.Resource.Component.Body] {
			return
		}
		body := n.Resource.Component.Body
		seen[body] = true
		for _, inner := range body.Nodes {
			visit(inner, true)
		}
		for _, o := range body.Outputs {
			fn(o.AsNode(), true)
		}
	}
	visit(n, inside)
}

// AsNode returns a node with the calls of an output.
func (o *Output) AsNode() *Node {
	return &Node{Kind: VariableNode, Variable: &ast.Variable{Value: o.Decl.Value, Unit: o.Decl.Unit}}
}
