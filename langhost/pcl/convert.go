package pcl

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Module is a program in PCL. Each component is in a folder of its own.
type Module struct {
	Files map[string]string // text by path, with slashes
}

// Convert translates a program to PCL, which Pulumi's tools translate to other languages. A construct that PCL lacks is
// an error.
func Convert(ctx context.Context, file *ast.File, o Options) (Module, diag.Diagnostics) {
	c := &converter{
		ctx: ctx, options: o, own: map[string]*ast.Component{}, errorHooks: map[string]bool{},
		commented: map[textLine]bool{}, trailed: map[textLine]bool{},
	}
	for _, component := range file.Components {
		token := "components:index:" + component.Name.Value
		if component.Token != nil {
			token = component.Token.Value
		}
		for _, spelling := range []string{token, strings.Replace(token, ":index:", ":", 1)} {
			c.own[spelling] = component
		}
	}
	m := Module{Files: map[string]string{}}
	p := &printer{converter: c}
	p.comment(c.header(file.Source))
	p.packages(o)
	if file.RequiredVersion != nil {
		p.open("pulumi", c.notes(diag.Range{}, file.RequiredVersion)...)
		p.attribute("requiredVersionRange", p.expr(file.RequiredVersion))
		p.close()
	}
	for _, r := range file.Resources {
		c.hookKinds(&r.Options)
	}
	p.config(file.Config)
	for _, h := range file.Hooks {
		p.hook(h)
	}
	p.body(file.Variables, file.Resources, file.Outputs, "./")
	m.Files["main.pp"] = p.out.String()
	for _, component := range file.Components {
		if isEmpty(component) {
			continue
		}
		p := &printer{converter: c}
		p.comment(c.componentNotes(component))
		if component.RequiredVersion != nil {
			c.fail(component.RequiredVersion.Range(), "a component in PCL cannot require a version")
		}
		p.config(component.Config)
		p.body(component.Variables, component.Resources, component.Outputs, "../")
		if _, err := confine.NewName("a component", component.Name.Value); err != nil {
			c.fail(component.Name.Range, "%s", err)
			continue
		}
		m.Files[component.Name.Value+"/main.pp"] = p.out.String()
		if component.Token != nil && component.Token.Value != "components:index:"+component.Name.Value {
			c.fail(component.Token.Range, "a component in PCL has the type components:index:%s", component.Name.Value)
		}
	}
	return m, c.diags
}

// isEmpty reports whether a component has only a token and inputs, as emptyComponent declares it.
func isEmpty(c *ast.Component) bool {
	return c.Token != nil && len(c.Resources) == 0 && len(c.Variables) == 0 && len(c.Outputs) == 0
}

// converter is one run of Convert.
type converter struct {
	ctx     context.Context
	options Options
	diags   diag.Diagnostics
	own     map[string]*ast.Component // by token

	errorHooks map[string]bool // the hooks of the kind error; all others are of the kind resource

	commented, trailed map[textLine]bool // lines whose comments above, or behind, are already returned
}

func (c *converter) fail(rng diag.Range, format string, args ...any) {
	c.diags.Add(diag.Diagnostic{Code: diag.Syntax, Subject: rng, Summary: fmt.Sprintf(format, args...)})
}

// hookKinds records the hooks of the kind error.
func (c *converter) hookKinds(o *ast.Options) {
	if o.Hooks == nil {
		return
	}
	for kind, names := range hookLists(o.Hooks.Value) {
		for _, name := range names {
			c.errorHooks[name] = c.errorHooks[name] || kind == "onError"
		}
	}
}

// hookLists yields the kinds of hooks in the value of the option hooks, with the names of the hooks.
func hookLists(option ast.Expr) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		kinds, _ := option.(*ast.Map)
		if kinds == nil {
			return
		}
		for _, e := range kinds.Entries {
			items := []ast.Expr{e.Value}
			if list, ok := e.Value.(*ast.List); ok {
				items = list.Items
			}
			var names []string
			for _, item := range items {
				if name, ok := item.(*ast.String); ok {
					names = append(names, name.Value)
				}
			}
			if kind, ok := e.Key.(*ast.String); ok && !yield(kind.Value, names) {
				return
			}
		}
	}
}

// printer writes one file.
type printer struct {
	*converter
	out    strings.Builder
	indent int

	numbers  map[string]bool // names of numeric configuration values and variables
	counting bool            // in a resource whose forEach is a number: PCL has only range.value there, no range.key
}

func (p *printer) line(text string) {
	p.out.WriteString(strings.Repeat("  ", p.indent) + text + "\n")
}

func (p *printer) open(head string, comment ...string) {
	if p.indent == 0 && p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
	p.comment(comment)
	p.line(head + " {")
	p.indent++
}

func (p *printer) close() {
	p.indent--
	p.line("}")
}

func (p *printer) attribute(name, text string, comment ...string) {
	p.comment(comment)
	p.line(name + " = " + text)
}

func (p *printer) comment(lines []string) {
	for _, text := range lines {
		p.line(strings.TrimRight("# "+text, " "))
	}
}

// name returns a name. It is an error if the name is not valid in PCL.
func (p *printer) name(n ast.Literal, what string) string {
	if !hclsyntax.ValidIdentifier(n.Value) {
		p.fail(n.Range, "%s cannot be the name of a %s in PCL", n.Value, what)
	}
	return n.Value
}

func (p *printer) packages(o Options) {
	for _, name := range slices.Sorted(maps.Keys(o.Packages)) {
		d := o.Packages[name]
		q := d.Parameterization
		if q == nil || o.Used != nil && !o.Used[q.Name] {
			continue
		}
		p.open("package " + literal.Quoted(q.Name))
		p.attribute("baseProviderName", literal.Quoted(d.Name))
		p.attribute("baseProviderVersion", literal.Quoted(d.Version))
		if d.DownloadURL != "" {
			p.attribute("baseProviderDownloadUrl", literal.Quoted(d.DownloadURL))
		}
		p.open("parameterization")
		p.attribute("name", literal.Quoted(q.Name))
		p.attribute("version", literal.Quoted(q.Version))
		p.attribute("value", literal.Quoted(base64.StdEncoding.EncodeToString(q.Value)))
		p.close()
		p.close()
	}
}

// config declares configuration. What belongs to another namespace than the project's is no part of a program in PCL:
// it stays in the project file.
func (p *printer) config(declarations []*ast.Config) {
	for _, c := range declarations {
		if strings.Contains(c.Name.Value, ":") {
			continue
		}
		_, number := c.Default.(*ast.Number)
		if c.Type != nil {
			number = c.Type.Name == "number" || c.Type.Name == "integer"
		}
		p.note(c.Name.Value, number)
		head := "config " + literal.Quoted(p.name(c.Name, "configuration value"))
		if c.Type != nil {
			if text := typeOf(c.Type); text != "" {
				head += " " + literal.Quoted(text)
			}
		}
		comment := p.notes(c.Name.Range)
		if c.Type != nil {
			comment = append(comment, p.literalNotes(c.Type.Range)...)
		}
		p.open(head, append(comment, p.notes(diag.Range{}, c.Default)...)...)
		if c.Description != nil {
			p.attribute("description", literal.Quoted(c.Description.Value))
		}
		if c.Key != nil {
			p.attribute("__logicalName", literal.Quoted(c.Key.Value))
		}
		switch {
		case c.Default != nil:
			p.attribute("default", p.expr(c.Default))
		case c.Optional.IsTrue():
			p.attribute("default", "null")
		}
		if c.Secret.IsTrue() {
			p.attribute("secret", "true")
		}
		p.close()
	}
}

// typeOf translates a type to PCL; it returns "" for any.
func typeOf(t *ast.ConfigType) string {
	text := t.Name
	switch text {
	case "integer":
		text = "int"
	case "boolean":
		text = "bool"
	case "list", "object":
		item := "any"
		if t.Item != nil {
			item = cmp.Or(typeOf(t.Item), item)
		}
		text = map[string]string{"list": "list", "object": "map"}[text] + "(" + item + ")"
	case "any":
		return ""
	}
	if t.Optional {
		return "optional(" + text + ")"
	}
	return text
}

func (p *printer) hook(h *ast.Hook) {
	kind := "resource"
	if p.errorHooks[h.Name.Value] {
		kind = "error"
	}
	p.open("hook "+kind+" "+literal.Quoted(p.name(h.Name, "hook")), p.notes(h.Name.Range, h.Command)...)
	if h.Command != nil {
		p.attribute("command", p.expr(h.Command))
	}
	for _, flag := range []struct {
		name string
		set  *ast.BoolLiteral
	}{{"onDryRun", h.OnDryRun}, {"ignoreErrors", h.IgnoreErrors}} {
		if flag.set != nil {
			p.attribute(flag.name, fmt.Sprint(flag.set.Value))
		}
	}
	p.close()
}

// body writes variables, resources and outputs. up is the path from this file's folder to the parent of the components.
func (p *printer) body(variables []*ast.Variable, resources []*ast.Resource, outputs []*ast.Output, up string) {
	for _, v := range variables {
		if p.out.Len() > 0 {
			p.out.WriteByte('\n')
		}
		p.note(v.Name.Value, p.number(v.Value))
		p.attribute(p.name(v.Name, "variable"), p.expr(v.Value), p.notes(v.Name.Range, v.Value)...)
	}
	for _, r := range resources {
		p.resource(r, up)
	}
	for _, o := range outputs {
		p.open("output "+literal.Quoted(o.Name.Value), p.notes(o.Name.Range, o.Value)...)
		p.attribute("value", p.expr(o.Value))
		p.close()
	}
}

// note records whether a name is a number.
func (p *printer) note(name string, number bool) {
	if number {
		if p.numbers == nil {
			p.numbers = map[string]bool{}
		}
		p.numbers[name] = true
	}
}

// number reports whether an expression is certainly a number.
func (p *printer) number(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Number:
		return true
	case *ast.Access:
		return len(e.Steps) == 0 && p.numbers[e.Root.Value]
	}
	return false
}

func (p *printer) resource(r *ast.Resource, up string) {
	p.counting = p.number(r.ForEach)
	defer func() { p.counting = false }()
	if r.Type == nil {
		p.fail(r.Range, "the resource has no type")
		return
	}
	name := literal.Quoted(p.name(r.Name, "resource"))
	component := p.own[r.Type.Value]
	comment := p.resourceNotes(r)
	switch {
	case component != nil && isEmpty(component):
		p.open("component "+name, comment...)
		p.attribute("token", literal.Quoted(component.Token.Value))
	case component != nil:
		p.open("component "+name+" "+literal.Quoted(up+component.Name.Value), comment...)
	case r.Get != nil:
		p.open("read "+name+" "+literal.Quoted(r.Type.Value), comment...)
	default:
		p.open("resource "+name+" "+literal.Quoted(r.Type.Value), comment...)
	}
	if r.LogicalName != nil {
		p.attribute("__logicalName", literal.Quoted(r.LogicalName.Value))
	}
	if r.DefaultProvider.IsTrue() {
		p.fail(r.DefaultProvider.Range, "PCL has no default providers")
	}
	if r.PropertiesExpr != nil {
		p.fail(r.PropertiesExpr.Range(), "the properties of a resource must be written out in PCL")
	}
	properties := r.Properties
	if r.Get != nil {
		if r.Get.ID != nil {
			p.attribute("id", p.expr(r.Get.ID), p.notes(diag.Range{}, r.Get.ID)...)
		}
		properties = r.Get.State
	}
	for _, property := range properties {
		p.attribute(p.name(property.Name, "property"), p.expr(property.Value),
			p.notes(property.Name.Range, property.Value)...)
	}
	p.resourceOptions(r)
	p.close()
}

func (p *printer) resourceOptions(r *ast.Resource) {
	o := &r.Options
	type line struct {
		pos        int32 // byte offset of the option, which orders the lines
		name, text string
		comment    []string
	}
	var lines []line
	add := func(pos int32, name, text string, comment ...string) {
		lines = append(lines, line{pos, name, text, comment})
	}
	switch {
	case r.ForEach != nil && r.If != nil:
		p.fail(r.If.Range(), "a resource in PCL has a range or a condition, not both")
	case r.ForEach != nil:
		add(-1, "range", p.expr(r.ForEach))
	case r.If != nil:
		add(-1, "range", p.expr(r.If))
	}
	if t := o.CustomTimeouts; t != nil {
		var items []string
		for _, part := range []struct {
			name   string
			option *ast.Option
		}{{"create", t.Create}, {"update", t.Update}, {"delete", t.Delete}, {"read", t.Read}} {
			if part.option != nil {
				items = append(items, part.name+" = "+p.expr(part.option.Value))
			}
		}
		add(t.Key.Range.Start, "customTimeouts", "{ "+strings.Join(items, ", ")+" }", p.notes(t.Key.Range)...)
	}
	o.Each(func(option *ast.Option) {
		comment := p.notes(option.Key.Range, option.Value)
		switch name := option.Key.Value; {
		case o.CustomTimeouts != nil && (option == o.CustomTimeouts.Create || option == o.CustomTimeouts.Update ||
			option == o.CustomTimeouts.Delete || option == o.CustomTimeouts.Read):
		case option == o.Hooks:
			add(option.Key.Range.Start, "hooks", p.hookUses(option), comment...)
		case pathOptions[name]:
			add(option.Key.Range.Start, name, p.pathList(option), comment...)
		default:
			add(option.Key.Range.Start, name, p.expr(option.Value), comment...)
		}
	})
	if len(lines) == 0 {
		return
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.pos - b.pos) })
	p.open("options")
	for _, l := range lines {
		p.attribute(l.name, l.text, l.comment...)
	}
	p.close()
}

// pathList translates a list of property paths, which are accesses in PCL.
func (p *printer) pathList(o *ast.Option) string {
	list, ok := o.Value.(*ast.List)
	if !ok {
		p.fail(o.Value.Range(), "the option %s must be a list that is written out in PCL", o.Key.Value)
		return "[]"
	}
	var items []string
	for _, item := range list.Items {
		s, ok := item.(*ast.String)
		if !ok {
			p.fail(item.Range(), "the option %s must be a list of literal texts in PCL", o.Key.Value)
			continue
		}
		text := s.Value
		if _, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hclStart); diags.HasErrors() {
			text = literal.Quoted(text)
		}
		items = append(items, text)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// hookUses translates the option hooks. PCL refers to hooks by name without quotes.
func (p *printer) hookUses(o *ast.Option) string {
	if _, ok := o.Value.(*ast.Map); !ok {
		p.fail(o.Value.Range(), "the option hooks must be a literal map")
		return "{}"
	}
	var kinds []string
	for kind, names := range hookLists(o.Value) {
		kinds = append(kinds, kind+" = ["+strings.Join(names, ", ")+"]")
	}
	return "{ " + strings.Join(kinds, ", ") + " }"
}
