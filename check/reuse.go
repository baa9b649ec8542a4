package check

import (
	"maps"
	"reflect"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// A check reuses the outcome of an earlier one for a declaration if it would be the same: the expressions are
// identical, and the meaning of their names and the packages have not changed. Names, the order of evaluation and
// comparisons of declarations with each other are computed each time, which costs little.

// outcome is the result of checking one declaration, with everything that the result depends on. It is immutable once
// sealed.
type outcome struct {
	types []schema.Type // by slot; nil for an expression that was not inferred
	calls []*Call       // of the unit's calls; nil for one that means nothing
	found diag.Diagnostics
	typ   schema.Type // of the node or the output
	value *value.Value
	text  *string

	trail
	seen  []sight
	given given
	stamp *stamp
}

// trail records the inputs of a check besides the expressions and the nodes that they name.
type trail struct {
	lost          []answer     // names that were looked for among those that reading has lost
	missing       []missingUse // packages that were missing
	looked        []*choice    // where the functions of providers were looked for
	jsonArguments []ast.Expr   // of fn::toJSON
	leads         []lead       // from accesses
	volatile      bool         // it has looked at something that may change without notice, such as files
}

type answer struct {
	name string
	yes  bool
}

type missingUse struct {
	pkg *loadedPackage
	at  diag.Range
}

// sight is the meaning of an access in an earlier check.
type sight struct {
	kind RefKind
	of   *stamp // of a RefNode
}

// stamp identifies the visible part of a node. Two checks share a stamp as long as that part is the same.
type stamp struct {
	typ      schema.Type
	unit     *ast.Unit // of a variable, since checks follow its value
	resource looks
}

// looks holds the visible parts of a resource besides its type.
type looks struct {
	token             string
	each, perhaps, is bool // it has forEach, if, and get
}

// given holds the properties of a resource that are known before its check.
type given struct {
	schema   *schema.Resource
	token    string
	typ      schema.Type
	provider *ast.Resource // the default one
}

// environment holds the inputs of the check that all declarations of a program share.
type environment struct {
	options             Options // without the fields that are compared elsewhere
	allowEnv, publicEnv []ast.Literal
}

// memory holds the results that a check leaves for the next one. It is immutable.
type memory struct {
	environment
	stackKeys  []string
	packages   map[string]*loadedPackage
	components map[*ast.Component]*Component
	bodies     map[string]*remembered // by the token of the component; empty for the program's own
}

// remembered is the memory of a body.
type remembered struct {
	nodes
	choices map[choiceKey]*choice
}

// environmentOf returns the shared inputs of the check of a program.
func environmentOf(file *ast.File, opts Options) environment {
	e := environment{options: opts, allowEnv: file.AllowEnv, publicEnv: file.PublicEnv}
	o := &e.options
	o.Packages, o.Local, o.StackKeys, o.Previous = nil, nil, nil, nil
	for i, all := 0, reflect.ValueOf(o).Elem(); i < all.NumField(); i++ {
		if all.Field(i).Kind() == reflect.Func { // declarations that call one are volatile
			all.Field(i).SetZero()
		}
	}
	return e
}

func (e environment) equal(other environment) bool {
	a, b := e.options, other.options
	same := func(x, y ast.Literal) bool { return x.Value == y.Value }
	if !slices.EqualFunc(e.allowEnv, other.allowEnv, same) || !slices.EqualFunc(e.publicEnv, other.publicEnv, same) ||
		!sameLoader(a.Schemas, b.Schemas) ||
		!maps.EqualFunc(a.Config, b.Config, func(x, y ConfigText) bool {
			x.Key, y.Key = diag.Range{}, diag.Range{}
			return x == y
		}) {
		return false
	}
	a.Schemas, b.Schemas, a.Config, b.Config = nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

func sameLoader(a, b schema.Loader) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.TypeOf(a).Comparable() && a == b
}

// recall returns the memory of an earlier check; nil if it cannot be used.
func recall(file *ast.File, opts Options) *memory {
	if opts.Previous == nil || opts.Previous.left == nil ||
		!opts.Previous.left.environment.equal(environmentOf(file, opts)) {
		return nil
	}
	return opts.Previous.left
}

// leave returns the results that a later check may reuse.
func (r *run) leave(file *ast.File, opts Options, bodies []*body) *memory {
	m := &memory{environment: environmentOf(file, opts), stackKeys: opts.StackKeys,
		packages:   r.packages.loaded,
		components: make(map[*ast.Component]*Component),
		bodies:     make(map[string]*remembered, len(bodies))}
	for _, b := range bodies {
		token := ""
		if b.component != nil {
			token = b.component.Token
			m.components[b.component.Decl] = b.component
		}
		m.bodies[token] = &remembered{nodes: b.nodes, choices: b.choices}
	}
	return m
}

// forget drops data that is needed only while the program is being checked, earlier checks above all.
func (r *run) forget(bodies []*body) {
	r.memory, r.previous = nil, nil
	for _, b := range bodies {
		b.remembered, b.linker.earlier = nil, nil
		if b.component != nil {
			b.component.body = nil
		}
	}
}

// body returns the memory of a body; nil for none.
func (m *memory) body(component *Component) *remembered {
	switch {
	case m == nil:
		return nil
	case component == nil:
		return m.bodies[""]
	}
	return m.bodies[component.Token]
}

// left returns the outcome of an earlier check for the declaration of a unit. n is nil for an output.
func (b *body) left(unit *ast.Unit, n *Node) *outcome {
	r := b.run
	if r.memory == nil || unit == nil {
		return nil
	}
	if was := b.was(n); was != nil {
		return was.record.outcome
	}
	if record := r.previous.of(unit); record != nil {
		return record.outcome
	}
	return nil
}

// takeOver returns the outcome of an earlier check if it is still valid; else nil. n is nil for an output.
func (b *body) takeOver(unit *ast.Unit, n *Node) *outcome {
	v := b.left(unit, n)
	if v == nil || v.volatile || b.hasLoop || n != nil && n.Resource != nil && v.given != givenFor(n) {
		return nil
	}
	var record *record
	if n != nil {
		record = n.record
	} else {
		record = b.records.of(unit)
	}
	for i, ref := range record.refs {
		s := v.seen[i]
		if s.kind != ref.Kind || ref.Kind == RefNode && (s.of == nil || s.of != ref.Node.stamp) {
			return nil
		}
	}
	for _, a := range v.lost {
		if slices.Contains(b.file.Lost, a.name) != a.yes {
			return nil
		}
	}
	pos := 0
	for call, token := range providerCalls(unit) {
		if !validToken(token.Value) {
			continue
		}
		if b.packages.callProviders[call] != nil {
			return nil // it names a node of that check
		}
		if pos >= len(v.looked) || b.choose(useOf(call, token)) != v.looked[pos] {
			return nil
		}
		pos++
	}
	if pos != len(v.looked) {
		return nil
	}
	record.outcome = v
	return v
}

func givenFor(n *Node) given {
	r := n.Resource
	g := given{schema: r.Schema, token: r.Token, typ: n.Type}
	if r.DefaultProvider != nil {
		g.provider = r.DefaultProvider.Resource.Decl
	}
	return g
}

// seal builds the outcome of a checked declaration. n is nil for an output.
func (c *declChecker) seal(n *Node, t schema.Type, g given) *outcome {
	c.spare.Put(c.places)
	c.places = new(places)
	v := c.outcome
	v.typ, v.given, v.found = t, g, c.report.All()
	if c.record == nil {
		return v
	}
	v.seen = make([]sight, len(c.record.refs))
	for i, ref := range c.record.refs {
		v.seen[i].kind = ref.Kind
		if ref.Kind == RefNode {
			v.seen[i].of = ref.Node.stamp
		}
	}
	for call, token := range providerCalls(c.unit) {
		if validToken(token.Value) {
			v.looked = append(v.looked, c.choose(useOf(call, token)))
		}
	}
	return v
}

// stamped returns the former stamp of a node if its visible part is the same.
func (b *body) stamped(n *Node) *stamp {
	s := &stamp{typ: n.Type}
	switch n.Kind {
	case VariableNode:
		s.unit = n.Variable.Unit
	case ResourceNode:
		d := n.Resource.Decl
		s.resource = looks{token: n.Resource.Token, each: d.ForEach != nil, perhaps: d.If != nil, is: d.Get != nil}
	}
	if n.Kind == VariableNode || b.remembered == nil {
		return s
	}
	before := b.remembered.lookup(n.Name)
	if before == nil || before.Kind != n.Kind || before.stamp == nil || before.stamp.resource != s.resource ||
		!sameType(before.stamp.typ, s.typ) {
		return s
	}
	return before.stamp
}

// sameType reports whether two types are certainly the same.
func sameType(a, b schema.Type) bool {
	if a == nil || b == nil {
		return a == b
	}
	if reflect.TypeOf(a).Comparable() && a == b {
		return true
	}
	switch a := a.(type) {
	case *schema.Array:
		b, ok := b.(*schema.Array)
		return ok && a.Plain == b.Plain && sameType(a.Item, b.Item)
	case *schema.Map:
		b, ok := b.(*schema.Map)
		return ok && a.Plain == b.Plain && sameType(a.Item, b.Item)
	case *schema.Optional:
		b, ok := b.(*schema.Optional)
		return ok && sameType(a.Elem, b.Elem)
	}
	return false
}

// A body that declares the same names in the same order as in the earlier check is linked by index: a name refers to
// the node at the same index as before.

// recognize determines whether a body declares the same names as before.
func (c *body) recognize() {
	before := c.remembered
	if before == nil || len(before.all) < len(c.all) || before.named != len(c.all) ||
		!slices.Equal(c.memory.stackKeys, c.opts.StackKeys) {
		return
	}
	for i, n := range c.all {
		was := before.all[i]
		if was.Kind != n.Kind || was.unit() != n.unit() && (was.Name != n.Name ||
			n.Kind == ConfigNode && was.Config.Key != n.Config.Key) {
			return
		}
	}
	c.earlier = before.all[:len(c.all)]
}

// was returns the former node if its declaration is identical; else nil.
func (c *linker) was(n *Node) *Node {
	if n == nil || n.place >= len(c.earlier) {
		return nil
	}
	if was := c.earlier[n.place]; was.record != nil && was.unit() == n.unit() {
		return was
	}
	return nil
}

// relink links a node as before; false if that is not sufficient.
func (c *linker) relink(n *Node, unit *ast.Unit) bool {
	was := c.was(n)
	if was == nil || len(c.defaults) > 0 {
		return false
	}
	for _, ref := range was.record.refs {
		switch ref.Kind {
		case RefNode, RefEach:
			if ref.Node.place >= len(c.earlier) {
				return false // undeclared
			}
		case RefPulumi:
		default:
			return false
		}
	}
	refs := n.record.refs
	for i, ref := range was.record.refs {
		if ref.Node != nil {
			ref.Node = c.all[ref.Node.place]
		}
		refs[i] = ref
		if ref.Kind == RefNode {
			c.uses[ref.Node.place]++
			if n.Needs == nil {
				n.Needs = c.edges.next(len(refs) - i)[:0]
			}
			n.Needs = append(n.Needs, Edge{To: ref.Node, Range: unit.Accesses[i].Root.Range})
		}
	}
	return true
}
