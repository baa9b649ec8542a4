package parser

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var configTypes = map[string]string{
	"string": "string", "number": "number", "int": "integer", "integer": "integer", "bool": "boolean",
	"boolean": "boolean",
	"object":  "object", "map": "object", "list": "list", "array": "list", "any": "any",
}

// configType reads the field type of a configuration value or property, and the field items beside it (L2.20, L2.12).
// It reports an invalid type and returns nil. depth is the number of enclosing items fields.
func (r *nodeReader) configType(e entry, items *entry, depth int) *ast.ConfigType {
	literal := r.literalText(e, "`type`")
	if literal == nil {
		return nil
	}
	read := parseConfigType(literal.Value, literal.Range, 0)
	if read == nil {
		detail := didYouMean(strings.ToLower(literal.Value), slices.Collect(maps.Keys(configTypes)),
			"known are `string`, `number`, `integer`, `boolean`, `object`, and `list<…>` of one of these")
		r.report.fail(diag.ConfigDefault, literal.Range, detail, "there is no configuration type `%s`", diag.Excerpt(literal.Value))
		return nil
	}
	if items != nil && read.Name == "list" && read.Item == nil {
		read.Item = r.itemType(*items, depth+1)
	}
	return read
}

var typeKeys = []string{"type", "items"}

// itemType reads the field items: a map with its own type.
func (r *nodeReader) itemType(e entry, depth int) (item *ast.ConfigType) {
	r.section(e, "`items`", func(n *yamlnode.Node, _ diag.Range) {
		if depth > yamlnode.MaxDepth {
			return
		}
		found := r.gather(r.entries(n), "`items`", typeKeys)
		if e := found["type"]; e != nil {
			item = r.configType(*e, found["items"], depth)
		}
	})
	return item
}

// parseConfigType parses the notation of a type. It returns nil if the notation is invalid.
func parseConfigType(text string, rng diag.Range, depth int) *ast.ConfigType {
	const deepest = 20
	text = strings.TrimSpace(text)
	if depth > deepest {
		return nil
	}
	if inner, ok := strings.CutSuffix(text, "?"); ok {
		t := parseConfigType(inner, rng, depth+1)
		if t != nil {
			t.Optional = true
		}
		return t
	}
	name, item, generic := strings.Cut(text, "<")
	canonical, known := configTypes[strings.ToLower(strings.TrimSpace(name))]
	if !known {
		return nil
	}
	t := &ast.ConfigType{Name: canonical, Range: rng}
	if !generic {
		return t
	}
	item, closed := strings.CutSuffix(item, ">")
	if !closed || canonical != "list" && canonical != "object" {
		return nil
	}
	if t.Item = parseConfigType(item, rng, depth+1); t.Item == nil {
		return nil
	}
	return t
}

// exprKind returns the kind of a literal with its article, or an empty string if e is not a literal.
func exprKind(e ast.Expr) string {
	switch e.(type) {
	case *ast.Null:
		return "null"
	case *ast.Bool:
		return "a boolean"
	case *ast.Number:
		return "a number"
	case *ast.String, *ast.Template:
		return "a string"
	case *ast.List:
		return "a list"
	case *ast.Map:
		return "a map"
	}
	return ""
}

// mismatch returns the first part of a literal that does not fit a type; false if there is none.
func mismatch(t *ast.ConfigType, value ast.Expr) (ast.Expr, bool) {
	kind := exprKind(value)
	if kind == "" || kind == "null" || t.Name == "any" {
		return nil, false
	}
	want := map[string]string{"string": "a string", "number": "a number", "integer": "a number", "boolean": "a boolean",
		"object": "a map", "list": "a list"}[t.Name]
	if kind != want {
		return value, true
	}
	var parts []ast.Expr
	switch value := value.(type) {
	case *ast.Number:
		return value, t.Name == "integer" && value.Value != math.Trunc(value.Value)
	case *ast.List:
		parts = value.Items
	case *ast.Map:
		for _, entry := range value.Entries {
			parts = append(parts, entry.Value)
		}
	}
	if t.Item == nil {
		return nil, false
	}
	for _, part := range parts {
		if wrong, found := mismatch(t.Item, part); found {
			return wrong, true
		}
	}
	return nil, false
}

// textAs returns a literal with texts as values of a type, where they have its form: values of a project file are read
// like those of a stack's file, which are texts (L2.15, L2.17).
func textAs(t *ast.ConfigType, e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.String:
		switch t.Name {
		case "integer":
			if _, err := strconv.ParseInt(e.Value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
				f, _ := strconv.ParseFloat(e.Value, 64)
				return &ast.Number{Place: e.Place, Value: f, Integer: true}
			}
		case "number":
			if f, err := strconv.ParseFloat(e.Value, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
				return &ast.Number{Place: e.Place, Value: f}
			}
		case "boolean":
			if e.Value == "true" || e.Value == "false" {
				return &ast.Bool{Place: e.Place, Value: e.Value == "true"}
			}
		case "list", "object":
			s := jsontext.New(e.Value, jsontext.Options{MaxDepth: yamlnode.MaxDepth})
			if first := s.Next(); (t.Name == "list") == (first == '[') && (t.Name == "object") == (first == '{') {
				parsed := fromJSON(s, e.Place)
				if s.End(); s.Err == nil {
					return textAs(t, parsed)
				}
			}
		}
	case *ast.List:
		if t.Item == nil || t.Name != "list" {
			break
		}
		list := &ast.List{Place: e.Place, Items: make([]ast.Expr, len(e.Items))}
		for i, item := range e.Items {
			list.Items[i] = textAs(t.Item, item)
		}
		return list
	case *ast.Map:
		if t.Item == nil || t.Name != "object" {
			break
		}
		m := &ast.Map{Place: e.Place, Entries: make([]ast.MapEntry, len(e.Entries))}
		for i, entry := range e.Entries {
			m.Entries[i] = ast.MapEntry{Key: entry.Key, Value: textAs(t.Item, entry.Value)}
		}
		return m
	}
	return e
}

// fromJSON returns the next value as a literal, all of whose parts are at one place.
func fromJSON(s *jsontext.Scanner, place ast.Place) ast.Expr {
	switch s.Next() {
	case '[':
		list := &ast.List{Place: place}
		s.List(func() { list.Items = append(list.Items, fromJSON(s, place)) })
		return list
	case '{':
		m := &ast.Map{Place: place}
		s.Object(func(key string) {
			m.Entries = append(m.Entries, ast.MapEntry{Key: &ast.String{Place: place, Value: key},
				Value: fromJSON(s, place)})
		})
		return m
	case '"':
		return &ast.String{Place: place, Value: s.Text()}
	case 't', 'f':
		return &ast.Bool{Place: place, Value: s.Bool()}
	case 'n':
		s.Null()
		return &ast.Null{Place: place}
	}
	f := s.Number()
	return &ast.Number{Place: place, Value: f, Integer: f == math.Trunc(f)}
}
