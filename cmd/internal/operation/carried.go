package operation

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// carried are planned outputs on their way to another machine. Nothing secret goes along: a secret output that stays as
// it is gets its value from the stored state there, any other secret is unknown.
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

// withheld returns an unknown of the same kind for what does not go to another machine: secrets, and files of this one.
func withheld(v value.Value) value.Value {
	switch {
	case v.IsSecret():
		return value.Unknown(v.Kind()).Secret()
	case v.Is(value.KindAsset), v.Is(value.KindArchive):
		return value.Unknown(v.Kind())
	}
	return v
}

// neighboursOf returns the stacks that other runs have previewed. Plans of this process are written into p.
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
