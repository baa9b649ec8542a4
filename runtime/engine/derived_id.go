package engine

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// DerivedID returns the ID that a creation must have given to its object if the ID follows from the recorded inputs,
// and "" otherwise. There are two cases:
//
//   - The package is kubernetes: the ID is metadata.namespace/metadata.name, or the name alone.
//
// - Every object of the type in the state has one of its inputs, or such a namespace and name, as its ID.
//
// The caller assumes that the creation made the object with this ID: an object may have had it before.
func DerivedID(s *state.Snapshot, r *state.Resource) string {
	if r.URN.Package() == "kubernetes" {
		return kubernetesID(r.Inputs)
	}
	rules := idRules(r.Inputs)
	examples := 0
	for _, other := range s.Resources {
		if other.Type != r.Type || !elsewhere(other) || other.ID == "" || other.External {
			continue
		}
		examples++
		for name, rule := range rules {
			if rule(other.Inputs) != other.ID {
				delete(rules, name)
			}
		}
	}
	if examples == 0 {
		return ""
	}
	id := ""
	for _, rule := range rules {
		found := rule(r.Inputs)
		if id != "" && found != id {
			return "" // the rules disagree
		}
		id = found
	}
	return id
}

// idRules returns the ways in which an ID may follow from inputs, by name. A rule returns "" for inputs that lack a
// part.
func idRules(inputs value.Value) map[string]func(value.Value) string {
	rules := map[string]func(value.Value) string{"metadata.namespace/name": kubernetesID}
	for _, key := range inputs.Keys() {
		if inputText(inputs, key) != "" {
			rules[key] = func(inputs value.Value) string { return inputText(inputs, key) }
		}
	}
	return rules
}

// kubernetesID returns the ID of a Kubernetes object by its metadata; "" without a name.
func kubernetesID(inputs value.Value) string {
	metadata := inputs.Get("metadata")
	name, namespace := inputText(metadata, "name"), inputText(metadata, "namespace")
	if name == "" || namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// inputText returns the text for a key of a map; "" for other values and for secrets.
func inputText(v value.Value, key string) string {
	part, _ := v.Lookup(key)
	text, _ := part.AsString()
	if part.IsSecret() {
		return ""
	}
	return text
}
