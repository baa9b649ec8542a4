package parser

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var (
	transformKeys = []string{"match", "when", "properties", "replace", "arguments", "options"}
	matchKeys     = []string{"type", "name", "custom", "function"}
	// fixedOptions maps options that a transform cannot set to advice.
	fixedOptions = map[string]string{"parent": "a transform cannot move a resource to another parent",
		"transforms": "a transform cannot add transforms", "envVarMappings": "write the option on the provider itself"}
)

// transformList reads the section or option `transforms` (L10.C17), an extension of yamlhost. stack reports whether it
// is the section, in which transforms may apply to function calls too.
func transformList(x *exprReader, e entry, stack bool) (list []*ast.Transform) {
	if e.name == transformationsName {
		d := x.report.warn(diag.Deprecated, e.at, "", "`transformations` is the old name: write `transforms`")
		d.Fixes = e.renamed(transformsName)
	}
	x.nodes.extension(e.at, "`transforms`")
	x.nodes.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		switch {
		case n.Kind == yamlnode.List:
			for _, item := range n.Content {
				rng := x.text.Span(item)
				r := &transformReader{exprs: x, nodes: x.nodes, report: x.report, ofProgram: stack,
					transform: &ast.Transform{Range: rng, Key: rng}}
				r.read(entry{key: item, value: item, at: rng, name: "a transform", from: x.nodes})
				list = append(list, r.transform)
			}
		case n.Kind == yamlnode.Map:
			x.nodes.wrongKind(n, rng, "`transforms`", "a list", "write a dash before each transform: `- match: …`")
		case !yamlnode.IsNull(n):
			x.nodes.wrongKind(n, rng, "`transforms`", "a list", "")
		}
	})
	return list
}

// transformReader reads one transform.
type transformReader struct {
	exprs     *exprReader
	nodes     *nodeReader
	report    *findings
	transform *ast.Transform
	found     map[string]*entry // the fields of the transform
	ofProgram bool              // in the section of the program rather than the options of a resource
}

func (r *transformReader) read(e entry) {
	t := r.transform
	r.nodes.section(e, "a transform", func(n *yamlnode.Node, rng diag.Range) {
		t.Range = rng
		fields := r.nodes.entries(n)
		if len(fields) > 0 {
			t.Key = fields[0].at
		}
		r.found = r.nodes.gather(fields, "a transform", transformKeys)
		if match := r.found["match"]; match != nil {
			t.Match = r.nodes.matchBlock(*match, matchKeys)
		}
		t.Arguments = len(t.Match.Functions) > 0
		if t.Arguments && !r.ofProgram {
			r.report.fail(diag.UnknownKey, t.Match.Functions[0].Range, "move the transform to the section `transforms` of the program",
				"transforms of a resource cannot change function calls")
		}
		r.exprs.texts.scope.also(r.body, "args")
		r.wrongSide()
	})
}

// body reads the fields that may refer to `args`.
func (r *transformReader) body() {
	t, found := r.transform, r.found
	if e := found["when"]; e != nil {
		t.When = present(r.exprs.expression(*e))
	}
	merge := "properties"
	if t.Arguments {
		merge = "arguments"
	}
	if e := found[merge]; e != nil {
		t.Merge = present(r.exprs.expression(*e))
		if kind := exprKind(t.Merge); kind != "" && kind != "a map" {
			r.report.fail(diag.WrongKind, t.Merge.Range(), "", "`%s` must be a map, found %s", merge, kind)
			t.Merge = bad(t.Merge.Range())
		}
	}
	if e := found["replace"]; e != nil {
		t.Replace = r.nodes.literalBool(*e, "`replace`")
	}
	if e := found["options"]; e != nil {
		r.options(*e)
	}
	if t.Merge == nil && t.Options.Range.IsZero() {
		r.report.fail(diag.RequiredMissing, t.Key, "add `"+merge+"` or `options`", "this transform changes nothing")
	}
}

// options reads the options that a transform sets.
func (r *transformReader) options(e entry) {
	t := r.transform
	(&optionReader{r.exprs, r.nodes, r.report, &t.Options}).read(e)
	for _, option := range []*ast.Option{t.Options.Parent, t.Options.EnvVarMappings} {
		if option != nil {
			r.report.fail(diag.UnknownKey, option.Key.Range, fixedOptions[option.Key.Value], "a transform cannot set the option `%s`",
				option.Key.Value)
		}
	}
	t.Options.Parent, t.Options.EnvVarMappings = nil, nil
	if list := t.Options.Transforms; len(list) > 0 {
		r.report.fail(diag.UnknownKey, list[0].Key, fixedOptions[transformsName], "a transform cannot set the option `transforms`")
		t.Options.Transforms = nil
	}
	if !t.Arguments {
		return
	}
	t.Options.Each(func(o *ast.Option) {
		switch o.Key.Value {
		case "provider", "version", "pluginDownloadURL":
		default:
			r.report.fail(diag.UnknownKey, o.Key.Range, "a function call has the options `provider`, `version` and `pluginDownloadURL`",
				"a function call has no option `%s`", o.Key.Value)
		}
	})
}

// wrongSide reports fields that only the other kind of transform may have.
func (r *transformReader) wrongSide() {
	t, found := r.transform, r.found
	report := func(key, detail string) {
		if e, ok := found[key]; ok {
			r.report.fail(diag.UnknownKey, e.at, detail, "`%s` is not allowed in this transform", key)
		}
	}
	if t.Arguments {
		report("properties", "function calls have `arguments`")
		for _, other := range [][]ast.Literal{t.Match.Types, t.Match.Names} {
			if len(other) > 0 {
				r.report.fail(diag.UnknownKey, other[0].Range, "write two transforms",
					"a transform is for resources or for function calls, not for both")
			}
		}
		return
	}
	report("arguments", "add `function` to `match`; resources have `properties`")
}

// matchBlock reads a block `match` whose fields are keys, a subset of matchKeys.
func (r *nodeReader) matchBlock(e entry, keys []string) (m ast.TransformMatch) {
	m.Range = e.at
	r.section(e, "`match`", func(n *yamlnode.Node, rng diag.Range) {
		m.Range = rng
		patterns := func(e entry, field string) []ast.Literal {
			return r.literals(e, "`"+field+"`", "a "+field+" pattern, where `*` matches any text")
		}
		r.fields(r.entries(n), "`match`", keys, fieldReaders{
			"type":     func(e entry) { m.Types = patterns(e, "type") },
			"name":     func(e entry) { m.Names = patterns(e, "name") },
			"custom":   func(e entry) { m.Custom = r.literalBool(e, "`custom`") },
			"function": func(e entry) { m.Functions = patterns(e, "function") },
		})
	})
	return m
}

var (
	messageKeys   = []string{"level", "message", "resource", "if"}
	messageLevels = []string{"debug", "info", "warning", "error"}
)

// messageList reads the section `messages` (L10.C20), an extension of yamlhost. An item may be just the text.
func (b *bodyReader) messageList(e entry) (list []*ast.Message) {
	b.nodes.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		if n.Kind != yamlnode.List {
			if !yamlnode.IsNull(n) {
				b.nodes.wrongKind(n, rng, "`messages`", "a list", "write a dash before each message: `- message: …`")
			}
			return
		}
		for _, item := range n.Content {
			m := b.message(entry{key: item, value: item, at: b.text.Span(item), name: "a message", from: b.nodes})
			m.Number()
			list = append(list, m)
		}
	})
	return list
}

func (b *bodyReader) message(e entry) *ast.Message {
	m := &ast.Message{Range: e.at}
	if isText(e.value.Target()) {
		m.Text = b.exprs.expression(e)
		return m
	}
	b.nodes.section(e, "a message", func(n *yamlnode.Node, rng diag.Range) {
		m.Range = rng
		b.nodes.fields(b.nodes.entries(n), "a message", messageKeys, fieldReaders{
			"level": func(e entry) {
				m.Level = b.nodes.choice(e, "`level`", messageLevels, "it is "+listing(messageLevels, " or "),
					"there is no level `%s`")
			},
			"message":  func(e entry) { m.Text = present(b.exprs.expression(e)) },
			"resource": func(e entry) { m.Resource = present(b.exprs.expression(e)) },
			"if":       func(e entry) { m.If = present(b.exprs.expression(e)) },
		})
	})
	if m.Text == nil {
		b.report.fail(diag.RequiredMissing, m.Range, "add `message: …`", "this message has no text")
	}
	return m
}
