package operation

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// Neighbours holds the outputs of the stacks of one command for the stacks that read them: planned outputs of a
// preview, or new outputs of an operation, which need not be read from the backend again. An output that a plan does
// not know is unknown, with the type from its program. The zero value is ready for use and safe for concurrent use; a
// nil one is empty.
type Neighbours struct {
	mu      sync.Mutex
	planned map[backend.Ref]value.Value // guarded by mu
	stored  map[backend.Ref][]string    // names of outputs that are in the state as planned; guarded by mu
	others  *console.Previews           // in other processes; nil for none
}

// outputs returns the planned outputs of a stack; found reports whether the stack has been planned. stored are the
// names of the other outputs, whose values are in the state.
func (n *Neighbours) outputs(ref backend.Ref) (v value.Value, stored []string, found bool) {
	if n == nil {
		return value.Null, nil, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	v, found = n.planned[ref]
	return v, n.stored[ref], found
}

// heard stores the outputs at the end of a plan.
func (n *Neighbours) heard(p *display, e engine.Event) {
	s, ok := e.(*engine.Summary)
	if n == nil || !ok || s.Result != "succeeded" || p.program == nil {
		return
	}
	outputs := view.OutputsOf(s.Outputs)
	types := map[string]schema.Type{}
	for _, out := range p.program.Outputs {
		types[out.Decl.Name.Value] = out.Type
	}
	for i, name := range outputs.Keys() {
		outputs = outputs.With(name, typed(outputs.At(i).WithoutDeps(), types[name]))
	}
	if !s.Planning && !plain(outputs) {
		return // the state stores them in another form
	}
	if n.others != nil {
		n.send(p, outputs, s.OldOutputs)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.planned == nil {
		n.planned = map[backend.Ref]value.Value{}
	}
	n.planned[p.stack.Ref] = outputs
}

// send passes planned outputs to other processes. before is the stored stack; nil for none.
func (n *Neighbours) send(p *display, outputs value.Value, before *state.Resource) {
	text, err := pack(outputs, view.OutputsOf(before))
	if err != nil {
		p.sink.tell(p.console.Streams.Err, fmt.Sprintf("warning: those who read this stack see its stored outputs: %v\n", err))
		return
	}
	n.others.Planned = text
}

// typed gives an unknown value the kind of its type. A known value is unchanged.
func typed(v value.Value, t schema.Type) value.Value {
	if v.IsKnown() || t == nil {
		return v
	}
	return v.UnknownAs(schema.ExpectedKind(t))
}

// plain reports whether a value is the same after writing and reading a state: it is known and consists of scalars,
// lists and maps.
func plain(v value.Value) bool {
	return !v.Any(func(x value.Value) bool {
		return !x.IsKnown() || x.Is(value.KindAsset) || x.Is(value.KindArchive) || x.Is(value.KindResource)
	})
}

// carried holds planned outputs for another machine, without secrets: the value of an unchanged secret output is read
// from the stored state there, any other secret is unknown.
type carried struct {
	Outputs json.RawMessage `json:"outputs"` // with the signatures of internal/value/wire
	Stored  []string        `json:"stored,omitempty"`
}

// pack returns the text of planned outputs. stored are the outputs in the state.
func pack(planned, stored value.Value) ([]byte, error) {
	var c carried
	rest := planned
	for i, name := range planned.Keys() {
		v := planned.At(i)
		before, has := stored.Lookup(name)
		if has && v.ContainsSecret() && before.ContainsSecret() && value.Equal(v.Bare(), before.Bare()) {
			c.Stored = append(c.Stored, name)
			rest = rest.Without(name)
			continue
		}
		rest = rest.With(name, v.Transform(withheld))
	}
	var err error
	if c.Outputs, err = wire.KeepAll().EncodeJSON(rest); err != nil {
		return nil, err
	}
	return json.Marshal(c)
}

// withheld returns an unknown value of the same kind for values that are not sent to another machine: secrets, and
// files of this one.
func withheld(v value.Value) value.Value {
	switch {
	case v.IsSecret():
		return value.Unknown(v.Kind()).Secret()
	case v.Is(value.KindAsset), v.Is(value.KindArchive):
		return value.Unknown(v.Kind())
	}
	return v
}

// neighboursOf returns the outputs of stacks that other runs have previewed. Plans of this process are written to p.
func neighboursOf(p *console.Previews) (*Neighbours, error) {
	n := &Neighbours{planned: map[backend.Ref]value.Value{}, stored: map[backend.Ref][]string{}, others: p}
	for key, text := range p.Before {
		var c carried
		err := json.Unmarshal(text, &c)
		var outputs value.Value
		if err == nil {
			outputs, err = wire.KeepAll().DecodeJSON(c.Outputs)
		}
		if err != nil {
			return nil, fmt.Errorf("read the planned outputs of %s: %w", key, err)
		}
		project, stack, _ := strings.Cut(key, "/")
		ref := backend.Ref{Project: project, Stack: stack}
		n.planned[ref], n.stored[ref] = outputs, c.Stored
	}
	return n, nil
}
