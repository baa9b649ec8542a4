package parser

import (
	"math"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// configSection reads declarations of configuration (L2.C). It omits those that the section hiding declares too
// (L2.26).
func (b *bodyReader) configSection(section, hiding *section, read itemReader) (declarations []*ast.Config) {
	for _, it := range b.items(section, read) {
		if hiding == nil || !hiding.declares(it.name.Value) {
			b.report.diags.Add(it.diags...)
			declarations = append(declarations, it.declaration.(*ast.Config))
		}
	}
	return declarations
}

func (b *bodyReader) configItem(e entry, name ast.Literal) item {
	c := configReader{exprs: b.exprs, nodes: b.nodes, report: b.report,
		config: &ast.Config{Name: name, Range: b.nodes.whole(e)}}
	return item{declaration: c.read(e)}
}

func (b *bodyReader) projectConfigItem(e entry, name ast.Literal) item {
	c := configReader{exprs: b.exprs, nodes: b.nodes, report: b.report, project: true,
		config: &ast.Config{Name: name, Range: b.nodes.whole(e)}}
	return item{declaration: c.read(e)}
}

func (b *bodyReader) inputItem(e entry, name ast.Literal) item {
	c := configReader{exprs: b.exprs, nodes: b.nodes, report: b.report, input: true,
		config: &ast.Config{Name: name, Range: b.nodes.whole(e)}}
	return item{declaration: c.read(e)}
}

// configReader reads one declaration of configuration.
type configReader struct {
	exprs  *exprReader
	nodes  *nodeReader
	report *findings
	config *ast.Config
	input  bool // it is an input of a component, which the stack's configuration cannot set
	// project reports whether the declaration is one of a project file, whose values are data (L2.17).
	project bool
}

func (r *configReader) read(e entry) *ast.Config {
	c := r.config
	r.nodes.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		switch {
		case n.Kind == yamlnode.Map:
			r.fieldsOfMap(n)
		case yamlnode.IsNull(n):
			r.needsType()
		case strings.Contains(c.Name.Value, ":"): // a value of another namespace is plain data (F3.4)
			c.Default = r.checkedDefault("value", r.exprs.data(e))
			r.meantSecret()
			r.warnLiteral(n, rng)
		case r.project:
			c.Default = r.checkedDefault("default", r.exprs.data(e))
		default: // a bare value is a default (L2.21)
			c.Default = r.checkedDefault("default", r.exprs.valueAt(n, rng, true))
		}
	})
	c.Unit = ast.NewUnit(c.Default)
	return c
}

// meantSecret makes a value that is data secret if a call of fn::secret is in it, which is no call there: its author
// means a secret. The reader of a project file does the same for that.
func (r *configReader) meantSecret() {
	ast.Walk(r.config.Default, func(e ast.Expr) bool {
		m, isMap := e.(*ast.Map)
		for i := 0; isMap && !r.project && i < len(m.Entries); i++ {
			key, isText := m.Entries[i].Key.(*ast.String)
			if isText && strings.EqualFold(key.Value, "fn::secret") {
				r.config.Secret = &ast.BoolLiteral{Value: true, Range: r.config.Name.Range}
			}
		}
		return true
	})
}

// warnLiteral warns of a value that looks like an expression: the Pulumi CLI passes it on as it stands (F3.4). The
// reader of a project file does the same for that.
func (r *configReader) warnLiteral(n *yamlnode.Node, rng diag.Range) {
	if !r.project && r.config.Name.Value != ast.NamingKey && n.Kind == yamlnode.Scalar && strings.Contains(n.Value, "${") {
		r.report.warn(diag.Ignored, rng, "write the value itself here, or leave it out and let each stack set it",
			"the value of `%s` is this text itself: nothing takes the place of `${…}`", diag.Excerpt(r.config.Name.Value))
	}
}

// needsType reports a declaration without a type, unless the stack has a value from which the type can be inferred.
func (r *configReader) needsType() {
	if !r.input && r.exprs.texts.scope.stackHas(keyOf(r.config)) {
		return
	}
	r.report.fail(diag.ConfigDefault, r.config.Name.Range, "add `type: string`, or a `default` that tells the type",
		"the configuration value `%s` needs a type or a default", diag.Excerpt(r.config.Name.Value))
}

// keyOf returns the name of the value in the stack's configuration.
func keyOf(c *ast.Config) string {
	if c.Key != nil {
		return c.Key.Value
	}
	return c.Name.Value
}

func (r *configReader) fieldsOfMap(n *yamlnode.Node) {
	c := r.config
	var typeEntry, items, value, defaultEntry *entry
	sound := r.nodes.fields(r.nodes.described(n), "a configuration value", configKeys, fieldReaders{
		"type":    func(e entry) { typeEntry = &e },
		"items":   func(e entry) { items = &e },
		"default": func(e entry) { defaultEntry = &e },
		"value": func(e entry) {
			value = &e
			r.nodes.with(e.value, e.via, r.warnLiteral)
		},
		"secret": func(e entry) { c.Secret = r.nodes.literalBool(e, "`secret`") },
		"optional": func(e entry) {
			r.nodes.extension(e.at, "the field `optional` of a configuration value")
			c.Optional = r.nodes.literalBool(e, "`optional`")
		},
		"name":        func(e entry) { c.Key = r.nodes.literalText(e, "`name`") },
		"description": func(e entry) { c.Description = r.nodes.plainText(e, "`description`") },
	})
	if typeEntry != nil {
		c.Type = r.nodes.configType(*typeEntry, items, 0)
	}
	switch {
	case defaultEntry != nil:
		n := defaultEntry.value.Target()
		live := !r.project || n.Kind == yamlnode.Map && len(n.Content) == 2 && isCall(n.Content[0].Value)
		c.Default = r.checkedDefault("default", r.exprs.value(defaultEntry.value, defaultEntry.via, live))
		if value != nil {
			d := r.report.fail(diag.ConfigDefault, value.at, "keep one of the two", "`%s` has both a default and a value",
				diag.Excerpt(c.Name.Value))
			d.Related = []diag.Related{{Range: defaultEntry.at, Message: "the default"}}
		}
	case value != nil:
		c.Default = r.checkedDefault("value", r.exprs.data(*value))
		r.meantSecret()
	case typeEntry == nil && c.Optional == nil && sound:
		r.needsType()
	}
	if c.Secret.IsTrue() {
		ast.HideTexts(c.Default)
	}
}

// checkedDefault checks a literal against the declared type or, without one, that the type can be inferred from it
// (L2.22, L2.23). It reports a fault and returns an ast.Bad. Values that are not literals are left to the checker.
// field is the field that has the value: default or value.
func (r *configReader) checkedDefault(field string, value ast.Expr) ast.Expr {
	if r.config.Type == nil {
		if list, ok := value.(*ast.List); ok {
			return r.homogeneous(field, list)
		}
		return value
	}
	written := value
	if r.project {
		value = textAs(r.config.Type, value)
	}
	if wrong, found := mismatch(r.config.Type, value); found {
		verb, kind := "is", exprKind(wrong)
		if wrong != value {
			verb = "holds"
		}
		if number, ok := wrong.(*ast.Number); ok && number.Value != math.Trunc(number.Value) {
			kind = "a number with a fraction"
		}
		advice := ""
		switch {
		case wrong != value:
		case r.config.Type.Name == "boolean":
			advice = "write `true` or `false`"
		case r.config.Type.Name == "string" && (kind == "a number" || kind == "a boolean"):
			advice = "write it in quotes"
		}
		r.report.fail(diag.ConfigDefault, wrong.Range(), advice, "the %s of `%s` %s %s, its type is %s", field,
			diag.Excerpt(r.config.Name.Value), verb, kind, r.config.Type)
		return bad(written.Range())
	}
	return value
}

// homogeneous returns the list, or reports an error and returns an ast.Bad if its items are of several kinds.
func (r *configReader) homogeneous(field string, list *ast.List) ast.Expr {
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
			r.report.fail(diag.ConfigDefault, item.Range(), "give it a type, such as `type: list<any>`",
				"the items of the %s of `%s` are of several kinds: %s and %s", field, diag.Excerpt(r.config.Name.Value), first,
				kind)
			return bad(list.Range())
		}
	}
	return list
}
