package causes

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Facts are what an Explainer knows beside the steps.
type Facts struct {
	Program *check.Program
	// Root is the folder of the project, and Path returns the absolute path of a source.
	Root string
	Path func(source string) string
	// Config is the configuration of this operation, and Record the form of it that the history keeps.
	Config map[project.Key]project.Text
	Record map[string]json.RawMessage
	// Former returns the configurations of the operations before, in the form of the history, back to the last one that
	// has applied the whole program; nil if that is not known. It is called at most once, and only if a change depends on
	// configuration.
	Former func() []map[string]json.RawMessage
	// Destroys reports whether the operation deletes everything in its scope, whatever the program has.
	Destroys bool
}

// Explainer finds the causes of the changes of one program.
type Explainer struct {
	facts  Facts
	sites  map[string]site // by source position; nil until it is needed
	files  map[*diag.Source]string
	former []map[string]json.RawMessage
	asked  bool // whether former has been asked for
}

var _ change.Explainer = (*Explainer)(nil)

// New returns an Explainer.
func New(f Facts) *Explainer { return &Explainer{facts: f, files: map[*diag.Source]string{}} }

// site is the declaration of a resource.
type site struct {
	body *check.Program
	node *check.Node
}

// frame is where an expression is evaluated: in a body, for a resource, whose step leads to what it depends on.
type frame struct {
	site
	step *engine.Step
	deps []urn.URN // what the expression's value depends on
}

// siteOf returns the declaration of a resource; ok is false for one that the program does not declare.
func (x *Explainer) siteOf(r *state.Resource) (site, bool) {
	if r == nil || r.SourcePosition == "" || x.facts.Program == nil {
		return site{}, false
	}
	if x.sites == nil {
		x.sites = map[string]site{}
		x.add(x.facts.Program)
	}
	found, ok := x.sites[r.SourcePosition]
	return found, ok
}

func (x *Explainer) add(body *check.Program) {
	for _, n := range body.Nodes {
		if n.Kind == check.ResourceNode {
			x.sites[x.position(n.Resource.Decl.Name.Range)] = site{body, n}
		}
	}
	for _, c := range body.Components {
		if c.Body != nil && c.Body != body {
			x.add(c.Body)
		}
	}
}

// position returns a range's start as states record it.
func (x *Explainer) position(r diag.Range) string {
	if r.IsZero() {
		return ""
	}
	start := r.StartPosition()
	return "project:///" + x.file(r.Source) + "#" + strconv.Itoa(start.Line) + "," + strconv.Itoa(start.Column)
}

func (x *Explainer) file(src *diag.Source) string {
	name, known := x.files[src]
	if !known {
		rel, err := filepath.Rel(x.facts.Root, x.facts.Path(src.Name()))
		if err != nil {
			rel = src.Name()
		}
		name = filepath.ToSlash(rel)
		x.files[src] = name
	}
	return name
}

// at returns the place of a range.
func (x *Explainer) at(r diag.Range) change.Place {
	if r.IsZero() {
		return change.Place{}
	}
	return change.Place{File: x.file(r.Source), Line: r.StartPosition().Line}
}

// placeOf returns the place of a source position of the state.
func placeOf(position string) change.Place {
	text, _ := strings.CutPrefix(position, "project:///")
	file, rest, found := strings.Cut(text, "#")
	if !found {
		return change.Place{}
	}
	line, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.Atoi(line)
	return change.Place{File: file, Line: n}
}

// Property returns the causes of one changed property.
func (x *Explainer) Property(t change.Steps, s *engine.Step, p *change.Property) ([]change.Cause, change.Place) {
	path, err := value.ParsePath(p.Path)
	if err != nil || len(path) == 0 || s.Old == nil {
		return nil, change.Place{}
	}
	if s.Op == engine.OpRefresh {
		if p.Computed {
			return []change.Cause{{Kind: change.ByProvider, Name: "only computed"}}, change.Place{}
		}
		return []change.Cause{{Kind: change.ByDrift}}, change.Place{}
	}
	here, declared := x.siteOf(s.New)
	e, rest, missing := ast.Expr(nil), value.Path(nil), true
	place := change.Place{}
	if declared {
		e, rest, missing = expressionAt(here.node.Resource.Decl, path)
		if e != nil {
			place = x.at(e.Range())
		}
	}
	before := p.Before
	if read := t.Refreshed(s.URN); read != nil && read.Old != nil && read.New != nil {
		recorded, _ := path.Get(read.Old.Inputs)
		if found, _ := path.Get(read.New.Inputs); !value.SameContent(recorded, found) {
			if value.SameContent(recorded, p.After) {
				return []change.Cause{{Kind: change.ByDrift}}, place
			}
			before = recorded
		}
	}
	for _, note := range t.Remedies(s.URN) {
		was, _ := path.Get(note.Before)
		if is, _ := path.Get(note.After); !value.SameContent(was, is) {
			return []change.Cause{{Kind: change.ByPolicy, Name: note.Policy}}, place
		}
	}
	f := frame{site: here, step: s, deps: dependenciesOf(s.New, path[0].Key)}
	if p.Transform != "" {
		cause := change.Cause{Kind: change.ByTransform, At: placeOf(p.Transform)}
		if merge := x.transformAt(p.Transform); merge != nil && declared {
			inner, left, absent := deepest(merge, path)
			if !absent {
				cause.By = x.of(t, frame{site: site{x.facts.Program, here.node}, step: s, deps: f.deps}, inner, left, before, p)
			}
		}
		return []change.Cause{cause}, place
	}
	switch {
	case !declared:
		return nil, place
	case !missing:
		return x.of(t, f, e, rest, before, p), place
	case p.Kind == change.Removed:
		return []change.Cause{{Kind: change.ByLiteral, At: cmpPlace(place, x.at(here.node.Range)), Own: true}}, place
	}
	if hasDefault(here.node.Resource, path) {
		return []change.Cause{{Kind: change.ByDefault, Name: here.node.Resource.Token}}, place
	}
	return []change.Cause{{Kind: change.ByProvider}}, place
}

func cmpPlace(a, b change.Place) change.Place {
	if a == (change.Place{}) {
		return b
	}
	return a
}

// hasDefault reports whether the schema has a default for a property.
func hasDefault(r *check.Resource, path value.Path) bool {
	object := r.Inputs()
	for i, s := range path {
		if object == nil || s.IsIndex {
			return false
		}
		p := object.Property(s.Key)
		if p == nil {
			return false
		}
		if i == len(path)-1 {
			return p.Default != nil
		}
		object, _ = schema.Required(p.Type).(*schema.Object)
	}
	return false
}

// dependenciesOf returns the resources that an input depends on.
func dependenciesOf(r *state.Resource, key string) []urn.URN {
	if r.PropertyDependencies != nil {
		return r.PropertyDependencies[key]
	}
	return r.Dependencies
}

// expressionAt returns the expression that a resource sets an input by, or the deepest one around it with the rest of
// the path. missing reports whether the program's text shows that it does not set the input.
func expressionAt(r *ast.Resource, path value.Path) (e ast.Expr, rest value.Path, missing bool) {
	if r.PropertiesExpr != nil {
		return deepest(r.PropertiesExpr, path)
	}
	if e = r.Property(path[0].Key); e == nil {
		return nil, nil, true
	}
	return deepest(e, path[1:])
}

// deepest follows a path through literal maps and lists.
func deepest(e ast.Expr, path value.Path) (_ ast.Expr, rest value.Path, missing bool) {
	for len(path) > 0 {
		switch here := e.(type) {
		case *ast.Map:
			if path[0].IsIndex {
				return e, path, true
			}
			next, computed := entryOf(here, path[0].Key)
			if next == nil {
				return e, path, !computed
			}
			e = next
		case *ast.List:
			i := path[0].Index
			if !path[0].IsIndex || i < 0 || i >= len(here.Items) {
				return e, path, true
			}
			e = here.Items[i]
		case *ast.Null, *ast.Bool, *ast.Number, *ast.String:
			return e, path, true
		default:
			return e, path, false
		}
		path = path[1:]
	}
	return e, nil, false
}

// entryOf returns the value at a key of a map; computed reports whether some keys are not literal.
func entryOf(m *ast.Map, key string) (_ ast.Expr, computed bool) {
	for _, entry := range m.Entries {
		switch k := entry.Key.(type) {
		case *ast.String:
			if k.Value == key {
				return entry.Value, false
			}
		default:
			computed = true
		}
	}
	return nil, computed
}

// transformAt returns what the transform at a source position merges; nil if the program has none there.
func (x *Explainer) transformAt(position string) ast.Expr {
	for _, t := range x.facts.Program.Transforms {
		if x.position(t.Decl.Key) == position {
			return t.Decl.Merge
		}
	}
	for _, n := range x.facts.Program.Nodes {
		if n.Resource == nil {
			continue
		}
		for _, t := range n.Resource.Decl.Options.Transforms {
			if x.position(t.Key) == position {
				return t.Merge
			}
		}
	}
	return nil
}

// Place returns the place of a resource in the program.
func (x *Explainer) Place(s *engine.Step) change.Place {
	if s.New == nil {
		return change.Place{}
	}
	if _, recorded := s.Place(); recorded { // other text may stand there now
		if here, declared := x.siteOf(s.New); !declared || !names(here.node.Resource, s.New.URN) {
			return change.Place{}
		}
	}
	return placeOf(s.New.SourcePosition)
}

// names reports whether a declaration makes a resource of that name, by itself or in a component.
func names(declared *check.Resource, u urn.URN) bool {
	name, own := "-"+u.Name(), "-"+declared.LogicalName
	return declared.Token == u.Type() && (strings.HasSuffix(name, own) ||
		declared.Decl.ForEach != nil && strings.Contains(name, own+"-"))
}

// Step returns the causes of a step that are not those of its properties.
func (x *Explainer) Step(t change.Steps, s *engine.Step, set change.Set) []change.Cause {
	switch s.Op {
	case engine.OpCreate, engine.OpImport, engine.OpRead:
		if s.Old == nil {
			return x.creation(t, s)
		}
	case engine.OpDelete, engine.OpDiscard:
		return x.deletion(t, s)
	case engine.OpRefresh:
		if s.New == nil {
			return []change.Cause{{Kind: change.ByDrift, Name: "its object was gone"}}
		}
	case engine.OpUpdate, engine.OpReplace, engine.OpCreateReplacement, engine.OpReadReplacement,
		engine.OpImportReplacement:
		if s.Old != nil && s.New != nil {
			return x.modification(t, s, set)
		}
	}
	return nil
}

// creation returns why a resource is created: it is new in the program, its object was gone, or its `if` or forEach
// holds now.
func (x *Explainer) creation(t change.Steps, s *engine.Step) []change.Cause {
	if read := t.Refreshed(s.URN); read != nil && read.New == nil {
		return []change.Cause{{Kind: change.ByDrift, Name: "its object was gone"}}
	}
	if s.New == nil {
		return nil
	}
	here, declared := x.siteOf(s.New)
	own := change.Cause{Kind: change.ByNew, At: placeOf(s.New.SourcePosition)}
	if !declared {
		up := s.New.Parent
		if owner := t.Of(up); owner != nil && owner.Op != engine.OpSame && up.Type() != urn.RootStackType {
			return []change.Cause{x.upon(change.ByOutput, up.Name(), owner)}
		}
		return []change.Cause{own}
	}
	return x.existence(t, here, s, s.New, own)
}

// deletion returns why a resource is deleted.
func (x *Explainer) deletion(t change.Steps, s *engine.Step) []change.Cause {
	if s.Old == nil || s.Reason != "" { // the reason names another resource
		return nil
	}
	if x.facts.Destroys {
		return []change.Cause{{Kind: change.ByDestroy}}
	}
	own := change.Cause{Kind: change.ByRemoved, Name: s.URN.Name()}
	for _, n := range x.nodes() {
		name := n.Resource.LogicalName
		if n.Resource.Token == s.Old.Type && (name == s.URN.Name() || n.Resource.Decl.ForEach != nil &&
			strings.HasPrefix(s.URN.Name(), name+"-")) {
			return x.existence(t, site{x.facts.Program, n}, s, s.Old, own)
		}
	}
	return []change.Cause{own}
}

func (x *Explainer) nodes() (list []*check.Node) {
	if x.facts.Program == nil {
		return nil
	}
	for _, n := range x.facts.Program.Nodes {
		if n.Kind == check.ResourceNode {
			list = append(list, n)
		}
	}
	return list
}

// existence returns why a resource exists, or does not exist any more: by its `if`, its forEach, or its text.
func (x *Explainer) existence(t change.Steps, here site, s *engine.Step, r *state.Resource,
	own change.Cause) []change.Cause {
	decl := here.node.Resource.Decl
	f := frame{site: here, step: s, deps: r.Dependencies}
	var found []change.Cause
	for _, e := range []struct {
		kind change.CauseKind
		name string
		expr ast.Expr
	}{{change.ByOption, "if", decl.If}, {change.ByEach, "", decl.ForEach}} {
		if e.expr == nil {
			continue
		}
		w := walker{x: x, t: t}
		w.walk(f, e.expr, nil, nil)
		by := causesOf(slices.Clone(w.sure()))
		if len(by) == 0 && own.Kind == change.ByRemoved { // it is declared, so that its condition does not hold any more
			by = possibly(causesOf(w.open()))
		} else if len(by) == 0 && e.kind == change.ByEach {
			by = possibly(causesOf(w.open()))
		}
		if len(by) > 0 {
			found = append(found, change.Cause{Kind: e.kind, Name: e.name, At: x.at(e.expr.Range()), By: by})
		}
	}
	if len(found) == 0 || slices.ContainsFunc(found, func(c change.Cause) bool { return c.By[0].Possible }) &&
		own.Kind == change.ByNew {
		own.Possible = len(found) > 0
		found = append(found, own)
	}
	return found
}

// possibly marks causes as possible, with what is behind them. It returns copies, since atoms share them.
func possibly(list []change.Cause) []change.Cause {
	list = slices.Clone(list)
	for i := range list {
		list[i].Possible, list[i].By = true, possibly(list[i].By)
	}
	return list
}

// upon returns the cause that is the change of another resource.
func (x *Explainer) upon(kind change.CauseKind, name string, s *engine.Step) change.Cause {
	return change.Cause{Kind: kind, Name: name, URN: s.URN, Op: doneWords(s.Op)}
}

// doneWords returns the word for what a step does to a resource.
func doneWords(op engine.Op) string {
	switch op {
	case engine.OpCreate:
		return "is created"
	case engine.OpReplace, engine.OpCreateReplacement, engine.OpReadReplacement, engine.OpImportReplacement,
		engine.OpDeleteReplaced:
		return "is replaced"
	case engine.OpDelete, engine.OpDiscard:
		return "is deleted"
	case engine.OpRead:
		return "has other outputs"
	case engine.OpRefresh:
		return "has drifted"
	case engine.OpImport:
		return "is imported"
	}
	return "is updated"
}

// modification returns the causes of an update or replacement beside its properties.
func (x *Explainer) modification(t change.Steps, s *engine.Step, set change.Set) []change.Cause {
	var found []change.Cause
	old, goal := s.Old, s.New
	here, declared := x.siteOf(goal)
	replaces := s.Op != engine.OpUpdate
	if replaces && !old.ReplacementTrigger.IsNull() && !goal.ReplacementTrigger.IsNull() &&
		!(value.SameContent(old.ReplacementTrigger, goal.ReplacementTrigger) && !goal.ReplacementTrigger.ContainsUnknown()) {
		cause := change.Cause{Kind: change.ByTrigger, At: placeOf(goal.SourcePosition)}
		if declared && here.node.Resource.Decl.Options.ReplacementTrigger != nil {
			e := here.node.Resource.Decl.Options.ReplacementTrigger.Value
			cause.At = x.at(e.Range())
			f := frame{site: here, step: s, deps: goal.Dependencies}
			trigger := change.Property{Kind: change.Updated, Before: old.ReplacementTrigger, After: goal.ReplacementTrigger}
			cause.By = x.of(t, f, e, nil, old.ReplacementTrigger, &trigger)
		}
		return append(found, cause)
	}
	if replaces {
		with := slices.Clone(goal.ReplaceWith)
		if goal.DeletedWith != "" {
			with = append(with, goal.DeletedWith)
		}
		for _, u := range with {
			if other := t.Of(u); other != nil && doneWords(other.Op) == "is replaced" &&
				(slices.Contains(s.Keys, "replaceWith") || slices.Contains(s.Keys, "deletedWith")) {
				found = append(found, x.upon(change.ByWith, u.Name(), other))
			}
		}
		switch {
		case len(found) > 0:
		case old.Taint:
			found = append(found, change.Cause{Kind: change.ByTaint})
		case len(s.Keys) == 1 && s.Keys[0] == "id" && len(s.Detailed) == 0:
			found = append(found, change.Cause{Kind: change.ByRequest})
		case old.PendingReplacement && len(s.Keys) == 0:
			found = append(found, change.Cause{Kind: change.ByPending})
		}
		for _, path := range goal.ReplaceOnChanges {
			if slices.ContainsFunc(set, func(p change.Property) bool { return p.Replaces && contains(path, p.Path) }) {
				cause := change.Cause{Kind: change.ByOption, Name: "replaceOnChanges"}
				if declared && here.node.Resource.Decl.Options.ReplaceOnChanges != nil {
					cause.At = x.at(here.node.Resource.Decl.Options.ReplaceOnChanges.Key.Range)
				}
				found = append(found, cause)
				break
			}
		}
	}
	if len(old.InitErrors) > 0 && len(set) == 0 {
		found = append(found, change.Cause{Kind: change.ByInit})
	}
	if old.Provider != goal.Provider && old.Provider != "" && goal.Provider != "" {
		if cause, ok := x.otherProvider(t, old.Provider, goal.Provider); ok {
			found = append(found, cause)
		}
	}
	if len(found) == 0 && len(set) == 0 {
		found = append(found, change.Cause{Kind: change.ByProvider, Name: "the provider's own diff"})
	}
	return found
}

// otherProvider describes that a resource has another provider, or one of another version.
func (x *Explainer) otherProvider(t change.Steps, before, after string) (change.Cause, bool) {
	old, err := urn.ParseReference(before)
	now, otherErr := urn.ParseReference(after)
	if err != nil || otherErr != nil {
		return change.Cause{}, false
	}
	if other := t.Of(now.URN); other != nil && old.URN == now.URN {
		return x.upon(change.ByWith, "provider "+now.URN.Name(), other), true
	}
	text := "provider " + now.URN.Name() + " instead of " + old.URN.Name()
	if old.URN.IsDefaultProvider() && now.URN.IsDefaultProvider() {
		text = "another version of the provider"
		if v := strings.TrimPrefix(now.URN.Name(), "default_"); v != now.URN.Name() {
			text = "version " + strings.ReplaceAll(v, "_", ".") + " of the provider"
		}
	}
	return change.Cause{Kind: change.ByProvider, Name: text}, true
}

func contains(text, path string) bool {
	p, err := value.ParsePath(text)
	q, otherErr := value.ParsePath(path)
	return err == nil && otherErr == nil && (p.Contains(q) || q.Contains(p))
}

// Kept returns what keeps a resource as it is, in sentences.
func (x *Explainer) Kept(t change.Steps, s *engine.Step) []string {
	switch {
	case s.Left != "":
		return []string{"it is " + string(s.Left) + ", so that its state is kept"}
	case s.Verbatim:
		return []string{"it is not among the targets of this operation, so that its state is kept"}
	case s.Old == nil || s.New == nil:
		return nil
	case s.Op == engine.OpRefresh:
		return []string{"it exists as the state has it"}
	}
	var said []string
	if set := t.Set(s); len(set) > 0 {
		paths, _ := set.Paths()
		said = append(said, "the provider's own diff says that nothing has to be done about "+strings.Join(paths, ", "))
	}
	here, declared := x.siteOf(s.New)
	for _, text := range s.New.IgnoreChanges {
		path, err := value.ParsePath(text)
		if err != nil || len(path) == 0 || !declared {
			continue
		}
		e, rest, missing := expressionAt(here.node.Resource.Decl, path)
		recorded, _ := path.Get(s.Old.Inputs)
		if missing || e == nil {
			continue
		}
		w := walker{x: x, t: t}
		f := frame{site: here, step: s, deps: dependenciesOf(s.New, path[0].Key)}
		w.walk(f, e, rest, nil)
		m := matcher{walker: &w, vary: map[any]bool{}}
		if !m.fits(f, e, rest, recorded) || len(w.sure()) > 0 {
			said = append(said, "ignoreChanges keeps "+text+", although the program says something else ("+
				x.at(e.Range()).String()+")")
		}
	}
	if len(said) == 0 {
		said = append(said, "its inputs are those of the last operation, and the provider sees no difference")
	}
	return said
}
