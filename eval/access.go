package eval

import (
	"context"
	"math"
	"strconv"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// found is the result of a property access, an index or a member expression.
type found struct {
	value   value.Value
	partial bool // it is inside of an output that a preview knows in part only
	ended   bool // an optional step has found nothing, which ends what follows too (L10.C19)
}

// find evaluates e, keeping the details that a further step needs if e is a property access, an index or a member
// expression.
func (s *scope) find(ctx context.Context, e ast.Expr) (found, *fault) {
	switch e.(type) {
	case *ast.Access, *ast.Index, *ast.Member:
		if f := s.e.step(e); f != nil {
			return found{}, f
		}
	}
	switch e := e.(type) {
	case *ast.Access:
		return s.access(ctx, e)
	case *ast.Index:
		return s.index(ctx, e)
	case *ast.Member:
		return s.member(ctx, e)
	}
	v, f := s.eval(ctx, e)
	return found{value: v}, f
}

// access evaluates a property access: a root name and the steps that follow it (L5.D, L5.E).
func (s *scope) access(ctx context.Context, a *ast.Access) (found, *fault) {
	var v value.Value
	ref := s.e.program.Ref(a)
	switch {
	case ref.Kind == check.RefPulumi:
		v = s.e.pulumi
	case ref.Kind == check.RefNode && ref.Node != nil:
		var f *fault
		if ref.Deferred {
			v, f = s.e.registeredEarly(ctx, s.frame, ref.Node)
			f = f.elsewhere()
		} else {
			v, f = s.node(ctx, ref.Node)
		}
		if f != nil {
			there := false
			if len(a.Steps) > 0 {
				v, there = s.frame.survivingInstance(ref.Node, stepKey(a.Steps[0]))
			}
			if !there {
				return found{}, f
			}
		}
	case ref.Kind == check.RefEach:
		v = s.each
	case ref.Kind == check.RefArgs:
		v = s.args
	case ref.Kind == check.RefPolicy:
		v = s.names[a.Root.Value]
	default:
		return found{}, poison // reported before
	}
	if v.IsNull() && len(a.Steps) > 0 && !a.Steps[0].Optional && ref.Node != nil && ref.Node.Resource != nil &&
		v.IsKnown() {
		field := "if"
		if ref.Node.Resource.Decl.If == nil {
			field = "forEach"
		}
		return found{}, blame(diag.AccessOnNull, a.Range(), "guard it: '${"+a.Root.Value+
			" == null ? … : …}', or use fn::try", "`%s` does not exist, its `%s` is false", a.Root.Value, field)
	}
	s.used.add(v)
	at := found{value: v, partial: ref.Kind == check.RefNode && s.frame.states[ref.Node.Index].partial}
	for i := range a.Steps {
		known, st := at.value.IsKnown(), &a.Steps[i]
		next, f := s.into(ctx, at, step{name: st.Name, index: float64(st.Index), isIndex: st.IsIndex,
			optional: st.Optional,
			rng:      st.Range}, path{access: a, steps: i})
		if f != nil || next.ended || !known {
			return next, f
		}
		at = next
		s.used.add(at.value)
	}
	return at, nil
}

// step is a step into a value: to a member by its name, or to an item of a list.
type step struct {
	name     string
	index    float64
	isIndex  bool
	optional bool
	rng      diag.Range
}

// into takes one step into a value. The members of an unknown value are unknown (L5.36). path names the value in
// messages.
func (s *scope) into(ctx context.Context, from found, st step, path path) (found, *fault) {
	v := from.value
	switch {
	case !v.IsKnown():
		s.used.doubt(v)
		return found{value: v.UnknownAs(value.KindAny), partial: from.partial}, nil
	case (st.optional || s.lenient && !s.strict) && st.absent(v, from.partial):
		return found{value: value.Null.WithMarksOf(v), partial: from.partial, ended: true}, nil
	case st.isIndex:
		v, f := item(v, st.index, from.partial, path, st.rng)
		return found{value: v, partial: from.partial}, f
	}
	member, f := s.named(ctx, v, st.name, from.partial, path, st.rng)
	return found{value: member, partial: from.partial || s.e.knownInPart(v, st.name)}, f
}

// absent reports whether an optional step finds nothing in a known value: the value is null, or a list or map without
// such an item (L10.C19). A value that is only partly known during a preview may still have the item, and is never
// reported as absent.
func (st *step) absent(v value.Value, partial bool) bool {
	switch {
	case partial:
		return false
	case v.IsNull():
		return true
	case st.isIndex:
		return v.Is(value.KindList) && st.index == math.Trunc(st.index) &&
			(st.index < 0 || st.index >= float64(v.Len()))
	}
	return v.Is(value.KindMap) && !v.Has(st.name)
}

// path names a value in messages: an access with some of its steps, or any expression. The text is built only when a
// message needs it.
type path struct {
	access *ast.Access
	steps  int
	text   diag.Range // of the expression, if there is no access
}

// String returns the path as programs write it.
func (p path) String() string {
	if p.access == nil {
		return p.text.Text()
	}
	text := p.access.Root.Value
	for _, step := range p.access.Steps[:p.steps] {
		if step.IsIndex {
			text += "[" + strconv.Itoa(step.Index) + "]"
		} else {
			text += "." + step.Name
		}
	}
	return text
}

func stepKey(step ast.Step) string {
	if step.IsIndex {
		return strconv.Itoa(step.Index)
	}
	return step.Name
}

// knownInPart reports whether the named member of a resource is an output that is only partly known during a preview.
// Anything missing inside such an output is unknown rather than null. Pulumi's engine does not send programs such an
// output (F1.20).
func (e *evaluator) knownInPart(v value.Value, name string) bool {
	ref, ok := v.AsResource()
	if !ok || !e.info.DryRun {
		return false
	}
	r := e.resources.get(ref.URN)
	if r == nil || r.known || r.local {
		return false
	}
	output, _ := r.outputs.Lookup(name)
	return output.IsKnown() && output.ContainsUnknown()
}

// named returns the named member of a known value (L5.E, L5.30), with the marks of the value. If partial is set, a
// missing member is unknown. path names the value in messages.
func (s *scope) named(ctx context.Context, v value.Value, name string, partial bool, path path,
	rng diag.Range) (value.Value, *fault) {
	if member, _ := v.Lookup(name); partial && member.IsNull() && (v.Is(value.KindMap) || v.IsNull()) {
		return value.Unknown(value.KindAny).WithMarksOf(v), nil
	}
	switch v.Kind() {
	case value.KindMap:
		if s.strict && !v.Has(name) {
			if v.IsSecret() {
				name = value.SecretText
			}
			return value.Null, blame(diag.NoMember, rng, "", "%s has no member %s", path, strconv.Quote(name))
		}
		return v.Get(name), nil // a missing key gives null (L5.33)
	case value.KindResource:
		ref, _ := v.AsResource()
		member, f := s.e.resourceMember(ctx, ref, name, rng)
		if f != nil {
			return value.Null, f
		}
		return member.WithMarksOf(s.e.resources.withoutItself(v, ref.URN)), nil
	case value.KindNull:
		return value.Null, blame(diag.AccessOnNull, rng, path.String()+" is not set; make sure that it has a value, or use fn::try",
			"%s of null", strconv.Quote(name))
	case value.KindList:
		return value.Null, blame(diag.NotIndexable, rng, "take an item first, such as "+path.String()+"[0]", "a list has no member %q",
			name)
	}
	return value.Null, blame(diag.NotIndexable, rng, "", "%s has no members", kindOf(v))
}

// item returns an item of a known list, with the marks of the list (L5.34).
func item(v value.Value, index float64, partial bool, path path, rng diag.Range) (value.Value, *fault) {
	if partial && (v.IsNull() || v.Is(value.KindList) && index >= float64(v.Len())) {
		return value.Unknown(value.KindAny).WithMarksOf(v), nil
	}
	switch v.Kind() {
	case value.KindList:
		if index != math.Trunc(index) {
			return value.Null, blame(diag.IndexOutOfRange, rng, "", "index %s is not a whole number", value.FormatNumber(index))
		}
		if index >= 0 && index < float64(v.Len()) {
			item, _ := v.Index(int(index))
			return item, nil
		}
		if v.IsSecret() {
			return value.Null, blame(diag.IndexOutOfRange, rng, "", "index %s is outside of the list", value.FormatNumber(index))
		}
		return value.Null, blame(diag.IndexOutOfRange, rng, "", "index %s, list has %s", value.FormatNumber(index),
			diag.Count(v.Len(), "element"))
	case value.KindNull:
		return value.Null, blame(diag.AccessOnNull, rng, path.String()+" is not set; make sure that it has a value, or use fn::try",
			"item %s of null", value.FormatNumber(index))
	case value.KindMap, value.KindResource:
		return value.Null, blame(diag.NotIndexable, rng, `write the name of a member, such as .name or ["name"]`,
			"%s has no items by number", kindOf(v))
	}
	return value.Null, blame(diag.NotIndexable, rng, "", "%s has no items", kindOf(v))
}

// index evaluates collection[key] with a computed key.
func (s *scope) index(ctx context.Context, e *ast.Index) (found, *fault) {
	from, f := s.find(ctx, e.Collection)
	if from.ended && f == nil {
		return from, nil
	}
	key, g := s.eval(ctx, e.Key)
	if f != nil && g == nil {
		if instances, there := s.survivingItem(e.Collection, key); there {
			from.value, f = instances, nil
		}
	}
	if f = f.and(g); f != nil {
		return found{}, f
	}
	collection := from.value
	if !collection.IsKnown() || !key.IsKnown() {
		s.used.doubt(collection, key)
		return found{value: value.Unknown(value.KindAny).WithMarksOf(collection, key), partial: from.partial}, nil
	}
	name, isText := key.AsString()
	n, isNumber := key.AsNumber()
	if !isText && !isNumber {
		return found{}, blame(diag.NotIndexable, e.Key.Range(), "", "an index must be a number or a string, not %s",
			kindOf(key))
	}
	if key.IsSecret() && (collection.IsNull() || collection.Is(value.KindList)) {
		name = value.SecretText
	}
	res, f := s.into(ctx, from, step{name: name, index: n, isIndex: isNumber, optional: e.Optional, rng: e.Key.Range()},
		path{text: e.Collection.Range()})
	if f != nil && isNumber && key.IsSecret() {
		f = blame(diag.IndexOutOfRange, e.Key.Range(), "", "the index is outside of the list")
	}
	res.value = res.value.WithMarksOf(key)
	return res, f
}

// member evaluates object.name where object is not a plain access.
func (s *scope) member(ctx context.Context, e *ast.Member) (found, *fault) {
	from, f := s.find(ctx, e.Object)
	if f != nil || from.ended {
		return from, f
	}
	to := step{name: e.Name.Value, optional: e.Optional, rng: e.Name.Range}
	return s.into(ctx, from, to, path{text: e.Object.Range()})
}
