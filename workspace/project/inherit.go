package project

import (
	"fmt"
	"maps"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// inherited holds the values that a stack inherits from its environments, by key.
type inherited map[Key]value.Value

// Inherit sets the configuration that the stack inherits from its environments: the map pulumiConfig, which may contain
// secrets and unknown values. It replaces an earlier one and is never saved. Keys without a namespace belong to the
// project.
//
// If whole is false, the environments were not read completely, and the stack may have further keys.
func (s *Settings) Inherit(config value.Value, whole bool) (diags diag.Diagnostics) {
	s.whole = whole
	s.inherited = make(inherited, config.Len())
	for i, name := range config.Keys() {
		key, err := ParseKey(name, s.project)
		if err != nil {
			diags.Add(diag.Diagnostic{Code: diag.WrongKind, Subject: *s.Environment,
				Summary: fmt.Sprintf("the environment has the configuration %s: %s", name, err)})
			continue
		}
		s.inherited[key] = config.At(i)
	}
	return diags
}

// Inherited returns the values that the stack inherits from its environments, by key.
func (s *Settings) Inherited() map[Key]value.Value { return s.inherited }

// Open reports whether the stack may have keys that are not known: those of an environment that was not opened.
func (s *Settings) Open() bool { return s.Environment != nil && !s.whole }

// addTo adds the values to those of a stack. If both have a map, the maps are merged: the stack's own items win, and
// null removes an item, as in a JSON merge patch (F3.5).
func (parent inherited) addTo(config map[Key]Text, data map[Key]any) {
	for key, v := range parent {
		own, set := config[key]
		patch, isMap := data[key].(map[string]any)
		if set && (own.Unread || !isMap || !v.Is(value.KindMap)) {
			continue
		}
		text := Text{Secret: own.Secret || v.ContainsSecret(), Inherited: true, Key: own.Key}
		if v.ContainsUnknown() {
			text.Secret, text.Unread = true, true
			config[key] = text
			continue
		}
		plain := PlainData(v)
		if set {
			plain = patched(plain, patch)
		}
		text.Text, text.Structured = TextOf(plain), isStructured(plain)
		config[key], data[key] = text, plain
	}
}

// patched returns a copy of base with a JSON merge patch applied.
func patched(base any, patch map[string]any) any {
	m, _ := base.(map[string]any)
	if m = maps.Clone(m); m == nil {
		m = map[string]any{}
	}
	for key, v := range patch {
		switch x := v.(type) {
		case nil:
			delete(m, key)
		case map[string]any:
			m[key] = patched(m[key], x)
		default:
			m[key] = v
		}
	}
	return m
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
		if i := int64(f); float64(i) == f {
			return i
		}
		return f
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
