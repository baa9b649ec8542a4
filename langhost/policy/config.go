package policy

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
)

// jsonTypes maps the types of configuration values to those of JSON Schema.
var jsonTypes = map[string]string{"string": "string", "number": "number", "integer": "integer", "boolean": "boolean",
	"list": "array", "object": "object"}

// schemaOf returns the JSON Schema of a configuration value and its default; nil for no default.
func schemaOf(decl *ast.DynamicProperty) (s value.Value, fallback *value.Value, err error) {
	s = typeSchema(decl.Type)
	if text := decl.Description.Text(); text != "" {
		s = s.With("description", value.String(text))
	}
	for _, rule := range decl.Rules {
		v, err := program.Literal(rule.Value)
		if err != nil {
			return s, nil, fmt.Errorf("%s: %w", rule.Name.Value, err)
		}
		if text, ok := v.AsString(); ok && rule.Name.Value == "pattern" {
			if _, err := regexp.Compile(text); err != nil {
				return s, nil, fmt.Errorf("pattern: %w", err)
			}
		}
		s = s.With(rule.Name.Value, v)
	}
	if decl.Default == nil {
		return s, nil, nil
	}
	v, err := program.Literal(decl.Default)
	if err != nil {
		return s, nil, fmt.Errorf("its default: %w", err)
	}
	if err := conforms(s, v); err != nil {
		return s, nil, fmt.Errorf("its default %w", err)
	}
	return s.With("default", v), &v, nil
}

func typeSchema(t *ast.ConfigType) value.Value {
	s := value.EmptyMap()
	if t == nil || jsonTypes[t.Name] == "" {
		return s
	}
	s = s.With("type", value.String(jsonTypes[t.Name]))
	if t.Item == nil {
		return s
	}
	if t.Name == "list" {
		return s.With("items", typeSchema(t.Item))
	}
	return s.With("additionalProperties", typeSchema(t.Item))
}

// fits checks the configuration of a policy against its declaration. A value that does not fit is an
// *analyzer.ConfigError.
func fits(decl *ast.Policy, config value.Value) error {
	fault := func(property string, err error) error {
		return &analyzer.ConfigError{Policy: decl.Name.Value, Property: property, Err: err}
	}
	declared := map[string]bool{}
	for _, c := range decl.Config {
		declared[c.Name.Value] = true
		v, given := config.Lookup(c.Name.Value)
		if !given || v.IsNull() {
			if !c.Optional.IsTrue() {
				return fault(c.Name.Value, errors.New("is required"))
			}
			continue
		}
		s, _, err := schemaOf(c)
		if err != nil {
			return err
		}
		if err := conforms(s, v); err != nil {
			return fault(c.Name.Value, err)
		}
	}
	for _, key := range config.Keys() {
		if !declared[key] {
			return fault(key, errors.New("is no configuration value of this policy"))
		}
	}
	return nil
}

// conforms checks a value against the part of JSON Schema that packs use. The error reads on after the value's name.
func conforms(s, v value.Value) error {
	kind, _ := s.Get("type").AsString()
	n, isNumber := v.AsNumber()
	text, isText := v.AsString()
	ok := true
	switch kind {
	case "string":
		ok = isText
	case "number":
		ok = isNumber
	case "integer":
		ok = isNumber && n == math.Trunc(n)
	case "boolean":
		ok = v.Is(value.KindBool)
	case "array":
		ok = v.Is(value.KindList)
	case "object":
		ok = v.Is(value.KindMap)
	}
	if !ok {
		return fmt.Errorf("must be of type %s", kind)
	}
	if items, has := s.Lookup("enum"); has {
		allowed, _ := items.AsList()
		if !slices.ContainsFunc(allowed, func(item value.Value) bool { return value.SameContent(item, v) }) {
			return errors.New("is none of the allowed values")
		}
	}
	for _, bound := range []struct {
		low, high, verb, what string
		measured              bool
		size                  float64
	}{
		{"minimum", "maximum", "be", "", isNumber, n},
		{"minLength", "maxLength", "have", " characters", isText, float64(utf8.RuneCountInString(text))},
		{"minItems", "maxItems", "have", " items", v.Is(value.KindList), float64(v.Len())},
	} {
		if low, has := s.Get(bound.low).AsNumber(); has && bound.measured && bound.size < low {
			return fmt.Errorf("must %s at least %s%s", bound.verb, value.FormatNumber(low), bound.what)
		}
		if high, has := s.Get(bound.high).AsNumber(); has && bound.measured && bound.size > high {
			return fmt.Errorf("must %s at most %s%s", bound.verb, value.FormatNumber(high), bound.what)
		}
	}
	if pattern, has := s.Get("pattern").AsString(); has && isText {
		if re, err := regexp.Compile(pattern); err == nil && !re.MatchString(text) {
			return fmt.Errorf("does not match the pattern %s", pattern)
		}
	}
	inner, many := s.Lookup("items")
	if !many {
		inner, many = s.Lookup("additionalProperties")
	}
	if many && (v.Is(value.KindList) || v.Is(value.KindMap)) {
		for i := range v.Len() {
			if err := conforms(inner, v.At(i)); err != nil {
				return fmt.Errorf("has a value that %w", err)
			}
		}
	}
	return nil
}
