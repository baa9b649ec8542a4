package project

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// inherited holds the values that a stack inherits from its environments, by key.
type inherited map[Key]inheritedValue

type inheritedValue struct {
	value.Value
	place diag.Range // of its key
}

// Inherit sets the configuration that the stack inherits from its environments: the map pulumiConfig, which may contain
// secrets and unknown values. It replaces an earlier one and is never saved. Keys without a namespace belong to the
// project. place returns the place of a key.
//
// If whole is false, the environments were not read completely, and the stack may have further keys.
func (s *Settings) Inherit(config value.Value, whole bool, place func(name string) diag.Range) (
	diags diag.Diagnostics) {
	s.whole = whole
	s.inherited = make(inherited, config.Len())
	for i, name := range config.Keys() {
		key, err := ParseKey(name, s.project)
		if err != nil {
			diags.Add(diag.Diagnostic{Code: diag.WrongKind, Subject: place(name),
				Summary: fmt.Sprintf("the environment has the configuration %s: %s", name, err)})
			continue
		}
		if first, twice := s.inherited[key]; twice {
			diags.Add(diag.Diagnostic{Code: diag.Duplicate, Subject: place(name), Summary: key.String() + " is set twice",
				Detail: "remove one of the two", Related: []diag.Related{{Range: first.place, Message: "it is set here too"}}})
			continue
		}
		s.inherited[key] = inheritedValue{config.At(i), place(name)}
	}
	return diags
}

// Inherited returns the value of a key that the stack inherits from its environments, and whether there is one.
func (s *Settings) Inherited(key Key) (value.Value, bool) {
	v, has := s.inherited[key]
	return v.Value, has
}

// InheritedKeys returns the keys that the stack inherits from its environments, in no order.
func (s *Settings) InheritedKeys() iter.Seq[Key] { return maps.Keys(s.inherited) }

// Open reports whether the stack may have keys that are not known: those of an environment that was not opened.
func (s *Settings) Open() bool { return s.Environment != nil && !s.whole }

// addTo adds the values to those of a stack. If both have a map, the maps are merged, and the stack's own items win,
// null among them (F3.5).
func (parent inherited) addTo(config map[Key]Text, data map[Key]any) {
	for key, v := range parent {
		own, set := config[key]
		patch, isMap := data[key].(map[string]any)
		if set && (own.Unread || !isMap || !v.Is(value.KindMap)) {
			continue
		}
		text := Text{Secret: own.Secret || v.ContainsSecret() && (!set || staysSecret(v.Value, patch)), Inherited: true,
			Key: own.Key, Value: own.Value}
		if !set {
			text.Key, text.Value = v.place, v.place
		}
		if v.ContainsUnknown() {
			text.Secret, text.Unread = true, true
			config[key] = text
			continue
		}
		plain := PlainData(v.Value)
		if set {
			plain = patched(plain, patch)
		}
		text.Text, text.Structured = TextOf(plain), isStructured(plain)
		if plain == nil {
			text.Text = "null" // as the Pulumi CLI reads it; a null in a stack file is an empty text there
		}
		config[key], data[key] = text, plain
	}
}

// patched returns a copy of base with the items of patch over its own.
func patched(base, patch any) any {
	own, isMap := patch.(map[string]any)
	m, alsoMap := base.(map[string]any)
	if !isMap || !alsoMap {
		return patch
	}
	m = maps.Clone(m)
	for key, v := range own {
		m[key] = patched(m[key], v)
	}
	return m
}

// staysSecret reports whether a secret in v stays where the items of patch are over its own.
func staysSecret(v value.Value, patch any) bool {
	own, isMap := patch.(map[string]any)
	if !isMap || !v.Is(value.KindMap) {
		return false // replaced
	}
	if v.IsSecret() {
		return true
	}
	for i, key := range v.Keys() {
		if item, replaced := own[key]; replaced && staysSecret(v.At(i), item) || !replaced && v.At(i).ContainsSecret() {
			return true
		}
	}
	return false
}

// PlainData returns a value as data of settings, secrets in plain text; unknown values are nil.
func PlainData(v value.Value) any {
	if !v.IsKnown() {
		return nil
	}
	switch v.Kind() {
	case value.KindBool:
		b, _ := v.AsBool()
		return b
	case value.KindNumber:
		f, _ := v.AsNumber()
		switch abs := math.Abs(f); {
		case f != math.Trunc(f) || abs >= 1e21:
			return f
		case abs > 1<<53:
			return json.Number(value.FormatNumber(f)) // the digits that a text of the program has
		}
		return int64(f)
	case value.KindString:
		text, _ := v.AsString()
		return text
	case value.KindList:
		items, _ := v.AsList()
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = PlainData(item)
		}
		return list
	case value.KindMap:
		m := make(map[string]any, v.Len())
		for i, key := range v.Keys() {
			m[key] = PlainData(v.At(i))
		}
		return m
	}
	return nil
}
