package parser

import (
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var configKeys = []string{"type", "items", "default", "value", "secret", "optional", "name", "description"}

// configSection reads declarations of configuration (L2.C). Those that the section hiding declares too are left out
// (L2.26).
func (p *parser) configSection(section, hiding *entry) (declarations []*ast.Config) {
	if section != nil && section.name == "config" && isText(p.deref(section.value)) {
		return nil // in old projects, the directory of the stacks' configuration (L1.B)
	}
	for _, it := range p.items(section, func(p *parser, e entry, name ast.Literal) item {
		return item{config: p.configEntry(e, name)}
	}) {
		if hiding == nil || !hiding.declares(it.name.Value) {
			p.diags.Add(it.diags...)
			declarations = append(declarations, it.config)
		}
	}
	return declarations
}

// declares reports whether a section has an entry of a name.
func (e *entry) declares(name string) bool {
	has := func(part entry) bool {
		body := part.p.deref(part.value)
		return body.Kind == yaml.MappingNode && hasExactKey(body, name)
	}
	return has(*e) || slices.ContainsFunc(e.parts, has)
}

func hasExactKey(n *node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i].Kind == yaml.ScalarNode {
			return true
		}
	}
	return false
}

func (p *parser) configEntry(e entry, name ast.Literal) *ast.Config {
	c := &ast.Config{Name: name, Range: p.whole(e)}
	p.with(e.value, e.via, func(n *node, at diag.Range) {
		switch {
		case n.Kind == yaml.MappingNode:
			p.configFields(c, n)
		case empty(n):
			p.needsType(c)
		default: // a bare value is a default (L2.21)
			c.Default = p.checkedDefault(c, p.readAt(n, at, true))
		}
	})
	c.Unit = ast.NewUnit(c.Default)
	return c
}

// needsType reports a declaration that tells no type, unless the stack has a value that tells it.
func (p *parser) needsType(c *ast.Config) {
	if !p.component && p.stackHas(keyOf(c)) {
		return
	}
	p.fail(diag.ConfigDefault, c.Name.Range, "add `type: string`, or a `default` that tells the type",
		"the configuration value `%s` needs a type or a default", shorten(c.Name.Value))
}

// keyOf is the name by which the stack's configuration has a value.
func keyOf(c *ast.Config) string {
	if c.Key != nil {
		return c.Key.Value
	}
	return c.Name.Value
}

func (p *parser) configFields(c *ast.Config, n *node) {
	var typeEntry, items, value, defaultEntry *entry
	broken := false
	p.fieldsOf(p.described(n), configKeys, nil, func(key string, e entry) {
		switch key {
		case "type":
			typeEntry = &e
		case "items":
			items = &e
		case "default":
			defaultEntry = &e
		case "value":
			value = &e
		case "secret":
			c.Secret = p.literalBool(e, "`secret`")
		case "optional":
			p.extension(e.at, "the field `optional` of a configuration value")
			c.Optional = p.literalBool(e, "`optional`")
		case "name":
			c.Key = p.literalText(e, "`name`")
		case "description":
			c.Description = p.plainText(e, "`description`")
		}
	}, func(e entry) bool {
		broken = true
		p.unknownKey(diag.Error, e, "a configuration value", configKeys, "")
		return true
	})
	if typeEntry != nil {
		c.Type = p.configType(*typeEntry, items)
	}
	switch {
	case defaultEntry != nil:
		c.Default = p.checkedDefault(c, p.expression(*defaultEntry))
		if value != nil {
			d := p.fail(diag.ConfigDefault, value.at, "keep one of the two", "`%s` has both a default and a value",
				shorten(c.Name.Value))
			d.Related = []diag.Related{{Range: defaultEntry.at, Message: "the default"}}
		}
	case value != nil:
		c.Default = p.checkedDefault(c, p.data(*value))
	case typeEntry == nil && c.Optional == nil && !broken:
		p.needsType(c)
	}
	if c.Secret != nil && c.Secret.Value && c.Default != nil {
		hideTexts(c.Default)
	}
}

var configTypes = map[string]string{
	"string": "string", "number": "number", "int": "integer", "integer": "integer", "bool": "boolean",
	"boolean": "boolean",
	"object":  "object", "map": "object", "list": "list", "array": "list", "any": "any",
}

// configType reads the field type, and items beside it (L2.20, L2.12). It answers nil for what it has reported.
func (p *parser) configType(e entry, items *entry) *ast.ConfigType {
	literal := p.literalText(e, "`type`")
	if literal == nil {
		return nil
	}
	t := p.parseConfigType(literal.Value, literal.Range, 0)
	if t == nil {
		detail := "known are `string`, `number`, `integer`, `boolean`, `object`, and `list<…>` of one of these"
		names := make([]string, 0, len(configTypes))
		for name := range configTypes {
			names = append(names, name)
		}
		if near := diag.Suggest(strings.ToLower(literal.Value), names); len(near) > 0 {
			detail = "did you mean " + anyOf(near) + "?"
		}
		p.fail(diag.ConfigDefault, literal.Range, detail, "there is no configuration type `%s`", shorten(literal.Value))
		return nil
	}
	if items != nil && t.Name == "list" && t.Item == nil {
		t.Item = p.configItems(*items)
	}
	return t
}

// configItems reads the field items: a map with a type of its own.
func (p *parser) configItems(e entry) (item *ast.ConfigType) {
	keys := []string{"type", "items"}
	p.section(e, "`items`", func(n *node, _ diag.Range) {
		if p.depth++; p.depth > maxDepth {
			return
		}
		defer func() { p.depth-- }()
		var typeEntry, items *entry
		p.fields(n, keys, func(key string, e entry) {
			if key == "type" {
				typeEntry = &e
			} else {
				items = &e
			}
		}, func(e entry) { p.unknownKey(diag.Error, e, "`items`", keys, "") })
		if typeEntry != nil {
			item = p.configType(*typeEntry, items)
		}
	})
	return item
}

// parseConfigType reads the spelling of a type; nil for none.
func (p *parser) parseConfigType(text string, at diag.Range, depth int) *ast.ConfigType {
	const deepest = 20
	text = strings.TrimSpace(text)
	if depth > deepest {
		return nil
	}
	if inner, ok := strings.CutSuffix(text, "?"); ok {
		t := p.parseConfigType(inner, at, depth+1)
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
	t := &ast.ConfigType{Name: canonical, Range: at}
	if !generic {
		return t
	}
	item, closed := strings.CutSuffix(item, ">")
	if !closed || canonical != "list" && canonical != "object" {
		return nil
	}
	if t.Item = p.parseConfigType(item, at, depth+1); t.Item == nil {
		return nil
	}
	return t
}

// checkedDefault compares a literal default with the declared type, or with itself where it has to tell the type
// (L2.22, L2.23). What is wrong is reported and becomes Bad; what is no literal is left to the checker.
func (p *parser) checkedDefault(c *ast.Config, value ast.Expr) ast.Expr {
	if c.Type == nil {
		if list, ok := value.(*ast.List); ok {
			return p.homogeneous(c, list)
		}
		return value
	}
	if wrong, found := mismatch(c.Type, value); found {
		verb, kind := "is", exprKind(wrong)
		if wrong != value {
			verb = "holds"
		}
		if number, ok := wrong.(*ast.Number); ok && number.Value != math.Trunc(number.Value) {
			kind = "a number with a fraction"
		}
		p.fail(diag.ConfigDefault, wrong.Range(), "", "the default of `%s` %s %s, its type is %s", shorten(c.Name.Value),
			verb, kind, c.Type)
		return bad(value.Range())
	}
	return value
}

func (p *parser) homogeneous(c *ast.Config, list *ast.List) ast.Expr {
	first := ""
	for _, item := range list.Items {
		kind := exprKind(item)
		if kind == "" || kind == "null" {
			continue
		}
		if first == "" {
			first = kind
		}
		if kind != first {
			p.fail(diag.ConfigDefault, item.Range(), "give it a type, such as `type: list<any>`",
				"the items of the default of `%s` are of several kinds: %s and %s", shorten(c.Name.Value), first, kind)
			return bad(list.Range())
		}
	}
	return list
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
