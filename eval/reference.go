package eval

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// unknownID stands for an unknown ID in a provider reference (F1.30).
const unknownID = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// resource holds the readable parts of a resource. It is immutable.
type resource struct {
	urn       urn.URN
	id        value.Value // null for a component
	outputs   value.Value // a map
	known     bool        // outputs absent from the map are null, not unknown
	provider  string      // a reference to the one that its options name; empty for a component
	component bool
	local     bool                     // a component whose body has been evaluated here
	members   []urn.URN                // of a local one
	secrets   []string                 // outputs that are secret even while they are absent (L9.32)
	deps      map[string][]urn.URN     // what else outputs of a remote component depend on
	types     func(string) schema.Type // returns nil for an output that is not declared; nil without a schema
	pending   *pending                 // of a local one whose inputs follow, until it is complete
}

// reference returns the value of the resource itself (L3.19).
func (r *resource) reference(version string) value.Value {
	return value.Resource(&value.ResourceRef{URN: r.urn, ID: r.id, PackageVersion: version}).DependingOn(r.urn)
}

// output returns an output; null or unknown if the resource does not have it (L9.12, L9.32).
func (r *resource) output(name string) value.Value {
	v, ok := r.outputs.Lookup(name)
	if !ok && !r.known {
		kind := value.KindAny
		if r.types != nil && r.types(name) != nil {
			kind = schema.ExpectedKind(r.types(name))
		}
		v = value.Unknown(kind)
	}
	if slices.Contains(r.secrets, name) && (ok || !r.known) {
		v = v.Secret()
	}
	if r.local {
		return v // with its own dependencies
	}
	return v.WithMarksOf(r.outputs).DependingOn(r.urn).DependingOn(r.deps[name]...)
}

// declares reports whether a component has an output, or may have it.
func (r *resource) declares(name string) bool {
	if r.types != nil {
		return r.types(name) != nil
	}
	return !r.known || r.outputs.Has(name)
}

// registry holds the resources that the program may read, by URN.
type registry struct {
	known   sync.Map // *resource by URN
	fetched parallel.Memo[urn.URN, *resource, *fault]
}

// add stores a resource.
func (g *registry) add(res *resource) { g.known.Store(res.urn, res) }

// get returns a stored resource; nil for others.
func (g *registry) get(u urn.URN) *resource {
	res, _ := g.known.Load(u)
	known, _ := res.(*resource)
	return known
}

// resourceMember returns a member of a resource: urn, id or an output (L5.31, L5.32). The id of a component is an
// output like others (L3.56). Resources in a provider's answer are fetched through the engine (L5.38).
func (e *evaluator) resourceMember(ctx context.Context, ref *value.ResourceRef, name string,
	rng diag.Range) (value.Value, *fault) {
	switch {
	case name == "urn":
		return value.String(string(ref.URN)).DependingOn(ref.URN), nil
	case name == "id" && !ref.ID.IsNull():
		if text, ok := ref.ID.AsString(); ok && text == "" {
			return value.Unknown(value.KindString).DependingOn(ref.URN), nil // F1.7
		}
		return ref.ID.DependingOn(ref.URN), nil
	}
	res, f := e.lookup(ctx, ref, rng)
	switch {
	case f != nil:
		return value.Null, f
	case name == "id" && !res.declares(name):
		return value.Null, blame(diag.NoMember, rng, "use urn to name it", "a component has no member %s",
			strconv.Quote(name))
	case res.pending != nil:
		return res.pending.member(ctx, name)
	}
	return res.output(name), nil
}

// lookup returns a resource of the program, or fetches one, once.
func (e *evaluator) lookup(ctx context.Context, ref *value.ResourceRef, rng diag.Range) (*resource, *fault) {
	if res := e.resources.get(ref.URN); res != nil {
		return res, nil
	}
	return e.resources.fetched.Get(ref.URN, func() (*resource, *fault) {
		res, f := e.fetch(ctx, ref, rng)
		if f == nil {
			e.resources.known.LoadOrStore(ref.URN, res)
		}
		return res, f
	})
}

// fetch asks the engine for a resource that the program did not register itself (E2.65).
func (e *evaluator) fetch(ctx context.Context, ref *value.ResourceRef, rng diag.Range) (*resource, *fault) {
	response, err := e.monitor.Invoke(ctx, monitor.InvokeRequest{
		Token:          "pulumi:pulumi:getResource",
		Args:           value.MapOf(value.Entry{Key: "urn", Value: value.String(string(ref.URN))}),
		SourcePosition: e.options.position(rng),
	})
	if err == nil && len(response.Failures) > 0 {
		err = &monitor.FailuresError{Token: string(ref.URN), Failures: response.Failures}
	}
	if err != nil {
		return nil, failure(err, diag.InvokeFailed, rng, "cannot read the resource %s: %s", ref.URN, err)
	}
	res := &resource{urn: ref.URN, id: ref.ID, component: ref.ID.IsNull(), outputs: value.EmptyMap()}
	if state := response.Result.Get("state"); state.Is(value.KindMap) {
		res.outputs = state
	}
	res.known = !response.Unknown && (!e.info.DryRun || res.component || res.id.IsKnown() &&
		!value.SameContent(res.id, value.String("")))
	return res, nil
}

// providerReference returns the reference of a provider resource for registrations (F1.30).
func providerReference(ref *value.ResourceRef) string {
	id, ok := ref.ID.AsString()
	if !ok || id == "" {
		id = unknownID
	}
	return urn.Reference{URN: ref.URN, ID: id}.String()
}

// stackOutput returns an output of another stack; rng is the place of the call.
func (e *evaluator) stackOutput(ctx context.Context, stack, output string, rng diag.Range) (value.Value, error) {
	res, f := e.stacks.Get(stack, func() (*resource, *fault) { return e.readStack(ctx, stack, rng) })
	if f != nil {
		return value.Null, f
	}
	outputs := res.output("outputs")
	if !outputs.IsKnown() {
		return outputs.UnknownAs(value.KindAny), nil
	}
	return outputs.Get(output), nil
}

// readStack reads a stack through a declared StackReference without dependencies, or registers one.
func (e *evaluator) readStack(ctx context.Context, stack string, rng diag.Range) (*resource, *fault) {
	for _, n := range e.program.Nodes {
		if n.Resource == nil || n.Resource.Token != schema.StackReferenceToken || len(n.Needs) > 0 ||
			n.Resource.Decl.ForEach != nil || n.Resource.Decl.If != nil || n.Resource.Decl.Get != nil {
			continue
		}
		if name, literal := n.Resource.StackName(); !literal || name != stack {
			continue
		}
		s := scope{e: e, frame: e.root}
		v, f := s.node(ctx, n)
		if f != nil {
			return nil, f
		}
		if ref, ok := v.AsResource(); ok {
			if res := e.resources.get(ref.URN); res != nil {
				return res, nil
			}
		}
	}
	response, err := e.monitor.ReadResource(ctx, monitor.ReadRequest{
		Type: schema.StackReferenceToken, Name: stack, Parent: e.stack, ID: value.String(stack),
		State: value.MapOf(value.Entry{Key: "name", Value: value.String(stack)}), SourcePosition: e.options.position(rng),
	})
	if err != nil {
		return nil, failure(err, diag.FunctionFailed, diag.Range{}, "cannot read the stack %s: %s", stack, err)
	}
	res := &resource{urn: response.URN, id: response.ID, outputs: response.Outputs,
		known: response.Known || !e.info.DryRun}
	e.resources.add(res)
	return res, nil
}
