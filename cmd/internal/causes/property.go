package causes

import (
	"cmp"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// Why a property of a resource has changed. The questions are asked from the outermost cause to the innermost: a
// refresh, a policy and a transform have the last word about a value, whatever the program's text says.

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
				cause.By = x.of(t, frame{site: site{x.facts.Program, here.node}, step: s, deps: f.deps}, inner, left,
					before, p)
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
		return []change.Cause{{Kind: change.ByLiteral, At: cmp.Or(place, x.at(here.node.Range)), Own: true}}, place
	}
	if hasDefault(here.node.Resource, path) {
		return []change.Cause{{Kind: change.ByDefault, Name: here.node.Resource.Token}}, place
	}
	return []change.Cause{{Kind: change.ByProvider}}, place
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
	if r.PropertyDependencies.Given() {
		urns, _ := r.PropertyDependencies.Get(key)
		return urns
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
