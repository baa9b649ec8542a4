package parser

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var configTypes = map[string]string{
	"string": "string", "number": "number", "int": "integer", "integer": "integer", "bool": "boolean",
	"boolean": "boolean",
	"object":  "object", "map": "object", "list": "list", "array": "list", "any": "any",
}

// typeReader reads the types of configuration values and of properties.
type typeReader struct {
	*nodeReader
	depth int // of items inside each other
}

// read reads the field type, and items beside it (L2.20, L2.12). It answers nil for what it has reported.
func (t *typeReader) read(e entry, items *entry) *ast.ConfigType {
	literal := t.literalText(e, "`type`")
	if literal == nil {
		return nil
	}
	read := parseConfigType(literal.Value, literal.Range, 0)
	if read == nil {
		detail := didYouMean(strings.ToLower(literal.Value), slices.Collect(maps.Keys(configTypes)),
			"known are `string`, `number`, `integer`, `boolean`, `object`, and `list<…>` of one of these")
		t.fail(diag.ConfigDefault, literal.Range, detail, "there is no configuration type `%s`", shorten(literal.Value))
		return nil
	}
	if items != nil && read.Name == "list" && read.Item == nil {
		read.Item = t.items(*items)
	}
	return read
}

var typeKeys = []string{"type", "items"}

// items reads the field items: a map with a type of its own.
func (t *typeReader) items(e entry) (item *ast.ConfigType) {
	t.section(e, "`items`", func(n *node, _ diag.Range) {
		t.depth++
		defer func() { t.depth-- }()
		if t.depth > maxDepth {
			return
		}
		var typeEntry, items *entry
		t.fields(n, typeKeys, func(key string, e entry) {
			if key == "type" {
				typeEntry = &e
			} else {
				items = &e
			}
		}, func(e entry) { t.unknownKey(diag.Error, e, "`items`", typeKeys, "") })
		if typeEntry != nil {
			item = t.read(*typeEntry, items)
		}
	})
	return item
}

// parseConfigType reads the spelling of a type; nil for none.
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

// exprKind is the kind of a literal with its article; empty for what is no literal.
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

// mismatch finds the part of a literal that does not fit a type.
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
	switch value := value.(type) {
	case *ast.Number:
		return value, t.Name == "integer" && value.Value != math.Trunc(value.Value)
	case *ast.List:
		for _, item := range value.Items {
			if t.Item == nil {
				break
			}
			if wrong, found := mismatch(t.Item, item); found {
				return wrong, true
			}
		}
	case *ast.Map:
		for _, entry := range value.Entries {
			if t.Item == nil {
				break
			}
			if wrong, found := mismatch(t.Item, entry.Value); found {
				return wrong, true
			}
		}
	}
	return nil, false
}
