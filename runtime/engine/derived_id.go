package engine

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// DerivedID returns the ID that a creation must have given to its object, if that follows from the recorded inputs;
// else "". It does so in two cases:
//
//   - The package is kubernetes: the ID is metadata.namespace/metadata.name, or the name alone.
//   - All objects of the type in the state have as their ID one of their own inputs, or such a namespace and name.
//
// Whether an object with this ID was made by the creation is the caller's assumption: one may have been there before.
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

// idRules returns the ways in which an ID may follow from inputs such as these, by name. Each gives "" for inputs that
// lack a part.
func idRules(inputs value.Value) map[string]func(value.Value) string {
	rules := map[string]func(value.Value) string{"metadata.namespace/name": kubernetesID}
	for _, key := range inputs.Keys() {
		if inputText(inputs, key) != "" {
			rules[key] = func(inputs value.Value) string { return inputText(inputs, key) }
		}
	}
	return rules
}

// kubernetesID returns the ID of an object with the metadata of Kubernetes; "" without a name.
func kubernetesID(inputs value.Value) string {
	metadata := inputs.Get("metadata")
	name, namespace := inputText(metadata, "name"), inputText(metadata, "namespace")
	if name == "" || namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// inputText returns a text in a map; "" for everything else, and for secrets.
func inputText(v value.Value, key string) string {
	part, _ := v.Lookup(key)
	text, _ := part.AsString()
	if part.IsSecret() {
		return ""
	}
	return text
}
