package causes

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Why a step is made, beside the properties that it changes: why a resource begins or ends to exist, is replaced, has
// another provider, or stays as it is.

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
		// it is declared, so that its condition does not hold any more
		if len(by) == 0 && own.Kind == change.ByRemoved {
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
		!(value.SameContent(old.ReplacementTrigger, goal.ReplacementTrigger) &&
			!goal.ReplacementTrigger.ContainsUnknown()) {
		cause := change.Cause{Kind: change.ByTrigger, At: placeOf(goal.SourcePosition)}
		if declared && here.node.Resource.Decl.Options.ReplacementTrigger != nil {
			e := here.node.Resource.Decl.Options.ReplacementTrigger.Value
			cause.At = x.at(e.Range())
			f := frame{site: here, step: s, deps: goal.Dependencies}
			trigger := change.Property{Kind: change.Updated, Before: old.ReplacementTrigger,
				After: goal.ReplacementTrigger}
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
		if v, ok := strings.CutPrefix(now.URN.Name(), "default_"); ok {
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
