package operation

import (
	"sync"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// Neighbours are the outputs that the stacks of one preview are planned to have, for those that read them. An output
// that no plan knows is unknown, with the type that the program of its stack gives it. The zero value is ready for use
// and safe for concurrent use; a nil one knows nothing.
type Neighbours struct {
	mu      sync.Mutex
	planned map[backend.Ref]value.Value // guarded by mu
}

// outputs are the planned outputs of a stack, and whether it has been planned.
func (n *Neighbours) outputs(ref backend.Ref) (value.Value, bool) {
	if n == nil {
		return value.Null, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	v, found := n.planned[ref]
	return v, found
}

// heard takes the outputs from the end of a plan.
func (n *Neighbours) heard(p *display, e engine.Event) {
	s, ok := e.(*engine.Summary)
	if n == nil || !ok || !s.Planning || s.Result != "succeeded" || p.program == nil {
		return
	}
	outputs := value.EmptyMap()
	if s.Outputs != nil && s.Outputs.Outputs.Is(value.KindMap) {
		outputs = s.Outputs.Outputs
	}
	types := map[string]schema.Type{}
	for _, out := range p.program.Outputs {
		types[out.Decl.Name.Value] = out.Type
	}
	for i, name := range outputs.Keys() {
		outputs = outputs.With(name, typed(outputs.At(i).WithoutDeps(), types[name]))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.planned == nil {
		n.planned = map[backend.Ref]value.Value{}
	}
	n.planned[p.stack.Ref] = outputs
}

// typed gives an unknown value the kind that its type has. A known one is as it is.
func typed(v value.Value, t schema.Type) value.Value {
	if v.IsKnown() || t == nil {
		return v
	}
	return v.AsWitness(schema.Witness(t))
}
