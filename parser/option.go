package parser

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// optionSynonyms maps names that other tools use to options.
var optionSynonyms = map[string]string{"deleteBeforeCreate": "deleteBeforeReplace", "depends_on": "dependsOn",
	"ignore_changes": "ignoreChanges",
	"preventDestroy": "protect", "prevent_destroy": "protect", "createBeforeDestroy": "", "timeouts": "customTimeouts",
	"providerVersion": "version"}

var timeoutKeys = []string{"create", "update", "delete", "read"}

// optionReader reads the field options of a resource or a transform.
type optionReader struct {
	exprs   *exprReader
	nodes   *nodeReader
	report  *findings
	options *ast.Options
}

func (r *optionReader) read(e entry) {
	o := r.options
	r.nodes.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		if yamlnode.IsNull(n) {
			return // L1.16
		}
		if n.Kind != yamlnode.Map {
			r.nodes.wrongKind(n, rng, "`options`", "a map", "write each option out; the values may be expressions")
			return
		}
		o.Range = rng
		r.nodes.fieldsOf(r.nodes.entries(n), readOptionKeys, nil, func(name string, e entry) {
			key := ast.Literal{Value: name, Range: e.at}
			if name == "customTimeouts" {
				o.CustomTimeouts = r.timeouts(key, e)
				return
			}
			if name == transformsName || name == transformationsName {
				o.Transforms = append(o.Transforms, transformList(r.exprs, e, false)...)
				return
			}
			if name == "hooks" {
				r.nodes.extension(e.at, "the option `hooks`")
			}
			spec := ast.OptionSpecOf(name)
			if value := present(r.exprs.expression(e)); value != nil { // null is absent (L4.6)
				*spec.In(o) = &ast.Option{Key: key, Value: r.shaped(e, name, value, spec.Shape)}
			}
		}, func(e entry) bool {
			hint := ""
			if right := optionSynonyms[e.name]; right != "" {
				e.meant = right
			} else if name, ok := canonical(e.name, resourceKeys); ok {
				hint = "`" + name + "` belongs one level up, beside `options`"
			} else if _, ok := canonical(e.name, timeoutKeys); ok {
				hint = "indent `" + e.name + "` under `customTimeouts`"
			}
			r.nodes.unknownKey(diag.Error, e, "the options", optionKeys, hint)
			return true
		})
	})
}

// shaped checks the value of an option against its shape if it is a literal. It reports a mismatch and returns an
// ast.Bad.
func (r *optionReader) shaped(e entry, name string, value ast.Expr, shape ast.OptionShape) ast.Expr {
	what := "`" + name + "`"
	kind := exprKind(value)
	wrong := func(e ast.Expr, what, want, detail string) ast.Expr {
		r.report.fail(diag.WrongKind, e.Range(), detail, "%s must be %s, found %s", what, want, exprKind(e))
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
			if e.value.Target().Kind == yamlnode.Scalar {
				detail = "put it in quotes: \"" + diag.Excerpt(e.value.Target().Value) + "\""
			}
			return wrong(value, what, "a string", detail)
		}
	case ast.TextsOption, ast.PathsOption:
		if kind == "a string" {
			r.portableList(e, name, value)
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

// portableList warns of a single string where other hosts require a list (L4.2).
func (r *optionReader) portableList(e entry, name string, value ast.Expr) {
	rng := value.Range()
	d := r.report.warn(diag.WrongKind, rng, "write `["+diag.Excerpt(rng.Text())+
		"]`; here one text counts as a list, other hosts refuse it",
		"`%s` is a list of strings", name)
	if n := e.value.Target(); n == e.value && n.Kind == yamlnode.Scalar && !strings.Contains(rng.Text(), "\n") &&
		!strings.ContainsAny(rng.Text(), "[]{},#") {
		d.Fixes = []diag.Fix{{Label: "Write a list", Edits: []diag.Edit{{Range: rng, Text: "[" + rng.Text() + "]"}}}}
	}
}

// timeouts reads the option customTimeouts (L4.13).
func (r *optionReader) timeouts(key ast.Literal, e entry) *ast.Timeouts {
	var t *ast.Timeouts
	r.nodes.section(e, "`customTimeouts`", func(n *yamlnode.Node, _ diag.Range) {
		t = &ast.Timeouts{Key: key}
		r.nodes.onlyFields(r.nodes.entries(n), "`customTimeouts`", timeoutKeys, func(name string, e entry) {
			value := present(r.exprs.expression(e))
			if value == nil {
				return
			}
			if kind := exprKind(value); kind != "" && kind != "a string" {
				r.report.fail(diag.WrongKind, value.Range(), "write a number with its unit, such as `5m` or `1h30m`",
					"the timeout `%s` must be a string, found %s", name, kind)
				value = bad(value.Range())
			}
			dst := map[string]**ast.Option{"create": &t.Create, "update": &t.Update, "delete": &t.Delete, "read": &t.Read}
			*dst[name] = &ast.Option{Key: ast.Literal{Value: name, Range: e.at}, Value: value}
		})
	})
	return t
}
