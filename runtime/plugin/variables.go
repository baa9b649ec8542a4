package plugin

import (
	"encoding/json"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value"
)

// configVariables returns the deprecated form of a provider's configuration: <package>:config:<key> to text, strings
// raw and other values as JSON. It has secrets as plain text and does not have the version (F2.19, E3.23).
func configVariables(pkg string, inputs value.Value) (map[string]string, error) {
	if inputs.Len() == 0 {
		return nil, nil
	}
	variables := make(map[string]string, inputs.Len())
	for i, key := range inputs.Keys() {
		input := inputs.At(i)
		if key == "version" || !input.IsKnown() {
			continue
		}
		text, ok := input.AsString()
		if !ok {
			plain, err := json.Marshal(jsonOf(input))
			if err != nil {
				return nil, fmt.Errorf("encode the configuration %q: %w", key, err)
			}
			text = string(plain)
		}
		variables[pkg+":config:"+key] = text
	}
	return variables, nil
}

// jsonOf returns a configuration value for a plugin's environment in the form for encoding/json, without marks.
func jsonOf(v value.Value) any {
	switch v.Kind() {
	case value.KindBool:
		b, _ := v.AsBool()
		return b
	case value.KindNumber:
		n, _ := v.AsNumber()
		return n
	case value.KindString:
		s, _ := v.AsString()
		return s
	case value.KindList:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = jsonOf(v.At(i))
		}
		return list
	case value.KindMap:
		m := make(map[string]any, v.Len())
		for i, key := range v.Keys() {
			m[key] = jsonOf(v.At(i))
		}
		return m
	case value.KindResource:
		r, _ := v.AsResource()
		if id, ok := r.ID.AsString(); ok {
			return id
		}
		return string(r.URN)
	case value.KindAsset:
		a, _ := v.AsAsset()
		return map[string]any{"text": a.Text, "path": a.Path, "uri": a.URI, "hash": a.Hash}
	case value.KindArchive:
		a, _ := v.AsArchive()
		return map[string]any{"assets": jsonOf(a.Assets), "path": a.Path, "uri": a.URI, "hash": a.Hash}
	case value.KindNull, value.KindAny:
		return nil
	}
	return nil
}
