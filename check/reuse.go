package check

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/check/names"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/check/types"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// A check reuses the result of an earlier one for a declaration if it would be the same: the expressions are identical,
// and the meaning of their names and the packages have not changed. Names, the order of evaluation and comparisons of
// declarations with each other are computed each time, which costs little.

// Snapshot holds the results of a check that the next one may use again. It is immutable. It holds nothing of the run
// or the Program: those would keep each check alive by the next.
type Snapshot struct {
	inputs     inputs
	packages   *packages.Set
	components map[*ast.Component]*componentView
	bodies     map[string]*bodySnapshot // by the token of the component; empty for the program's own

	indexing sync.Once
	index    map[*ast.Unit]*result // see ofUnit
}

// bodySnapshot is the part of a Snapshot about one body.
type bodySnapshot struct {
	names    *names.Snapshot
	resolver *packages.Resolver
	nodes    []*result // by the source index of the nodes
	outputs  []*result
}

// result is the outcome of the check of a declaration with what decides whether it may be reused. It is immutable. The
// meaning of a name is kept as the stamp of its node, since each check makes new nodes.
type result struct {
	unit    *ast.Unit // nil for undeclared configuration
	outcome types.Outcome
	refs    []refMeaning       // what each access of the unit has meant
	choices []*packages.Choice // where the functions of providers were looked up
	given   given
	stamp   *stamp
}

// refMeaning is the meaning of an access in an earlier check.
type refMeaning struct {
	kind RefKind
	of   *stamp // of a RefNode
}

// stamp identifies the visible part of a node. Two checks share a stamp as long as that part is the same.
type stamp struct {
	typ      schema.Type
	unit     *ast.Unit // of a variable, since checks follow its value
	resource resourceForm
}

// resourceForm is the visible part of a resource besides its type.
type resourceForm struct {
	token                     string
	hasForEach, hasIf, hasGet bool
}

// given holds the properties of a resource that are known before its check.
type given struct {
	schema   *schema.Resource
	token    string
	typ      schema.Type
	provider *ast.Resource // the default one
}

// givenFor returns what the passes before the check have decided about a resource.
func givenFor(n *Node) given {
	r := n.Resource
	g := given{schema: r.Schema, token: r.Token, typ: n.Type}
	if r.DefaultProvider != nil {
		g.provider = r.DefaultProvider.Resource.Decl
	}
	return g
}

// inputs are the inputs of a check that all declarations of a program share. A change of one of them discards the whole
// snapshot. Packages, components and keys of stacks are left out because each declaration is compared by what it uses
// of them.
type inputs struct {
	options             Options // without the fields that are compared elsewhere
	allowEnv, publicEnv []ast.Literal
}

// inputsOf returns the shared inputs of the check of a program.
func inputsOf(file *ast.File, opts Options) inputs {
	in := inputs{options: opts, allowEnv: file.AllowEnv, publicEnv: file.PublicEnv}
	o := &in.options
	o.Packages, o.Local, o.StackKeys = nil, nil, nil
	for i, all := 0, reflect.ValueOf(o).Elem(); i < all.NumField(); i++ {
		if all.Field(i).Kind() == reflect.Func { // declarations that call one are volatile
			all.Field(i).SetZero()
		}
	}
	return in
}

// equal reports whether two checks have the same inputs. DeepEqual comes last, for what is compared by hand before
// would be slow or, as a loader, wrong to compare by content.
func (in inputs) equal(other inputs) bool {
	a, b := in.options, other.options
	same := func(x, y ast.Literal) bool { return x.Value == y.Value }
	if !slices.EqualFunc(in.allowEnv, other.allowEnv, same) || !slices.EqualFunc(in.publicEnv, other.publicEnv, same) ||
		!sameLoader(a.Schemas, b.Schemas) ||
		!maps.Equal(a.Config, b.Config) {
		return false
	}
	a.Schemas, b.Schemas, a.Config, b.Config = nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

// sameLoader reports whether two loaders are certainly the same one. A loader that cannot be compared counts as
// another, which costs a full check.
func sameLoader(a, b schema.Loader) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	// Comparing two interfaces panics if their type cannot be compared.
	return reflect.TypeOf(a).Comparable() && a == b
}

// snapshot returns what the next check may reuse; nil if some declarations depend on themselves. In a loop the outcome
// of a node depends on which node was first, which the stamps do not tell.
func (r *run) snapshot() *Snapshot {
	s := &Snapshot{inputs: inputsOf(r.file, r.opts), packages: r.shared.Packages,
		components: make(map[*ast.Component]*componentView), bodies: make(map[string]*bodySnapshot, len(r.bodies))}
	for _, b := range r.bodies {
		if b.hasLoop {
			return nil
		}
		token := ""
		if b.component != nil {
			token = b.component.of.Token
			s.components[b.component.of.Decl] = b.component.seen
		}
		s.bodies[token] = &bodySnapshot{names: b.scope.Snapshot(), resolver: b.resolver, nodes: b.nodes,
			outputs: b.outputs}
	}
	return s
}

// body returns what is left of the body of a component, nil for the program's own; nil for nothing.
func (s *Snapshot) body(c *component) *bodySnapshot {
	switch {
	case s == nil:
		return nil
	case c == nil:
		return s.bodies[""]
	}
	return s.bodies[c.of.Token]
}

// ofUnit returns the result for a unit. It is for declarations that are no longer at the same index.
func (s *Snapshot) ofUnit(unit *ast.Unit) *result {
	// Made on first use: most edits find every declaration by its index. Several goroutines of one check may ask.
	s.indexing.Do(func() {
		s.index = make(map[*ast.Unit]*result)
		for _, b := range s.bodies {
			for _, all := range [][]*result{b.nodes, b.outputs} {
				for _, known := range all {
					if known.unit != nil {
						s.index[known.unit] = known
					}
				}
			}
		}
	})
	return s.index[unit]
}

// namesOf and resolverOf return parts of a snapshot; nil for a body that the check before did not have.
func (b *bodySnapshot) namesOf() *names.Snapshot {
	if b == nil {
		return nil
	}
	return b.names
}

func (b *bodySnapshot) resolverOf() *packages.Resolver {
	if b == nil {
		return nil
	}
	return b.resolver
}

// reusable returns the result of an earlier check for a node if it is still valid; else nil. A declaration is found by
// its index where the body declares the same names as before, which is so for almost every keystroke, and else by its
// unit: the parser keeps the unit of a text that has not changed, wherever it stands.
func (b *body) reusable(n *Node, before given, fact *program.Fact) *result {
	unit := n.Unit()
	if b.run.previous == nil || unit == nil {
		return nil
	}
	var known *result
	if was := b.scope.Former(n); was != nil {
		known = b.was.nodes[was.SourceIndex]
	} else {
		known = b.run.previous.ofUnit(unit)
	}
	if known == nil || n.Kind == ResourceNode && known.given != before || !b.stillValid(known, fact) {
		return nil
	}
	return known
}

// reusableOutput is reusable for the output at an index.
func (b *body) reusableOutput(i int, o *Output, fact *program.Fact) *result {
	if b.run.previous == nil {
		return nil
	}
	var known *result
	if b.was != nil && i < len(b.was.outputs) && b.was.outputs[i].unit == o.Decl.Unit {
		known = b.was.outputs[i]
	} else {
		known = b.run.previous.ofUnit(o.Decl.Unit)
	}
	if known == nil || !b.stillValid(known, fact) {
		return nil
	}
	return known
}

// stillValid reports whether the result of an earlier check of the same expressions would be the same today. Whatever a
// check of a declaration reads has to be compared here, or has to make the outcome volatile, or be one of the inputs
// that discard the whole snapshot. A test compares checks after random edits with checks of the same text alone
// (TestCheckAfterEditEqualsFresh).
func (b *body) stillValid(known *result, fact *program.Fact) bool {
	if known.outcome.Volatile || b.hasLoop {
		return false
	}
	for i, ref := range fact.Refs {
		was := known.refs[i]
		if was.kind != ref.Kind || ref.Kind == RefNode && (was.of == nil || was.of != b.stamp(ref.Node)) {
			return false
		}
	}
	for _, a := range known.outcome.Lost {
		if slices.Contains(b.file.Lost, a.Name) != a.Lost {
			return false
		}
	}
	pos := 0
	for call, token := range packages.Calls(known.unit) {
		if !packages.Valid(token.Value) {
			continue
		}
		if b.scope.CallProvider(call) != nil {
			return false // it names a node of that check
		}
		// Choices are compared by pointer: the resolver returns the former one as long as it means the same package.
		if pos >= len(known.choices) || b.resolver.Choose(packages.OfCall(call, token)) != known.choices[pos] {
			return false
		}
		pos++
	}
	return pos == len(known.choices)
}

// stamp returns the stamp of a node that has been checked; nil for any other node.
func (b *body) stamp(n *Node) *stamp {
	if known := b.nodes[n.SourceIndex]; known != nil {
		return known.stamp
	}
	return nil
}

// newResult returns the result of the check of a declaration, with what it depends on.
func (b *body) newResult(unit *ast.Unit, o types.Outcome, fact *program.Fact) *result {
	r := &result{unit: unit, outcome: o}
	if fact == nil {
		return r
	}
	r.refs = make([]refMeaning, len(fact.Refs))
	for i, ref := range fact.Refs {
		r.refs[i].kind = ref.Kind
		if ref.Kind == RefNode {
			// nil for a node in a loop that is not checked yet; such a result is never valid again.
			r.refs[i].of = b.stamp(ref.Node)
		}
	}
	for call, token := range packages.Calls(unit) {
		if packages.Valid(token.Value) {
			r.choices = append(r.choices, b.resolver.Choose(packages.OfCall(call, token)))
		}
	}
	return r
}

// stampOf returns the stamp of a node of type t: the former one if the visible part is the same. Keeping the former
// stamp is what stops an edit from spreading: a literal that changed within its type changes no stamp, so that nothing
// that refers to the node is checked again. A variable that is checked anew gets a new one, for checks follow it to the
// literal that it stands for.
func (b *body) stampOf(n *Node, t schema.Type) *stamp {
	s := &stamp{typ: t}
	switch n.Kind {
	case VariableNode:
		s.unit = n.Variable.Unit
	case ResourceNode:
		d := n.Resource.Decl
		s.resource = resourceForm{token: n.Resource.Token, hasForEach: d.ForEach != nil, hasIf: d.If != nil,
			hasGet: d.Get != nil}
	}
	if n.Kind == VariableNode || b.was == nil {
		return s
	}
	// By name and not by index: a declaration that moved is the same to those who refer to it.
	was := b.was.names.Lookup(n.Name)
	if was == nil || was.Kind != n.Kind {
		return s
	}
	before := b.was.nodes[was.SourceIndex].stamp
	if before == nil || before.resource != s.resource || !sameType(before.typ, s.typ) {
		return s
	}
	return before
}

// sameType reports whether two types are certainly the same. A false answer costs time only: what refers to the node is
// checked again. Types of schemas are the same by pointer, since packages are kept from check to check.
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
