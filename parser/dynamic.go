package parser

import (
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var (
	dynamicKeys       = []string{"provider", "description", "inputs", "outputs", "onCodeChange", "env"}
	dynamicInputKeys  = []string{"type", "items", "default", "secret", "optional", "replace", "description"}
	dynamicOutputKeys = []string{"type", "items", "secret", "stable", "description"}
	codeChanges       = []string{"ignore", "update", "replace"}
)

// dynamicSection reads types whose provider is a source file beside the program (D15), an extension of yamlhost.
func (p *parser) dynamicSection(section *entry) (types []*ast.Dynamic) {
	for _, it := range p.items(section, (*parser).dynamicType) {
		p.diags.Add(it.diags...)
		types = append(types, it.dynamic)
	}
	return types
}

func (p *parser) dynamicType(e entry, name ast.Literal) item {
	d := &ast.Dynamic{Name: name, Range: p.whole(e)}
	if strings.ContainsAny(name.Value, ":/ ") || name.Value == "" {
		p.fail(diag.BadTypeToken, name.Range, "use letters and digits, such as `Label`", "`%s` cannot be the name of a type",
			shorten(name.Value))
	}
	p.section(e, "the dynamic type `"+shorten(e.name)+"`", func(n *node, _ diag.Range) {
		p.fieldsOf(p.described(n), dynamicKeys, nil, func(key string, e entry) {
			switch key {
			case "provider":
				d.Provider = p.literalText(e, "`provider`")
			case "description":
				d.Description = p.plainText(e, "`description`")
			case "inputs":
				d.Inputs = &ast.DynamicProperties{Range: e.at, List: p.dynamicProperties(e, "an input", dynamicInputKeys)}
			case "outputs":
				d.Outputs = &ast.DynamicProperties{Range: e.at, List: p.dynamicProperties(e, "an output", dynamicOutputKeys)}
			case "onCodeChange":
				d.OnCodeChange = p.codeChange(e)
			case "env":
				d.Env = p.literals(e, "`env`", "the name of an environment variable")
			}
		}, func(e entry) bool { p.unknownKey(diag.Error, e, "a dynamic type", dynamicKeys, ""); return true })
	})
	if d.Provider == nil {
		p.fail(diag.RequiredMissing, name.Range,
			"add `provider: ./file.ts`, or a file that ends in .js, .mjs, .cjs, .mts or .py",
			"the dynamic type `%s` needs a provider", shorten(name.Value))
	}
	return item{dynamic: d}
}

func (p *parser) codeChange(e entry) *ast.Literal {
	literal := p.literalText(e, "`onCodeChange`")
	if literal == nil {
		return nil
	}
	for _, known := range codeChanges {
		if literal.Value == known {
			return literal
		}
	}
	detail := "it is ignore, update or replace"
	if near := diag.Suggest(literal.Value, codeChanges); len(near) > 0 {
		detail = "did you mean " + anyOf(near) + "?"
	}
	p.fail(diag.NotInEnum, literal.Range, detail, "`onCodeChange` cannot be `%s`", shorten(literal.Value))
	return nil
}

func (p *parser) dynamicProperties(section entry, what string, keys []string) (list []*ast.DynamicProperty) {
	p.section(section, "`"+section.name+"`", func(n *node, _ diag.Range) {
		for _, e := range p.entries(n) {
			list = append(list, p.dynamicProperty(e, what, keys))
		}
	})
	return list
}

func (p *parser) dynamicProperty(e entry, what string, keys []string) *ast.DynamicProperty {
	name := ast.Literal{Value: e.name, Range: e.at}
	d := &ast.DynamicProperty{Name: name}
	p.with(e.value, e.via, func(n *node, at diag.Range) {
		if isText(n) { // the type alone
			d.Type = p.configType(e, nil)
			return
		}
		p.section(e, what, func(n *node, _ diag.Range) {
			var typeEntry, items *entry
			p.fields(n, keys, func(key string, e entry) {
				switch key {
				case "type":
					typeEntry = &e
				case "items":
					items = &e
				case "default":
					d.Default = p.expression(e)
				case "secret":
					d.Secret = p.literalBool(e, "`secret`")
				case "optional":
					d.Optional = p.literalBool(e, "`optional`")
				case "replace":
					d.Replace = p.literalBool(e, "`replace`")
				case "stable":
					d.Stable = p.literalBool(e, "`stable`")
				case "description":
					d.Description = p.plainText(e, "`description`")
				}
			}, func(e entry) { p.unknownKey(diag.Error, e, what, keys, "") })
			if typeEntry != nil {
				d.Type = p.configType(*typeEntry, items)
			}
		})
	})
	if d.Type != nil && d.Default != nil {
		if wrong, found := mismatch(d.Type, d.Default); found {
			p.fail(diag.ConfigDefault, wrong.Range(), "", "the default of `%s` is %s, its type is %s", shorten(name.Value),
				exprKind(wrong), d.Type)
			d.Default = bad(wrong.Range())
		}
	}
	return d
}
