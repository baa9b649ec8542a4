package parser

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// dynamicItem reads a type whose provider is a source file in the program's folder (D15), an extension of yamlhost.
func (b *bodyReader) dynamicItem(e entry, name ast.Literal) item {
	return item{declaration: dynamicReader{b.exprs, b.nodes, b.report}.read(e, name)}
}

// dynamicReader reads one type whose provider is a source file.
type dynamicReader struct {
	exprs  *exprReader
	nodes  *nodeReader
	report *findings
}

func (r dynamicReader) read(e entry, name ast.Literal) *ast.Dynamic {
	d := &ast.Dynamic{Name: name, Range: r.nodes.whole(e)}
	if strings.ContainsAny(name.Value, ":/ ") || name.Value == "" {
		r.report.fail(diag.BadTypeToken, name.Range, "use letters and digits, such as `Label`", "`%s` cannot be the name of a type",
			diag.Excerpt(name.Value))
	}
	r.nodes.section(e, "the dynamic type `"+diag.Excerpt(e.name)+"`", func(n *yamlnode.Node, _ diag.Range) {
		r.nodes.fields(r.nodes.described(n), "a dynamic type", dynamicKeys, fieldReaders{
			"provider": func(e entry) {
				d.Provider = r.nodes.literalText(e, "`provider`")
				r.report.slash(d.Provider)
			},
			"description": func(e entry) { d.Description = r.nodes.plainText(e, "`description`") },
			"inputs":      func(e entry) { d.Inputs = r.properties(e, "an input", dynamicInputKeys) },
			"outputs":     func(e entry) { d.Outputs = r.properties(e, "an output", dynamicOutputKeys) },
			"onCodeChange": func(e entry) {
				d.OnCodeChange = r.nodes.choice(e, "`onCodeChange`", codeChanges, "it must be ignore, update or replace",
					"`onCodeChange` cannot be `%s`")
			},
			"env": func(e entry) { d.Env = r.nodes.literals(e, "`env`", "the name of an environment variable") },
		})
	})
	if d.Provider == nil {
		r.report.fail(diag.RequiredMissing, name.Range,
			"add `provider: ./file.ts`, or a file that ends in .js, .mjs, .cjs, .mts or .py",
			"the dynamic type `%s` needs a provider", diag.Excerpt(name.Value))
	}
	return d
}

// properties reads a section of properties; keys holds the fields of each.
func (r dynamicReader) properties(section entry, what string, keys []string) *ast.DynamicProperties {
	p := &ast.DynamicProperties{Range: section.at}
	r.nodes.section(section, "`"+section.name+"`", func(n *yamlnode.Node, _ diag.Range) {
		for _, e := range r.nodes.entries(n) {
			p.List = append(p.List, r.property(e, what, keys))
		}
	})
	return p
}

func (r dynamicReader) property(e entry, what string, keys []string) *ast.DynamicProperty {
	name := ast.Literal{Value: e.name, Range: e.at}
	d := &ast.DynamicProperty{Name: name}
	r.nodes.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		if isText(n) { // a type without other fields
			d.Type = r.nodes.configType(e, nil, 0)
			return
		}
		r.nodes.section(e, what, func(n *yamlnode.Node, _ diag.Range) {
			var typeEntry, items *entry
			readers := fieldReaders{
				"type":        func(e entry) { typeEntry = &e },
				"items":       func(e entry) { items = &e },
				"default":     func(e entry) { d.Default = r.exprs.expression(e) },
				"secret":      func(e entry) { d.Secret = r.nodes.literalBool(e, "`secret`") },
				"optional":    func(e entry) { d.Optional = r.nodes.literalBool(e, "`optional`") },
				"replace":     func(e entry) { d.Replace = r.nodes.literalBool(e, "`replace`") },
				"stable":      func(e entry) { d.Stable = r.nodes.literalBool(e, "`stable`") },
				"description": func(e entry) { d.Description = r.nodes.plainText(e, "`description`") },
			}
			for _, rule := range valueRules {
				readers[rule] = func(e entry) {
					d.Rules = append(d.Rules, ast.Property{Name: ast.Literal{Value: rule, Range: e.at},
						Value: r.exprs.data(e)})
				}
			}
			r.nodes.fields(r.nodes.entries(n), what, keys, readers)
			if typeEntry != nil {
				d.Type = r.nodes.configType(*typeEntry, items, 0)
			}
		})
	})
	if d.Secret.IsTrue() {
		ast.HideTexts(d.Default)
	}
	if d.Type != nil && d.Default != nil {
		if wrong, found := mismatch(d.Type, d.Default); found {
			r.report.fail(diag.ConfigDefault, wrong.Range(), "", "the default of `%s` is %s, its type is %s", diag.Excerpt(name.Value),
				exprKind(wrong), d.Type)
			d.Default = bad(wrong.Range())
		}
	}
	return d
}
