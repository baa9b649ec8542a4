package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Transforms change registrations of resources and calls of functions (L10.C17).

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
	return !t.Arguments && (m.Custom == nil || m.Custom.Value == custom) && matchesToken(m.Types, typ) &&
		matchesAny(m.Names, name)
}

// MatchesFunction reports whether a transform applies to calls of a function.
func MatchesFunction(t *ast.Transform, token string) bool {
	return t.Arguments && matchesToken(t.Match.Functions, token)
}

func matchesToken(globs []ast.Literal, token string) bool {
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
	resourceArgs = argsObject(map[string]schema.Type{"type": schema.String, "name": schema.String, "custom": schema.Bool,
		"parent": schema.String, "properties": schema.Any, "options": schema.Any})
	callArgs = argsObject(map[string]schema.Type{"function": schema.String, "arguments": schema.Any,
		"options": schema.Any})
)

func argsObject(members map[string]schema.Type) *schema.Object {
	var list []*schema.Property
	for name, t := range members {
		list = append(list, &schema.Property{Name: name, Type: t, Required: true})
	}
	slices.SortFunc(list, func(a, b *schema.Property) int { return strings.Compare(a.Name, b.Name) })
	return schema.ObjectOf(list...)
}

// argsOf returns the type of `args` in a transform.
func argsOf(t *ast.Transform) schema.Type {
	if t.Arguments {
		return callArgs
	}
	return resourceArgs
}

// linkTransforms resolves the names in the transforms of the stack.
func (c *linker) linkTransforms() {
	for _, decl := range c.file.Transforms {
		t := &Transform{Decl: decl}
		c.linkUnit(nil, &t.Needs, decl.Unit, surroundings{args: argsOf(decl)})
		c.program.Transforms = append(c.program.Transforms, t)
	}
}

// likelihood reports whether a transform changes what a node registers or calls.
type likelihood uint8

const (
	never  likelihood = iota
	maybe             // only a run can tell
	always            // it does, for at least one instance
)

// linkMatched adds the dependencies of a transform of the stack to every node that it can match. If only a run can
// decide the match, the transform's own dependencies are excepted.
func (c *linker) linkMatched() {
	chances := make([][]likelihood, len(c.program.Transforms))
	for i, t := range c.program.Transforms {
		chances[i] = make([]likelihood, len(c.all))
		for j, n := range c.all {
			chances[i][j] = c.chance(t.Decl, n)
			if chances[i][j] != never && n.Kind == ResourceNode && !t.Decl.Arguments {
				n.Transforms = append(n.Transforms, t.Decl)
			}
			if chances[i][j] == always {
				n.needTransform(t)
			}
		}
	}
	for i, t := range c.program.Transforms {
		var needed map[*Node]bool
		for j, n := range c.all {
			if chances[i][j] != maybe || len(t.Needs) == 0 {
				continue
			}
			if needed == nil {
				needed = make(map[*Node]bool)
				for _, edge := range t.Needs {
					reach(edge.To, needed, false)
				}
			}
			if !needed[n] {
				n.needTransform(t)
			}
		}
	}
}

func (n *Node) needTransform(t *Transform) {
	for _, edge := range t.Needs {
		n.Needs = append(n.Needs, Edge{To: edge.To, Range: t.Decl.Key, transform: t.Decl})
	}
}

// reach adds a node and its transitive dependencies; with byText, only dependencies by names in the text.
func reach(from *Node, seen map[*Node]bool, byText bool) {
	work := []*Node{from}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, edge := range n.Needs {
			if !byText || edge.byDefault == nil {
				work = append(work, edge.To)
			}
		}
	}
}

// VersionNeeds returns the nodes that pulumi.requiredVersion depends on, in the order of evaluation.
func (p *Program) VersionNeeds() []*Node {
	if p.File == nil || p.File.RequiredVersion == nil {
		return nil
	}
	needed := make(map[*Node]bool)
	for _, access := range p.File.Unit.Accesses {
		if n := p.Ref(access).Node; n != nil {
			reach(n, needed, false)
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Nodes), func(n *Node) bool { return !needed[n] })
}

// chance reports whether a transform changes a registration or call of a node, also inside of components.
func (c *linker) chance(t *ast.Transform, n *Node) likelihood {
	best := never
	c.eachRegistered(n, func(b *linker, n *Node) {
		switch {
		case t.Arguments:
			for _, token := range providerCalls(n.unit()) {
				if MatchesFunction(t, token.Value) {
					best = always
				}
			}
		case n.Kind != ResourceNode || n.Resource.Token == "" || n.Resource.Decl.Get != nil:
		case isRemote(n):
			best = max(best, maybe)
			fallthrough
		default:
			best = max(best, chanceOf(t, n, b.component != nil))
		}
	})
	return best
}

// chanceOf reports whether a transform applies to the resource of the node itself. Only a run knows the names of
// instances and of resources inside of a component.
func chanceOf(t *ast.Transform, n *Node, inside bool) likelihood {
	r := n.Resource
	named := *t
	if inside || r.Decl.ForEach != nil {
		named.Match.Names = nil
	}
	if !MatchesResource(&named, r.Token, r.LogicalName, !isComponent(n)) {
		return never
	}
	if len(named.Match.Names) != len(t.Match.Names) {
		return maybe
	}
	return always
}

func isComponent(n *Node) bool {
	return n.Resource.Component != nil || n.Resource.Schema != nil && n.Resource.Schema.Component
}

// isRemote reports whether a provider constructs the component of a node.
func isRemote(n *Node) bool {
	return n.Resource.Component == nil && n.Resource.Schema != nil && n.Resource.Schema.Component
}

// eachRegistered calls fn for a node and the nodes inside of its component, with the linkers of their bodies.
func (c *linker) eachRegistered(n *Node, fn func(b *linker, n *Node)) {
	seen := make(map[*body]bool)
	var visit func(b *linker, n *Node)
	visit = func(b *linker, n *Node) {
		fn(b, n)
		if n.Kind != ResourceNode || n.Resource.Component == nil || seen[n.Resource.Component.body] {
			return
		}
		body := n.Resource.Component.body
		seen[body] = true
		for _, inner := range body.all {
			visit(&body.linker, inner)
		}
		for _, o := range body.program.Outputs {
			fn(&body.linker, o.asNode())
		}
	}
	visit(c, n)
}

// asNode returns a node with the calls of an output.
func (o *Output) asNode() *Node {
	return &Node{Kind: VariableNode, Variable: &ast.Variable{Value: o.Decl.Value, Unit: o.Decl.Unit}}
}

// checkTransforms checks the transforms of the stack and of resources, after everything else.
func (c *body) checkTransforms(bodies []*body) {
	for _, t := range c.program.Transforms {
		m := &matched{t: t.Decl, what: "transform"}
		for _, n := range c.all {
			c.eachRegistered(n, m.look)
		}
		for _, o := range c.program.Outputs {
			m.look(&c.linker, o.asNode())
		}
		c.checkUnit(t.Decl.Unit, func(j *declChecker) {
			t.Decl.Exprs(func(e ast.Expr) { j.infer(e) })
			j.checkTransform(t.Decl, m)
		})
	}
	for _, body := range bodies {
		for _, n := range body.all {
			if n.Kind != ResourceNode {
				continue
			}
			for _, decl := range n.Resource.Decl.Options.Transforms {
				m := &matched{t: decl, what: "transform"}
				for _, below := range body.below(n) {
					body.eachRegistered(below, m.look)
				}
				j := body.reconsider(n.Resource.Decl.Unit)
				j.checkTransform(decl, m)
				body.handOver(n.Resource.Decl.Unit, j.seal(nil, schema.Invalid, given{}))
			}
		}
	}
}

// below returns a node and its descendants by the option parent.
func (c *linker) below(n *Node) []*Node {
	all := []*Node{n}
	for i := 0; i < len(all); i++ {
		for _, other := range c.all {
			if other.Kind == ResourceNode && !slices.Contains(all, other) && c.parentOf(other) == all[i] {
				all = append(all, other)
			}
		}
	}
	return all
}

func (c *linker) parentOf(n *Node) *Node {
	if parent := n.Resource.Decl.Options.Parent; parent != nil {
		if access, ok := parent.Value.(*ast.Access); ok {
			return c.program.Ref(access).Node
		}
	}
	return nil
}

// matched is a resource or function call that a transform can change.
type matched struct {
	t    *ast.Transform
	what string // transform or policy, in messages
	// found reports whether a resource matches; open, whether an unknown one may match.
	found, open bool
	inputs      []*schema.Object
	outputs     []*schema.Object // of the same types; for policies
	types       []string         // of inputs, to name in messages
}

func (m *matched) look(b *linker, n *Node) {
	if m.t.Arguments {
		for _, token := range providerCalls(n.unit()) {
			if MatchesFunction(m.t, token.Value) {
				m.found = true
				m.openUnless(b.functionInputs(token.Value), token.Value)
			}
		}
		return
	}
	if n.Kind != ResourceNode || n.Resource.Token == "" || n.Resource.Decl.Get != nil {
		return
	}
	if isRemote(n) {
		m.open = true
	}
	if chanceOf(m.t, n, b.component != nil) == never {
		return
	}
	m.found = true
	m.openUnless(n.Resource.Inputs(), n.Resource.Token)
	if s := n.Resource.Schema; s != nil && s.Outputs != nil && !slices.Contains(m.outputs, s.Outputs) {
		m.outputs = append(m.outputs, s.Outputs)
	}
}

// openUnless records the inputs of a match; if they are nil or open, any input is accepted.
func (m *matched) openUnless(inputs *schema.Object, token string) {
	if inputs == nil || !inputs.Closed {
		m.open = true
		return
	}
	if !slices.Contains(m.inputs, inputs) {
		m.inputs, m.types = append(m.inputs, inputs), append(m.types, schema.CollapseToken(token))
	}
}

// functionInputs returns the inputs of a function in a loaded package; nil if they are unknown.
func (c *run) functionInputs(token string) *schema.Object {
	for _, key := range c.packages.order {
		if p := c.packages.loaded[key]; p.pkg != nil && p.descriptor.Serves(packageOf(token)) {
			if f, _ := p.function(token); f != nil {
				return f.Inputs
			}
		}
	}
	return nil
}

func (c *declChecker) checkTransform(t *ast.Transform, m *matched) {
	if t.When != nil {
		c.operand(t.When, schema.Bool, "`when`")
	}
	options := &Node{Kind: ResourceNode, Resource: &Resource{Decl: &ast.Resource{Options: t.Options}}}
	c.checkOptions(options)
	what := "resource"
	if t.Arguments {
		what = "function call"
	}
	misplaced := t.Arguments && !slices.Contains(c.file.Transforms, t) // which the parser has reported
	if !misplaced {
		c.warnUnmatched(m, what)
	}
	c.checkMergedMap(t.Merge, m, "the properties that a transform merges")
}

// warnUnmatched warns of a transform or policy that nothing matches.
func (c *declChecker) warnUnmatched(m *matched, what string) {
	if m.found || m.open {
		return
	}
	rng := m.t.Match.Range
	if rng.IsZero() {
		rng = m.t.Key
	}
	c.report.Warnf(diag.Ignored, rng, "`*` matches any text; a type is written package:module:Type, as `yamlhost graph` shows it",
		"this %s matches no %s", m.what, what)
}

// checkMergedMap checks a map, if there is one, that is merged into the inputs of the matches.
func (c *declChecker) checkMergedMap(merge ast.Expr, m *matched, what string) {
	if merge == nil {
		return
	}
	if got := schema.Required(c.infer(merge)); !mapLike(got) {
		c.report.Errorf(diag.NotAssignable, merge.Range(), "", "%s must be a map, not %s", what, typeWithArticle(got))
		return
	}
	literal, ok := c.constant(merge).(*ast.Map)
	if !ok || m.open || len(m.inputs) == 0 {
		return
	}
	for _, entry := range literal.Entries {
		if key, isText := entry.Key.(*ast.String); isText {
			c.checkMerged(key, entry.Value, m)
		}
	}
}

func mapLike(t schema.Type) bool {
	switch t := t.(type) {
	case *schema.Map, *schema.Object:
		return true
	case schema.Primitive:
		return open(t)
	case *schema.Union:
		return slices.ContainsFunc(t.Members, mapLike)
	}
	return false
}

// checkMerged checks one property that a transform sets: some match must have it and accept the value.
func (c *declChecker) checkMerged(key *ast.String, e ast.Expr, m *matched) {
	var takes []*schema.Property
	var names []string
	for _, inputs := range m.inputs {
		if p := inputs.Property(key.Value); p != nil {
			takes = append(takes, p)
		}
		names = append(names, propertyNames(inputs)...)
	}
	if len(takes) == 0 {
		slices.Sort(names)
		near := diag.Suggest(key.Value, slices.Compact(names))
		hint := findings.DidYouMean(near)
		if hint == "" {
			hint = "it matches " + findings.Listed(m.types[:min(len(m.types), 5)])
		}
		c.report.Add(diag.Diagnostic{Code: diag.UnknownProperty, Subject: key.Range(), Detail: hint,
			Fixes:   findings.Rename(key.Range(), key.Value, near),
			Summary: fmt.Sprintf("nothing that this %s matches has the property `%s`", m.what, key.Value)})
		return
	}
	if _, null := e.(*ast.Null); null {
		return // null removes the property
	}
	var first diag.Diagnostics
	for _, p := range takes {
		switch schema.Required(c.known(p.Type)).(type) {
		case schema.Primitive, *schema.Array, *schema.Map, *schema.Enum:
		default:
			return // a partial object may be merged
		}
		found := c.report.Attempt(func() { c.fit(e, p.Type, &place{what: "property " + findings.Quote(key.Value)}) })
		if len(found) == 0 {
			return
		}
		if first == nil {
			first = found
		}
	}
	c.report.Add(first...)
}

// InputsOf returns the inputs of a type that the program uses or one of its packages has; nil if they are unknown.
func (p *Program) InputsOf(token string) *schema.Object { return p.inputsOf(token) }

// knownInputs returns the function behind InputsOf, from the declarations of a program's bodies and the loaded
// packages. It is safe for concurrent use.
func (c *run) knownInputs(bodies []*body) func(token string) *schema.Object {
	declared := make(map[string]*schema.Object)
	for _, body := range bodies {
		for _, n := range body.all {
			if n.Kind == ResourceNode && n.Resource.Schema != nil {
				declared[n.Resource.Token] = n.Resource.Schema.Inputs
			}
		}
	}
	packages := c.packages
	return func(token string) *schema.Object {
		if inputs, known := declared[token]; known {
			return inputs
		}
		for _, key := range packages.order {
			p := packages.loaded[key]
			if p.pkg == nil || !p.descriptor.Serves(packageOf(token)) {
				continue
			}
			if r, err := p.pkg.Resource(token); err == nil {
				return r.Inputs
			}
		}
		return nil
	}
}
