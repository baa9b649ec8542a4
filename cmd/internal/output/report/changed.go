package report

import (
	"encoding/json"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// propertyJSON is one property that a step changes, in documents and events.
type propertyJSON struct {
	Path     string          `json:"path"`
	Kind     change.Kind     `json:"kind"`
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"`
	From     string          `json:"from,omitempty"` // the former path of an element of a list
	Replaces bool            `json:"forcesReplacement,omitempty"`
	Secret   bool            `json:"secret,omitempty"`
	Hidden   bool            `json:"hidden,omitempty"` // by the program's hideDiffs: without values
	Computed bool            `json:"computed,omitempty"`
}

// changedProperties returns the properties that a step changes in an existing object. Values are masked unless the
// options show secrets.
func changedProperties(s *engine.Step, o view.Options, m *mask.Masker) []propertyJSON {
	switch s.Op {
	case engine.OpUpdate, engine.OpReplace, engine.OpCreateReplacement, engine.OpRefresh, engine.OpImport:
	default:
		return nil
	}
	if s.Old == nil {
		return nil
	}
	set := o.Changes.Of(s)
	list := make([]propertyJSON, len(set))
	for i := range set {
		p := &set[i]
		x := propertyJSON{Path: p.Path, Kind: p.Kind, From: p.From, Replaces: p.Replaces, Secret: p.Secret, Hidden: p.Hidden,
			Computed: p.Computed}
		if !p.Hidden && p.Kind != change.Named {
			if p.Kind != change.Added {
				x.Before = maskedJSON(p.Before, o, m)
			}
			if p.Kind != change.Removed {
				x.After = maskedJSON(p.After, o, m)
			}
		}
		list[i] = x
	}
	return list
}

// maskedJSON writes a value, without the texts of assets; absent if JSON cannot represent it.
func maskedJSON(v value.Value, o view.Options, m *mask.Masker) json.RawMessage {
	form, shown := state.Masked(), elideAssets(v)
	if o.ShowSecrets {
		form = state.Shown()
	} else {
		shown = m.HideValue(shown)
	}
	text, err := state.AppendValue(nil, shown, form)
	if err != nil {
		return nil
	}
	return text
}
