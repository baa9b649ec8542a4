package parser

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// optionKeys are the names of all options.
var (
	optionKeys     = ast.OptionNames()
	readOptionKeys = append(slices.Clip(optionKeys), transformationsName)
)

// optionSynonyms are other words for options.
var optionSynonyms = map[string]string{"deleteBeforeCreate": "deleteBeforeReplace", "depends_on": "dependsOn",
	"ignore_changes": "ignoreChanges",
	"preventDestroy": "protect", "prevent_destroy": "protect", "createBeforeDestroy": "", "timeouts": "customTimeouts",
	"providerVersion": "version"}

var timeoutKeys = []string{"create", "update", "delete", "read"}

// optionBlock reads the field options of a resource or of a transform.
func (p *parser) optionBlock(o *ast.Options, e entry) {
	p.with(e.value, e.via, func(n *node, at diag.Range) {
		if empty(n) {
			return // L1.16
		}
		if n.Kind != yaml.MappingNode {
			p.wrongKind(n, at, "`options`", "a map", "write each option out; the values may be expressions")
			return
		}
		o.Range = at
		p.fields(n, readOptionKeys, func(name string, e entry) {
			key := ast.Literal{Value: name, Range: e.at}
			if name == "customTimeouts" {
				o.CustomTimeouts = p.timeouts(key, e)
				return
			}
			if name == transformsName || name == transformationsName {
				o.Transforms = append(o.Transforms, p.transformList(e, false)...)
				return
			}
			if name == "hooks" {
				p.extension(e.at, "the option `hooks`")
			}
			spec := ast.OptionSpecOf(name)
			if value := p.present(p.expression(e)); value != nil { // null is absent (L4.6)
				*spec.In(o) = &ast.Option{Key: key, Value: p.shaped(e, name, value, spec.Shape)}
			}
		}, func(e entry) {
			hint := ""
			if right := optionSynonyms[e.name]; right != "" {
				e.meant = right
			} else if name, ok := canonical(e.name, resourceKeys); ok {
				hint = "`" + name + "` belongs one level up, beside `options`"
			} else if _, ok := canonical(e.name, timeoutKeys); ok {
				hint = "indent `" + e.name + "` under `customTimeouts`"
			}
			p.unknownKey(diag.Error, e, "the options", optionKeys, hint)
		})
	})
}

// shaped compares an option's value with its shape where it is written out; what does not fit is reported and becomes
// Bad.
func (p *parser) shaped(e entry, name string, value ast.Expr, shape ast.OptionShape) ast.Expr {
	what := "`" + name + "`"
	kind := exprKind(value)
	wrong := func(e ast.Expr, what, want, detail string) ast.Expr {
		p.fail(diag.WrongKind, e.Range(), detail, "%s must be %s, found %s", what, want, exprKind(e))
		return bad(value.Range())
	}
	if kind == "" {
		return value
	}
	switch shape {
	case ast.FlagOption:
		if kind != "a boolean" {
			detail := "write `true` or `false`"
			if text, ok := value.(*ast.String); ok && (text.Value == "true" || text.Value == "false") {
				detail = "write `" + text.Value + "` without quotes"
			}
			return wrong(value, what, "a boolean", detail)
		}
	case ast.TextOption:
		if kind != "a string" {
			detail := ""
			if p.deref(e.value).Kind == yaml.ScalarNode {
				detail = "put it in quotes: \"" + shorten(p.deref(e.value).Value) + "\""
			}
			return wrong(value, what, "a string", detail)
		}
	case ast.TextsOption, ast.PathsOption:
		if kind == "a string" {
			p.portableList(e, name, value)
			return &ast.List{Place: ast.Place{At: value.Range()}, Items: []ast.Expr{value}}
		}
		list, ok := value.(*ast.List)
		if !ok {
			return wrong(value, what, "a list of strings", "")
		}
		for _, item := range list.Items {
			if kind := exprKind(item); kind != "" && kind != "a string" {
				return wrong(item, "an item of "+what, "a string", "")
			}
		}
	case ast.ResourceOption:
		return wrong(value, what, "a resource", "write `${name}` with the name of a resource")
	case ast.ResourcesOption:
		switch kind {
		case "a list", "a map":
		default:
			return wrong(value, what, "a list of resources", "write `[\"${name}\"]` with the names of resources")
		}
	}
	return value
}

// portableList warns of one text where other hosts want a list of them (L4.2).
func (p *parser) portableList(e entry, name string, value ast.Expr) {
	at := value.Range()
	d := p.warn(diag.WrongKind, at, "write `["+shorten(at.Text())+
		"]`; here one text counts as a list, other hosts refuse it",
		"`%s` is a list of strings", name)
	if n := p.deref(e.value); n == e.value && n.Kind == yaml.ScalarNode && !strings.Contains(at.Text(), "\n") &&
		!strings.ContainsAny(at.Text(), "[]{},#") {
		d.Fixes = []diag.Fix{{Label: "Write a list", Edits: []diag.Edit{{Range: at, Text: "[" + at.Text() + "]"}}}}
	}
}

// timeouts reads the option customTimeouts (L4.13).
func (p *parser) timeouts(key ast.Literal, e entry) *ast.Timeouts {
	var t *ast.Timeouts
	p.section(e, "`customTimeouts`", func(n *node, _ diag.Range) {
		t = &ast.Timeouts{Key: key}
		p.fields(n, timeoutKeys, func(name string, e entry) {
			value := p.present(p.expression(e))
			if value == nil {
				return
			}
			option := &ast.Option{Key: ast.Literal{Value: name, Range: e.at}, Value: value}
			if kind := exprKind(value); kind != "" && kind != "a string" {
				p.fail(diag.WrongKind, value.Range(), "write a number with its unit, such as `5m` or `1h30m`",
					"the timeout `%s` must be a string, found %s", name, kind)
				option.Value = bad(value.Range())
			}
			switch name {
			case "create":
				t.Create = option
			case "update":
				t.Update = option
			case "delete":
				t.Delete = option
			case "read":
				t.Read = option
			}
		}, func(e entry) { p.unknownKey(diag.Error, e, "`customTimeouts`", timeoutKeys, "") })
	})
	return t
}
