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
	Place    *change.Place   `json:"place,omitempty"` // of its text in the program
	Causes   []causeJSON     `json:"causes,omitempty"`
}

// causeJSON is one reason for a change, the nearest; what is behind it follows in By, up to the root.
type causeJSON struct {
	linkJSON
	Possible bool       `json:"possible,omitempty"` // the change is made from it, and may have another reason
	By       []linkJSON `json:"by,omitempty"`
}

// linkJSON is one link of a chain of causes.
type linkJSON struct {
	Kind   change.CauseKind `json:"kind"`
	Name   string           `json:"name,omitempty"`
	URN    string           `json:"urn,omitempty"`    // of the resource whose change it is; its own step has its causes
	Source string           `json:"source,omitempty"` // of a configuration value: environment or default
	Place  *change.Place    `json:"place,omitempty"`
}

func causesJSON(list []change.Cause) []causeJSON {
	var out []causeJSON
	for i := range list {
		for _, chain := range linksOf(&list[i]) {
			out = append(out, causeJSON{linkJSON: chain[0], Possible: list[i].Possible, By: chain[1:]})
		}
	}
	return out
}

// linksOf returns the chains from a cause to its roots, one for each root.
func linksOf(c *change.Cause) [][]linkJSON {
	own := linkJSON{Kind: c.Kind, Name: c.Name, URN: string(c.URN), Source: c.From, Place: placeJSON(c.At)}
	if len(c.By) == 0 {
		return [][]linkJSON{{own}}
	}
	var chains [][]linkJSON
	for i := range c.By {
		for _, chain := range linksOf(&c.By[i]) {
			chains = append(chains, append([]linkJSON{own}, chain...))
		}
	}
	return chains
}

func placeJSON(p change.Place) *change.Place {
	if p == (change.Place{}) {
		return nil
	}
	return &p
}

// stepCauses returns the causes of a step that are not those of its properties. That the program has a new resource
// needs no saying.
func stepCauses(s *engine.Step, o view.Options) []causeJSON {
	if o.Causes == view.CausesNone || s.Op == engine.OpSame {
		return nil
	}
	list := o.Changes.Causes(s)
	if len(list) == 1 && list[0].Kind == change.ByNew {
		return nil
	}
	return causesJSON(list)
}

// rootsOf returns the causes at the beginning of all causes of a change. That the program has a new resource needs no
// saying.
func rootsOf(s *engine.Step, o view.Options) []causeJSON {
	if o.Causes == view.CausesNone || s.Op == engine.OpSame || s.Op == engine.OpRefresh || o.Changes.OnlyNew(s) {
		return nil
	}
	return causesJSON(o.Changes.Roots(s))
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
		x := propertyJSON{Path: p.Path, Kind: p.Kind, From: p.From, Replaces: p.Replaces, Secret: p.Secret,
			Hidden: p.Hidden, Computed: p.Computed}
		if o.Causes != view.CausesNone {
			x.Place, x.Causes = placeJSON(p.At), causesJSON(p.Causes)
		}
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
