package parser

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var (
	dynamicKeys       = []string{"provider", "description", "inputs", "outputs", "onCodeChange", "env"}
	dynamicInputKeys  = []string{"type", "items", "default", "secret", "optional", "replace", "description"}
	dynamicOutputKeys = []string{"type", "items", "secret", "stable", "description"}
	codeChanges       = []string{"ignore", "update", "replace"}
)

// dynamicItem reads a type whose provider is a source file in the program's folder (D15), an extension of yamlhost.
func (b *bodyReader) dynamicItem(e entry, name ast.Literal) item {
	return item{declaration: dynamicReader{b.exprReader}.read(e, name)}
}

// dynamicReader reads one type whose provider is a source file.
type dynamicReader struct{ *exprReader }

func (r dynamicReader) read(e entry, name ast.Literal) *ast.Dynamic {
	d := &ast.Dynamic{Name: name, Range: r.whole(e)}
	if strings.ContainsAny(name.Value, ":/ ") || name.Value == "" {
		r.fail(diag.BadTypeToken, name.Range, "use letters and digits, such as `Label`", "`%s` cannot be the name of a type",
			diag.Excerpt(name.Value))
	}
	r.section(e, "the dynamic type `"+diag.Excerpt(e.name)+"`", func(n *yamlnode.Node, _ diag.Range) {
		r.fields(r.described(n), "a dynamic type", dynamicKeys, fieldReaders{
			"provider":    func(e entry) { d.Provider = r.literalText(e, "`provider`") },
			"description": func(e entry) { d.Description = r.plainText(e, "`description`") },
			"inputs":      func(e entry) { d.Inputs = r.properties(e, "an input", dynamicInputKeys) },
			"outputs":     func(e entry) { d.Outputs = r.properties(e, "an output", dynamicOutputKeys) },
			"onCodeChange": func(e entry) {
				d.OnCodeChange = r.choice(e, "`onCodeChange`", codeChanges, "it must be ignore, update or replace",
					"`onCodeChange` cannot be `%s`")
			},
			"env": func(e entry) { d.Env = r.literals(e, "`env`", "the name of an environment variable") },
		})
	})
	if d.Provider == nil {
		r.fail(diag.RequiredMissing, name.Range,
			"add `provider: ./file.ts`, or a file that ends in .js, .mjs, .cjs, .mts or .py",
			"the dynamic type `%s` needs a provider", diag.Excerpt(name.Value))
	}
	return d
}

// properties reads a section of properties; keys holds the fields of each.
func (r dynamicReader) properties(section entry, what string, keys []string) *ast.DynamicProperties {
	p := &ast.DynamicProperties{Range: section.at}
	r.section(section, "`"+section.name+"`", func(n *yamlnode.Node, _ diag.Range) {
		for _, e := range r.entries(n) {
			p.List = append(p.List, r.property(e, what, keys))
		}
	})
	return p
}

func (r dynamicReader) property(e entry, what string, keys []string) *ast.DynamicProperty {
	name := ast.Literal{Value: e.name, Range: e.at}
	d := &ast.DynamicProperty{Name: name}
	r.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		if isText(n) { // a type without other fields
			d.Type = r.configType(e, nil, 0)
			return
		}
		r.section(e, what, func(n *yamlnode.Node, _ diag.Range) {
			var typeEntry, items *entry
			readers := fieldReaders{
				"type":        func(e entry) { typeEntry = &e },
				"items":       func(e entry) { items = &e },
				"default":     func(e entry) { d.Default = r.expression(e) },
				"secret":      func(e entry) { d.Secret = r.literalBool(e, "`secret`") },
				"optional":    func(e entry) { d.Optional = r.literalBool(e, "`optional`") },
				"replace":     func(e entry) { d.Replace = r.literalBool(e, "`replace`") },
				"stable":      func(e entry) { d.Stable = r.literalBool(e, "`stable`") },
				"description": func(e entry) { d.Description = r.plainText(e, "`description`") },
			}
			for _, rule := range valueRules {
				readers[rule] = func(e entry) {
					d.Rules = append(d.Rules, ast.Property{Name: ast.Literal{Value: rule, Range: e.at}, Value: r.data(e)})
				}
			}
			r.fields(r.entries(n), what, keys, readers)
			if typeEntry != nil {
				d.Type = r.configType(*typeEntry, items, 0)
			}
		})
	})
	if d.Type != nil && d.Default != nil {
		if wrong, found := mismatch(d.Type, d.Default); found {
			r.fail(diag.ConfigDefault, wrong.Range(), "", "the default of `%s` is %s, its type is %s", diag.Excerpt(name.Value),
				exprKind(wrong), d.Type)
			d.Default = bad(wrong.Range())
		}
	}
	return d
}
