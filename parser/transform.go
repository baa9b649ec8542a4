package parser

import (
	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var (
	transformKeys = []string{"match", "when", "properties", "replace", "arguments", "options"}
	matchKeys     = []string{"type", "name", "custom", "function"}
	// fixedOptions cannot be changed once a resource is about to be registered.
	fixedOptions = map[string]string{"parent": "a transform cannot move a resource to another parent",
		"transforms": "a transform cannot add transforms", "envVarMappings": "write the option on the provider itself"}
)

// transformsName is the section and the option of transforms; transformationsName is the older word for it.
const (
	transformsName      = "transforms"
	transformationsName = "transformations"
)

// transformList reads the section or option `transforms` (L10.C17), an extension of yamlhost. stack says that it is the
// section, which may be about function calls too.
func (p *parser) transformList(e entry, stack bool) (list []*ast.Transform) {
	if e.name == transformationsName {
		d := p.warn(diag.Deprecated, e.at, "", "`transformations` is the older word: write `transforms`")
		d.Fixes = e.renamed(transformsName)
	}
	p.extension(e.at, "`transforms`")
	p.with(e.value, e.via, func(n *node, at diag.Range) {
		switch {
		case n.Kind == yaml.SequenceNode:
			for _, item := range n.Content {
				list = append(list, p.transform(entry{key: item, value: item, at: p.span(item), name: "a transform", p: p}, stack))
			}
		case n.Kind == yaml.MappingNode:
			p.wrongKind(n, at, "`transforms`", "a list", "write a dash before each transform: `- match: …`")
		case !empty(n):
			p.wrongKind(n, at, "`transforms`", "a list", "")
		}
	})
	return list
}

func (p *parser) transform(e entry, stack bool) *ast.Transform {
	t := &ast.Transform{Range: e.at, Key: e.at}
	p.section(e, "a transform", func(n *node, at diag.Range) {
		t.Range = at
		fields := p.entries(n)
		if len(fields) > 0 {
			t.Key = fields[0].at
		}
		found := map[string]entry{}
		p.fieldsOf(fields, transformKeys, nil, func(key string, e entry) { found[key] = e },
			func(e entry) bool { p.unknownKey(diag.Error, e, "a transform", transformKeys, ""); return true })
		if match, ok := found["match"]; ok {
			t.Match = p.transformMatch(match)
		}
		t.Arguments = len(t.Match.Functions) > 0
		if t.Arguments && !stack {
			p.fail(diag.UnknownKey, t.Match.Functions[0].Range, "move the transform to the section `transforms` of the program",
				"transforms of a resource cannot change function calls")
		}
		p.alsoDeclared("args", func() { p.transformBody(t, found) })
		p.wrongSide(t, found)
	})
	return t
}

// transformBody reads what may use `args`.
func (p *parser) transformBody(t *ast.Transform, found map[string]entry) {
	if e, ok := found["when"]; ok {
		t.When = p.present(p.expression(e))
	}
	merge := "properties"
	if t.Arguments {
		merge = "arguments"
	}
	if e, ok := found[merge]; ok {
		t.MergeKey = e.at
		t.Merge = p.present(p.expression(e))
		if kind := exprKind(t.Merge); kind != "" && kind != "a map" {
			p.fail(diag.WrongKind, t.Merge.Range(), "", "`%s` must be a map, found %s", merge, kind)
			t.Merge = bad(t.Merge.Range())
		}
	}
	if e, ok := found["replace"]; ok {
		t.Replace = p.literalBool(e, "`replace`")
	}
	if e, ok := found["options"]; ok {
		p.transformOptions(t, e)
	}
	if t.Merge == nil && t.Options.Range.IsZero() {
		p.fail(diag.RequiredMissing, t.Key, "add `"+merge+"` or `options`", "this transform changes nothing")
	}
}

// transformOptions reads the options that a transform sets.
func (p *parser) transformOptions(t *ast.Transform, e entry) {
	p.optionBlock(&t.Options, e)
	for _, option := range []*ast.Option{t.Options.Parent, t.Options.EnvVarMappings} {
		if option != nil {
			p.fail(diag.UnknownKey, option.Key.Range, fixedOptions[option.Key.Value], "a transform cannot set the option `%s`",
				option.Key.Value)
		}
	}
	t.Options.Parent, t.Options.EnvVarMappings = nil, nil
	if list := t.Options.Transforms; len(list) > 0 {
		p.fail(diag.UnknownKey, list[0].Key, fixedOptions[transformsName], "a transform cannot set the option `transforms`")
		t.Options.Transforms = nil
	}
	if !t.Arguments {
		return
	}
	t.Options.Each(func(o *ast.Option) {
		switch o.Key.Value {
		case "provider", "version", "pluginDownloadURL":
		default:
			p.fail(diag.UnknownKey, o.Key.Range, "a function call has the options `provider`, `version` and `pluginDownloadURL`",
				"a function call has no option `%s`", o.Key.Value)
		}
	})
}

// wrongSide reports fields of the other kind of transform.
func (p *parser) wrongSide(t *ast.Transform, found map[string]entry) {
	report := func(key, detail string) {
		if e, ok := found[key]; ok {
			p.fail(diag.UnknownKey, e.at, detail, "`%s` has no place in this transform", key)
		}
	}
	if t.Arguments {
		report("properties", "function calls have `arguments`")
		for _, other := range [][]ast.Literal{t.Match.Types, t.Match.Names} {
			if len(other) > 0 {
				p.fail(diag.UnknownKey, other[0].Range, "write two transforms",
					"a transform is for resources or for function calls, not for both")
			}
		}
		return
	}
	report("arguments", "add `function` to `match`; resources have `properties`")
}

func (p *parser) transformMatch(e entry) (m ast.TransformMatch) {
	m.Range = e.at
	p.section(e, "`match`", func(n *node, at diag.Range) {
		m.Range = at
		p.fields(n, matchKeys, func(key string, e entry) {
			switch key {
			case "type":
				m.Types = p.literals(e, "`type`", "a type, where `*` stands for any text")
			case "name":
				m.Names = p.literals(e, "`name`", "a name, where `*` stands for any text")
			case "custom":
				m.Custom = p.literalBool(e, "`custom`")
			case "function":
				m.Functions = p.literals(e, "`function`", "a function, where `*` stands for any text")
			}
		}, func(e entry) { p.unknownKey(diag.Error, e, "`match`", matchKeys, "") })
	})
	return m
}
