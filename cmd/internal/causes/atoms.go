package causes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// atom is one thing that a value is made from.
type atom struct {
	id    any          // what varies: an expression or a node
	cause change.Cause // with what lies between
	// changed and same are both false for a literal, whose former text is not kept.
	changed, same bool
}

// walker collects the atoms of an expression.
type walker struct {
	x     *Explainer
	t     change.Steps
	atoms []atom
	depth int
	null  bool // the value may have been null
}

// mostDepth bounds how deep variables, components and expressions are followed.
const mostDepth = 60

// sure returns the atoms that are known to have changed.
func (w *walker) sure() (list []atom) {
	for _, a := range w.atoms {
		if a.changed {
			list = append(list, a)
		}
	}
	return list
}

// open returns the atoms of which it is not known whether they have changed.
func (w *walker) open() (list []atom) {
	for _, a := range w.atoms {
		if !a.changed && !a.same {
			list = append(list, a)
		}
	}
	return list
}

// causesOf returns the causes of atoms, each once.
func causesOf(list []atom) (found []change.Cause) {
	for _, a := range list {
		if !slices.ContainsFunc(found, func(c change.Cause) bool { return same(c, a.cause) }) {
			found = append(found, a.cause)
		}
	}
	return found
}

func same(a, b change.Cause) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.At == b.At && a.URN == b.URN && slices.EqualFunc(a.By, b.By, same)
}

// wrap adds what lies between an expression and its atoms, nearest first.
type wrap []change.Cause

func (b wrap) around(c change.Cause) change.Cause {
	for i := len(b) - 1; i >= 0; i-- {
		outer := b[i]
		outer.By = []change.Cause{c}
		c = outer
	}
	return c
}

func (w *walker) add(id any, between wrap, c change.Cause, changed, same bool) {
	w.atoms = append(w.atoms, atom{id: id, cause: between.around(c), changed: changed, same: same})
}

// walk collects the atoms of the value at a path in an expression.
func (w *walker) walk(f frame, e ast.Expr, rest value.Path, between wrap) {
	if w.depth++; w.depth > mostDepth || e == nil {
		w.depth--
		return
	}
	defer func() { w.depth-- }()
	e, rest, missing := deepest(e, rest)
	if missing {
		w.literal(e, between)
		return
	}
	switch e := e.(type) {
	case *ast.Null:
		w.null = true
		w.literal(e, between)
	case *ast.Bool, *ast.Number, *ast.String:
		w.literal(e, between)
	case *ast.Access:
		w.null = w.null || slices.ContainsFunc(e.Steps, func(s ast.Step) bool { return s.Optional })
		w.access(f, e, rest, between)
	case *ast.Call:
		w.null = true
		w.call(f, e, between)
	case *ast.Map:
		for _, entry := range e.Entries {
			w.walk(f, entry.Value, nil, between)
		}
	case *ast.List:
		for _, item := range e.Items {
			w.walk(f, item, nil, between)
		}
	default:
		_, text := e.(*ast.Template)
		w.null = w.null || !text
		outer := e
		ast.Walk(e, func(inner ast.Expr) bool {
			if inner == outer {
				return true
			}
			w.walk(f, inner, nil, between)
			return false
		})
	}
}

func (w *walker) literal(e ast.Expr, between wrap) {
	w.add(e, between, change.Cause{Kind: change.ByLiteral, At: w.x.at(e.Range()), Own: len(between) == 0}, false, false)
}

// call collects what the result of a call is made from: its arguments, and the call itself if it reads something.
func (w *walker) call(f frame, e *ast.Call, between wrap) {
	target := f.body.Call(e)
	here := change.Cause{Kind: change.ByFunction, Name: "fn::" + e.Name.Value, At: w.x.at(e.Name.Range)}
	reads := false
	switch {
	case target == nil:
	case target.Invoke != nil:
		here.Name, reads = schema.CollapseToken(target.Invoke.Token), true
	case target.Method != nil:
		here.Name, reads = target.Method.Name, true
	case target.Func != nil:
		here.Name = "fn::" + target.Func.Name
		switch target.Func.Name {
		case "stackReference":
			name := "another stack"
			if len(target.Args) > 0 {
				if text, literal := target.Args[0].(*ast.String); literal {
					name = text.Value
				}
			}
			w.add(e, between, change.Cause{Kind: change.ByStack, Name: name, At: here.At}, false, false)
			return
		case "readFile", "env", "fileAsset", "fileArchive", "remoteAsset", "remoteArchive", "assetArchive", "bundle":
			reads = true
		}
	}
	inner := append(slices.Clip(between), here)
	for _, arg := range append([]ast.Expr{e.Argument}, e.Args...) {
		if arg != nil {
			w.walk(f, arg, nil, inner)
		}
	}
	if reads {
		w.add(e, between, here, false, false)
	}
}

// access collects what a name means.
func (w *walker) access(f frame, e *ast.Access, rest value.Path, between wrap) {
	ref := f.body.Ref(e)
	path := append(pathOf(e.Steps), rest...)
	switch {
	case ref.Kind == check.RefEach && ref.Node != nil && ref.Node.Resource != nil:
		each := ref.Node.Resource.Decl.ForEach
		inner := append(slices.Clip(between), change.Cause{Kind: change.ByEach, At: w.x.at(each.Range())})
		if item := itemFor(each, f.step, ref.Node); item != nil && len(path) > 0 && path[0].Key == "value" {
			w.walk(f, item, path[1:], inner)
			return
		}
		w.walk(f, each, nil, inner)
	case ref.Kind != check.RefNode || ref.Node == nil:
	case ref.Node.Kind == check.VariableNode:
		v := ref.Node.Variable
		inner := append(slices.Clip(between), change.Cause{Kind: change.ByVariable, Name: ref.Node.Name,
			At: w.x.at(v.Name.Range)})
		w.walk(f, v.Value, path, inner)
	case ref.Node.Kind == check.ConfigNode:
		w.config(f, ref.Node, path, between)
	case ref.Node.Kind == check.ResourceNode:
		w.output(f, e, ref.Node, path, between)
	}
}

func pathOf(steps []ast.Step) value.Path {
	path := make(value.Path, 0, len(steps))
	for _, s := range steps {
		if s.IsIndex {
			path = append(path, value.IndexStep(s.Index))
		} else {
			path = append(path, value.KeyStep(s.Name))
		}
	}
	return path
}

// itemFor returns the item of a literal collection for an instance of forEach; nil if it is not literal.
func itemFor(each ast.Expr, s *engine.Step, n *check.Node) ast.Expr {
	key, found := strings.CutPrefix(s.URN.Name(), n.Resource.LogicalName+"-")
	m, literal := each.(*ast.Map)
	if !found || !literal {
		return nil
	}
	item, _ := entryOf(m, key)
	return item
}

// config collects a configuration value, or the input of a component.
func (w *walker) config(f frame, n *check.Node, path value.Path, between wrap) {
	decl := n.Config.Decl
	if f.body.InComponent {
		w.input(f, n, path, between)
		return
	}
	w.null = w.null || decl != nil && decl.Optional != nil && decl.Optional.Value
	cause := change.Cause{Kind: change.ByConfig, Name: n.Name}
	text, set := w.x.configText(n.Config.Key)
	switch {
	case !set || text.FromProject && decl != nil && text.Value.IsZero():
		cause.From = "default"
		if decl != nil {
			cause.At = w.x.at(decl.Name.Range)
			if decl.Default != nil {
				cause.At = w.x.at(decl.Default.Range())
			}
		}
	case text.Inherited:
		cause.From, cause.At = "environment", w.x.at(text.Value)
	default:
		cause.At = w.x.at(text.Value)
	}
	is, has := w.x.facts.Record[n.Config.Key]
	former := w.x.formerConfig()
	alike, recorded := 0, has
	for _, config := range former {
		was, had := config[n.Config.Key]
		recorded = recorded || had
		if had == has && sameJSON(was, is) {
			alike++
		}
	}
	if len(former) == 0 || !recorded { // or a default of the program, whose former text is not kept
		w.add(n, between, cause, false, false)
		return
	}
	w.add(n, between, cause, alike == 0, alike == len(former))
}

// configText returns the configuration value of a full key.
func (x *Explainer) configText(key string) (project.Text, bool) {
	for k, text := range x.facts.Config {
		if k.String() == key {
			return text, true
		}
	}
	return project.Text{}, false
}

// formerConfig returns the configurations of the operations before.
func (x *Explainer) formerConfig() []map[string]json.RawMessage {
	if !x.asked && x.facts.Former != nil {
		x.former = x.facts.Former()
	}
	x.asked = true
	return x.former
}

// sameJSON reports whether two records of a configuration value are equal. A scalar is the same as its text.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// input collects an input of a component: what the component's user sets it by, or its default.
func (w *walker) input(f frame, n *check.Node, path value.Path, between wrap) {
	decl := n.Config.Decl
	owner := w.owner(f)
	if owner.step == nil || owner.node == nil || decl == nil {
		return
	}
	inner := append(slices.Clip(between), change.Cause{Kind: change.ByInput,
		Name: n.Name + " of " + owner.node.Name, At: w.x.at(owner.node.Range)})
	e := owner.node.Resource.Decl.Property(decl.Name.Value)
	switch {
	case e != nil:
		w.walk(owner, e, path, inner)
	case decl.Default != nil:
		w.walk(f, decl.Default, path, inner)
	}
}

// owner returns the frame of the component in which a resource is declared; its node is nil if that is not known.
func (w *walker) owner(f frame) frame {
	about := f.step.About()
	if about == nil {
		return frame{}
	}
	u := about.Parent
	if f.node != nil && f.node.Resource.Component != nil && f.body == f.node.Resource.Component.Body {
		u = f.step.URN
	}
	s := w.t.Of(u)
	if s == nil {
		return frame{}
	}
	here, declared := w.x.siteOf(s.About())
	if !declared {
		return frame{}
	}
	return frame{site: here, step: s, deps: f.deps}
}

// output collects an output of another resource, or of a component, whose output is followed into its text.
func (w *walker) output(f frame, e *ast.Access, n *check.Node, path value.Path, between wrap) {
	var changed, known bool
	for _, u := range f.deps {
		s := w.t.Of(u)
		if s == nil {
			continue
		}
		here, declared := w.x.siteOf(s.About())
		if !declared || here.node != n {
			continue
		}
		known = true
		if !alters(s, path) {
			continue
		}
		changed = true
		kind, name := change.ByOutput, n.Name
		if s.URN.Name() != n.Resource.LogicalName && n.Resource.Decl.ForEach != nil {
			name = s.URN.Name()
		}
		if n.Resource.Token == schema.StackReferenceToken {
			kind = change.ByStack
		}
		c := w.x.upon(kind, name, s)
		if kind == change.ByStack {
			c.At = w.x.at(e.Range())
		}
		w.add(e, between, c, true, false)
	}
	if known {
		if !changed {
			w.add(e, between, change.Cause{Kind: change.ByOutput, Name: n.Name}, false, true)
		}
		return
	}
	if n.Resource.Component != nil && len(path) > 0 && !path[0].IsIndex && w.component(f, n, path, between) {
		return
	}
	w.add(e, between, change.Cause{Kind: change.ByOutput, Name: n.Name}, false, true)
}

// component follows an output of a component into its text.
func (w *walker) component(f frame, n *check.Node, path value.Path, between wrap) bool {
	body := n.Resource.Component.Body
	s := w.instanceOf(f, n)
	if s == nil {
		return false
	}
	for _, o := range body.Outputs {
		if o.Decl.Name.Value != path[0].Key {
			continue
		}
		inner := append(slices.Clip(between), change.Cause{Kind: change.ByOutput, Name: n.Name + "." + path[0].Key,
			Op: "is another one", At: w.x.at(o.Decl.Name.Range)})
		w.walk(frame{site: site{body, n}, step: s, deps: f.deps}, o.Decl.Value, path[1:], inner)
		return true
	}
	return false
}

// instanceOf returns the step of the component instance that a node declares, beside or around a resource.
func (w *walker) instanceOf(f frame, n *check.Node) *engine.Step {
	for _, u := range f.deps {
		for s := w.t.Of(u); s != nil && s.About() != nil; s = w.t.Of(s.About().Parent) {
			if here, ok := w.x.siteOf(s.About()); ok && here.node == n {
				return s
			}
			if s.About().Parent == "" {
				break
			}
		}
	}
	return w.t.Component(n.Resource.Token, n.Resource.LogicalName)
}

// alters reports whether a step gives an output another value.
func alters(s *engine.Step, path value.Path) bool {
	if s.Old == nil || s.New == nil || doneWords(s.Op) == "is replaced" {
		return s.Op != engine.OpSame
	}
	old, new := outputs(s.Old.Outputs, s.Old.ID, s.URN), outputs(s.New.Outputs, s.New.ID, s.URN)
	if len(path) == 0 {
		return false // a reference to the same resource
	}
	was, _ := path.Get(old)
	is, known := path.Get(new)
	if !known && s.Op == engine.OpUpdate && s.New.Outputs.Len() == 0 {
		return true // a provider that does not foretell the outputs of an update
	}
	return is.ContainsUnknown() || !value.SameContent(was, is)
}

func outputs(v value.Value, id string, u urn.URN) value.Value {
	v = v.MapOrEmpty()
	if _, has := v.Lookup("id"); !has {
		v = v.With("id", value.String(id))
	}
	return v.With("urn", value.String(string(u)))
}

// of returns the causes of the change of the value at a path in an expression, from before.
func (x *Explainer) of(t change.Steps, f frame, e ast.Expr, rest value.Path, before value.Value,
	p *change.Property) []change.Cause {
	w := walker{x: x, t: t}
	w.walk(f, e, rest, nil)
	sure, open := w.sure(), w.open()
	own := change.Cause{Kind: change.ByLiteral, At: x.at(e.Range()), Own: true}
	if p.Kind == change.Added && !w.null { // the text is new
		return append([]change.Cause{own}, causesOf(sure)...)
	}
	fits := func(more ...atom) bool {
		m := matcher{walker: &w, vary: map[any]bool{}}
		for _, a := range slices.Concat(sure, more) {
			m.vary[a.id] = true
		}
		return m.fits(f, e, rest, before)
	}
	if len(sure) > 0 && fits() {
		return causesOf(sure)
	}
	var single []atom
	for _, a := range open {
		if fits(a) {
			single = append(single, a)
		}
	}
	found := causesOf(sure)
	switch {
	case len(causesOf(single)) == 1:
		return append(found, causesOf(single)...)
	case len(single) > 1:
		return append(found, possibly(causesOf(single))...)
	case len(open) > 0 && fits(open...):
		return append(found, possibly(causesOf(open))...)
	}
	return append([]change.Cause{own}, found...)
}
