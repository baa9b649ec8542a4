// Package asttest shows syntax trees in tests.
package asttest

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Dump writes the tree of a file for people and for tests: a node a line, children indented by two spaces, each with
// its place as line:column-line:column. It leaves out absent parts.
func Dump(w io.Writer, f *ast.File) error {
	d := &dumper{origins: f.Origins}
	d.literal("name", f.Name)
	d.literal("description", f.Description)
	d.literal("version", f.Version)
	d.literal("namespace", f.Namespace)
	d.expr("requiredVersion", f.RequiredVersion)
	d.literals("allowEnv", f.AllowEnv)
	d.literals("publicEnv", f.PublicEnv)
	d.body(&f.Body, "config")
	for _, c := range f.Components {
		d.line(c.Range, "component %s", d.quoted(c.Name))
		d.nested(func() {
			d.literal("description", c.Description)
			d.literal("token", c.Token)
			d.expr("requiredVersion", c.RequiredVersion)
			d.body(&c.Body, "input")
		})
	}
	for _, h := range f.Hooks {
		d.line(h.Range, "hook %s", d.quoted(h.Name))
		d.nested(func() {
			d.expr("command", h.Command)
			d.bool("onDryRun", h.OnDryRun)
			d.bool("ignoreErrors", h.IgnoreErrors)
		})
	}
	for _, t := range f.Dynamic {
		d.dynamic(t)
	}
	d.transforms(f.Transforms)
	for _, m := range f.Messages {
		d.line(m.Range, "message")
		d.nested(func() {
			d.literal("level", m.Level)
			d.expr("if", m.If)
			d.expr("text", m.Text)
			d.expr("resource", m.Resource)
		})
	}
	for _, p := range f.Policies {
		d.policy(p)
	}
	_, err := io.WriteString(w, d.text.String())
	return err
}

func (d *dumper) policy(p *ast.Policy) {
	d.line(p.Range, "policy %s", d.quoted(p.Name))
	d.nested(func() {
		d.literal("description", p.Description)
		d.literal("enforcement", p.Enforcement)
		d.match(&p.Match)
		d.bool("stack", p.Stack)
		d.bool("after", p.After)
		d.bool("destroy", p.Destroy)
		for _, c := range p.Config {
			d.line(c.Name.Range, "config %s", d.quoted(c.Name))
		}
		d.expr("when", p.When)
		d.expr("violation", p.Violation)
		d.expr("remedy", p.Remedy)
	})
}

func (d *dumper) match(m *ast.TransformMatch) {
	d.literals("type", m.Types)
	d.literals("name", m.Names)
	d.literals("function", m.Functions)
	d.bool("custom", m.Custom)
}

func (d *dumper) transforms(list []*ast.Transform) {
	for _, t := range list {
		d.line(t.Range, "transform")
		d.nested(func() {
			d.match(&t.Match)
			d.expr("when", t.When)
			d.expr("merge", t.Merge)
			d.bool("replace", t.Replace)
			d.options(&t.Options)
		})
	}
}

func (d *dumper) dynamic(t *ast.Dynamic) {
	d.line(t.Range, "dynamic %s", d.quoted(t.Name))
	d.nested(func() {
		d.literal("description", t.Description)
		d.literal("provider", t.Provider)
		d.literal("onCodeChange", t.OnCodeChange)
		d.literals("env", t.Env)
		for _, side := range []struct {
			name string
			of   *ast.DynamicProperties
		}{{"input", t.Inputs}, {"output", t.Outputs}} {
			if side.of == nil {
				continue
			}
			for _, p := range side.of.List {
				kind := "any"
				if p.Type != nil {
					kind = p.Type.String()
				}
				d.line(p.Name.Range, "%s %s %s", side.name, d.quoted(p.Name), kind)
				d.nested(func() {
					d.expr("default", p.Default)
					d.bool("secret", p.Secret)
					d.bool("optional", p.Optional)
					d.bool("replace", p.Replace)
					d.bool("stable", p.Stable)
				})
			}
		}
	})
}

type dumper struct {
	origins *ast.Origins
	text    strings.Builder
	depth   int
}

func (d *dumper) line(rng diag.Range, format string, args ...any) {
	d.text.WriteString(strings.Repeat("  ", d.depth))
	fmt.Fprintf(&d.text, format, args...)
	if !rng.IsZero() {
		start, end := d.position(rng)
		fmt.Fprintf(&d.text, " @%d:%d-%d:%d", start.Line, start.Column, end.Line, end.Column)
	}
	d.text.WriteByte('\n')
}

func (d *dumper) position(rng diag.Range) (start, end diag.Position) {
	rng = d.origins.Place(rng)
	return rng.StartPosition(), rng.EndPosition()
}

func (d *dumper) nested(fn func()) {
	d.depth++
	fn()
	d.depth--
}

func (d *dumper) quoted(l ast.Literal) string {
	start, end := d.position(l.Range)
	return fmt.Sprintf("%q(%d:%d-%d:%d)", l.Value, start.Line, start.Column, end.Line, end.Column)
}

func (d *dumper) literal(field string, l *ast.Literal) {
	if l != nil {
		d.line(l.Range, "%s: %q", field, l.Value)
	}
}

func (d *dumper) literals(field string, list []ast.Literal) {
	for _, l := range list {
		d.literal(field, &l)
	}
}

func (d *dumper) bool(field string, l *ast.BoolLiteral) {
	if l != nil {
		d.line(l.Range, "%s: %t", field, l.Value)
	}
}

func (d *dumper) body(b *ast.Body, word string) {
	for _, c := range b.Config {
		d.line(c.Range, "%s %s", word, d.quoted(c.Name))
		d.nested(func() {
			if c.Type != nil {
				d.line(c.Type.Range, "type: %s", c.Type)
			}
			d.expr("default", c.Default)
			d.bool("optional", c.Optional)
			d.bool("secret", c.Secret)
			d.literal("name", c.Key)
		})
	}
	for _, v := range b.Variables {
		d.line(v.Range, "variable %s", d.quoted(v.Name))
		d.nested(func() { d.expr("", v.Value) })
	}
	for _, r := range b.Resources {
		d.resource(r)
	}
	for _, o := range b.Outputs {
		d.line(o.Range, "output %s", d.quoted(o.Name))
		d.nested(func() { d.expr("", o.Value) })
	}
}

func (d *dumper) resource(r *ast.Resource) {
	d.line(r.Range, "resource %s", d.quoted(r.Name))
	d.nested(func() {
		d.literal("type", r.Type)
		d.literal("name", r.LogicalName)
		d.bool("defaultProvider", r.DefaultProvider)
		d.expr("forEach", r.ForEach)
		d.expr("if", r.If)
		if r.PropertiesExpr != nil {
			d.expr("properties", r.PropertiesExpr)
		} else if !r.PropertiesRange.IsZero() {
			d.line(r.PropertiesRange, "properties")
			d.properties(r.Properties)
		}
		if r.Get != nil {
			d.line(r.Get.Range, "get")
			d.nested(func() {
				d.expr("id", r.Get.ID)
				d.properties(r.Get.State)
			})
		}
		if !r.Options.Range.IsZero() {
			d.line(r.Options.Range, "options")
			d.options(&r.Options)
		}
	})
}

func (d *dumper) options(o *ast.Options) {
	d.nested(func() {
		o.Each(func(o *ast.Option) { d.expr(d.quoted(o.Key), o.Value) })
		d.transforms(o.Transforms)
	})
}

func (d *dumper) properties(properties []ast.Property) {
	d.nested(func() {
		for _, p := range properties {
			d.expr(d.quoted(p.Name), p.Value)
		}
	})
}

// part is an expression inside of another one, under a label.
type part struct {
	label string
	expr  ast.Expr
}

func (d *dumper) expr(field string, e ast.Expr) {
	if e == nil {
		return
	}
	if field != "" {
		field += ": "
	}
	node := func(format string, args ...any) { d.line(e.Range(), "%s"+format, append([]any{field}, args...)...) }
	parts := func(labelled ...part) {
		d.nested(func() {
			for _, p := range labelled {
				d.expr(p.label, p.expr)
			}
		})
	}
	kind := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", e), "*ast."))
	switch e := e.(type) {
	case *ast.Bool:
		node("bool %t", e.Value)
	case *ast.Number:
		if e.Integer {
			kind = "integer"
		}
		node("%s %s", kind, strconv.FormatFloat(e.Value, 'g', -1, 64))
	case *ast.String:
		node("string %q", e.Value)
	case *ast.Access:
		node("access %s", d.accessText(e))
	case *ast.Map:
		node("map")
		for _, entry := range e.Entries {
			parts(part{"key", entry.Key}, part{"value", entry.Value})
		}
		return
	case *ast.Call:
		dots := ""
		if e.Expanded {
			dots = " ..."
		}
		node("call %s%s", d.quoted(e.Name), dots)
		parts(part{"argument", e.Argument})
		for _, argument := range e.Args {
			parts(part{"", argument})
		}
		return
	case *ast.Unary:
		node("unary %s", e.Op)
	case *ast.Binary:
		node("binary %s", e.Op)
	case *ast.Member:
		node("member %s", d.quoted(e.Name))
	case *ast.Splat:
		node("splat")
		parts(part{"source", e.Source}, part{"each", e.Each})
		return
	case *ast.For:
		names := localName(e.ValueName)
		if e.KeyName != nil {
			names = localName(e.KeyName) + ", " + names
		}
		if e.Grouped {
			names += " ..."
		}
		node("for %s", names)
		parts(part{"in", e.Collection}, part{"key", e.Key}, part{"value", e.Value}, part{"if", e.Condition})
		return
	case *ast.LocalRef:
		node("local %s", localName(e.Local))
	default:
		node("%s", kind)
	}
	ast.Walk(e, func(inside ast.Expr) bool {
		if inside != e {
			parts(part{"", inside})
		}
		return inside == e
	})
}

// accessText returns an access in one spelling, with the place of each part.
func (d *dumper) accessText(a *ast.Access) string {
	text := d.quoted(a.Root)
	for _, step := range a.Steps {
		start, end := d.position(step.Range)
		place := fmt.Sprintf("(%d:%d-%d:%d)", start.Line, start.Column, end.Line, end.Column)
		if step.Optional {
			text += " ?"
		}
		switch {
		case step.IsIndex:
			text += fmt.Sprintf(" [%d]%s", step.Index, place)
		case step.Quoted:
			text += fmt.Sprintf(" [%q]%s", step.Name, place)
		default:
			text += fmt.Sprintf(" .%q%s", step.Name, place)
		}
	}
	return text
}

func localName(l *ast.Local) string {
	if l == nil {
		return ""
	}
	return l.Name
}

// Kinds is one value of every type of expression, for tests that walk the list.
func Kinds() []ast.Expr {
	return []ast.Expr{&ast.Null{}, &ast.Bool{}, &ast.Number{}, &ast.String{}, &ast.Template{}, &ast.Access{},
		&ast.List{},
		&ast.Map{}, &ast.Call{}, &ast.Unary{}, &ast.Binary{},
		&ast.Conditional{}, &ast.Index{}, &ast.Member{}, &ast.Splat{}, &ast.For{}, &ast.LocalRef{}, &ast.Bad{}}
}
