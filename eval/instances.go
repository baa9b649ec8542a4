package eval

import (
	"context"
	"math"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Resources with forEach and if, extensions of yamlhost (decision D6, L10.C3).

// maxInstances bounds the instances of one forEach, so that a mistyped number ends in an error.
const maxInstances = 100_000

// instance is a resource of the program that is registered or read: the only one of its declaration, or one of the
// instances of forEach.
type instance struct {
	scope
	node     *check.Node
	resource *check.Resource
	suffix   string    // of its name, where forEach makes it
	deps     []urn.URN // of the collection
}

// all returns the value of a resource of the program: a reference to it, null if its `if` is false, or with forEach a
// list or map of these.
func (s *instance) all(ctx context.Context) (value.Value, *fault) {
	if s.resource.Decl.ForEach != nil {
		return s.instances(ctx)
	}
	return s.one(ctx)
}

// one registers one resource, unless its `if` is false.
func (s *instance) one(ctx context.Context) (value.Value, *fault) {
	if condition := s.resource.Decl.If; condition != nil {
		wanted, f := s.conditionHolds(ctx, condition)
		if f == nil {
			s.e.options.covers(condition, wanted)
		}
		if f != nil || !wanted {
			return value.Null, f
		}
	}
	v, f := s.register(ctx)
	if f != nil && f.later {
		s.e.notes.notef(s.node.Range, "it is created by a resource whose own instances are not known yet",
			"`%s` is not shown here", s.name())
		return value.Unknown(value.KindResource), nil
	}
	return v, f
}

// conditionHolds evaluates the condition of `if`. It decides whether a resource exists, so it must be known and public.
func (s *instance) conditionHolds(ctx context.Context, condition ast.Expr) (bool, *fault) {
	v, f := s.eval(ctx, condition)
	if f != nil {
		return false, f
	}
	yes, ok := v.AsBool()
	switch {
	case !v.IsKnown():
		return false, blame(diag.NotKnownInTime, condition.Range(),
			"use values that do not come from resources to be created",
			"`if` must be known before anything is created")
	case v.IsSecret():
		return false, blame(diag.NotAssignable, condition.Range(),
			"everybody can see which resources exist; use fn::unsecret if that is acceptable",
			"`if` must not be secret")
	case !ok:
		return false, blame(diag.NotAssignable, condition.Range(), "", "`if` must be a boolean, not %s", kindOf(v))
	}
	return yes, nil
}

// instances registers the instances of a resource with forEach. They are unknown while the collection is.
func (s *instance) instances(ctx context.Context) (value.Value, *fault) {
	n, from := s.node, s.resource.Decl.ForEach
	collection, f := s.eval(ctx, from)
	switch {
	case f != nil:
		return value.Null, f
	case !collection.IsKnown():
		s.e.notes.notef(n.Range, "its `forEach` is not known until something else is created",
			"the instances of `%s` are not shown here", s.name())
		return collection.UnknownAs(schema.ExpectedKind(n.Type)), nil
	case collection.IsSecret():
		return value.Null, blame(diag.NotAssignable, from.Range(),
			"everybody can see the names and the number of resources; use fn::unsecret if that is acceptable",
			"`forEach` must not be secret")
	}
	inst := *s
	inst.deps = append(s.deps[:len(s.deps):len(s.deps)], collection.Deps()...)
	one := func(suffix string, key, item value.Value) (value.Value, *fault) {
		inner := inst
		inner.suffix = suffix
		inner.each = value.MapOf(value.Entry{Key: "key", Value: key.WithMarksOf(collection)},
			value.Entry{Key: "value", Value: item.WithMarksOf(collection)})
		return inner.one(ctx)
	}
	if wanted, isBool := collection.AsBool(); isBool {
		if !wanted {
			return value.Null.WithMarksOf(collection), nil
		}
		return one("", value.Null, collection)
	}
	amount, numbered := collection.AsNumber()
	switch {
	case numbered:
	case collection.Is(value.KindList), collection.Is(value.KindMap):
		amount = float64(collection.Len())
	default:
		return value.Null, blame(diag.NotAssignable, from.Range(), "",
			"`forEach` must be a number, a list, a map or a boolean, not %s", kindOf(collection))
	}
	if amount < 0 || amount != math.Trunc(amount) || amount > maxInstances {
		return value.Null, blame(diag.NotAssignable, from.Range(), "", "`forEach` makes from 0 to %d instances, not %s",
			maxInstances, value.FormatNumber(amount))
	}
	count := int(amount)
	made := make([]value.Value, count)
	faults := make([]*fault, count)
	inParallel(count, s.e.workers, func(i int) {
		defer s.e.options.guard()
		name := instanceKey(collection, i)
		key, item := value.Int(i), value.Int(i)
		if collection.Is(value.KindMap) {
			key = value.String(name)
		}
		if !numbered {
			item = collection.At(i)
		}
		made[i], faults[i] = one("-"+name, key, item)
	})
	var failed *fault
	broken := make(map[string]bool)
	for i, f := range faults {
		if failed = failed.and(f); f != nil {
			broken[instanceKey(collection, i)] = true
		}
	}
	if failed != nil {
		whole := *failed
		whole.instances = broken
		failed = &whole
	}
	if !collection.Is(value.KindMap) {
		// An instance without a resource is null, so that the others keep their indexes.
		return value.List(made...).WithMarksOf(collection), failed
	}
	entries := make([]value.Entry, 0, count)
	for i, key := range collection.Keys() {
		if !made[i].IsNull() {
			entries = append(entries, value.Entry{Key: key, Value: made[i]})
		}
	}
	return value.MapOf(entries...).WithMarksOf(collection), failed
}

func instanceKey(collection value.Value, i int) string {
	if collection.Is(value.KindMap) {
		return collection.Keys()[i]
	}
	return strconv.Itoa(i)
}

// survivingInstance returns the value of a resource with forEach if the instance with the key exists although others
// failed: nodes that need only that instance go on.
func (f *frame) survivingInstance(n *check.Node, key string) (value.Value, bool) {
	if n == nil {
		return value.Null, false
	}
	state := &f.states[n.Index]
	if state.fault == nil || state.fault.instances == nil || state.fault.instances[key] {
		return value.Null, false
	}
	return state.value, true
}

// survivingItem is survivingInstance for collection[key], where collection has failed.
func (s *scope) survivingItem(collection ast.Expr, key value.Value) (value.Value, bool) {
	ref := s.e.program.RefTo(collection)
	text, isText := key.AsString()
	if number, isNumber := key.AsNumber(); isNumber {
		text, isText = value.FormatNumber(number), true
	}
	if !isText || ref.Kind != check.RefNode {
		return value.Null, false
	}
	return s.frame.survivingInstance(ref.Node, text)
}

// inParallel calls fn for 0 to n-1, in order, at most workers at a time, and returns when all calls have returned.
func inParallel(n, workers int, fn func(i int)) {
	var group errgroup.Group
	group.SetLimit(max(workers, 1))
	for i := range n {
		group.Go(func() error { fn(i); return nil })
	}
	_ = group.Wait()
}

// name returns the resource's name in its URN: with the names of the components around it (L3.52), and the key of the
// instance.
func (s *instance) name() string { return s.frame.prefix + s.resource.LogicalName + s.suffix }

// urnBelow returns the URN that the engine will give the resource below a parent.
func (s *instance) urnBelow(parent urn.URN) urn.URN {
	return urn.New(s.e.info.Stack, s.e.info.Project, parent, s.resource.Token, s.name())
}

// postponed reports whether an option names a resource for which a preview does not know yet whether it will exist,
// or how many instances it will have.
func (e *evaluator) postponed(f *frame, option ast.Expr, v value.Value) bool {
	if v.IsKnown() || !e.info.DryRun {
		return false
	}
	_, isResource := schema.Required(f.body.TypeOf(option)).(*schema.ResourceType)
	return isResource
}
