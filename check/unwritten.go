package check

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/types"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// unwrittenOrder reports Kubernetes objects that need another object of the program by its name in the cluster and do
// not wait for it: objects in a namespace, or of a kind, that the program creates (D21). It compares declarations with
// each other, so its result is never reused.
func unwrittenOrder(p *Program) (found diag.Diagnostics) {
	bodies := []*Program{p}
	for _, c := range p.Components {
		bodies = append(bodies, c.Body)
	}
	for _, body := range bodies {
		o := order{program: body}
		for _, n := range body.Nodes {
			o.note(n)
		}
		for _, makes := range o.makers {
			found.Add(o.waiting(makes)...)
		}
	}
	return found
}

// order collects the objects of a body.
type order struct {
	program *Program
	makers  []maker
	users   map[string][]user // by key of the needed resource
}

// maker is a resource that others need: a Namespace, or a definition of a kind.
type maker struct {
	node *Node
	key  string // as in users
}

// user is a place in a resource that needs another by its name.
type user struct {
	node *Node
	at   diag.Range
	// value is the literal name; nil if the type of the resource is the need.
	value ast.Expr
}

// note adds a resource.
func (o *order) note(n *Node) {
	if n.Kind != ResourceNode || !strings.HasPrefix(n.Resource.Token, packages.Kubernetes+":") || n.Resource.Decl.Get != nil {
		return
	}
	decl, token := n.Resource.Decl, n.Resource.Token
	once := decl.ForEach == nil && decl.If == nil
	switch {
	case token == packages.NamespaceToken && once:
		if name, _ := o.text(decl, "metadata", "name"); name != "" {
			o.makers = append(o.makers, maker{n, "namespace " + name})
		}
	case token == packages.DefinitionToken && once:
		group, _ := o.text(decl, "spec", "group")
		kind, _ := o.text(decl, "spec", "names", "kind")
		if group != "" && kind != "" {
			o.makers = append(o.makers, maker{n, "kind " + group + " " + kind})
		}
	}
	need := func(key string, u user) {
		if o.users == nil {
			o.users = map[string][]user{}
		}
		o.users[key] = append(o.users[key], u)
	}
	if m := packages.Kind().FindStringSubmatch(token); m != nil {
		need("kind "+m[1]+" "+m[5], user{node: n, at: decl.Type.Range})
	}
	for _, path := range [][]string{{"metadata", "namespace"}, {"namespace"}} {
		if name, expr := o.text(decl, path...); name != "" {
			need("namespace "+name, user{node: n, at: expr.Range(), value: expr})
		}
	}
}

// text returns a literal text in the properties of a resource, also through a variable; empty for anything else.
func (o *order) text(decl *ast.Resource, path ...string) (string, ast.Expr) {
	e := decl.Property(path[0])
	for _, key := range path[1:] {
		e = types.LiteralStep(e, &ast.Step{Name: key})
	}
	expr := e
	if n := o.program.RefTo(e).Node; n != nil && n.Kind == VariableNode {
		e = n.Variable.Value
	}
	if s, ok := e.(*ast.String); ok {
		return s.Value, expr
	}
	return "", nil
}

// waiting returns findings about resources that need a maker and do not wait for it.
func (o *order) waiting(makes maker) (found diag.Diagnostics) {
	users := o.users[makes.key]
	if len(users) == 0 {
		return nil
	}
	behind := map[*Node]bool{makes.node: true} // the resources that wait, in the order of evaluation
	for _, n := range o.program.Nodes {
		behind[n] = behind[n] || slices.ContainsFunc(n.Needs, func(e Edge) bool { return behind[e.To] })
	}
	for _, u := range users {
		if !behind[u.node] {
			found.Add(o.finding(makes.node, u))
		}
	}
	return found
}

func (o *order) finding(makes *Node, u user) diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnwrittenOrder, Subject: u.at,
		Related: []diag.Related{{Range: makes.Range, Message: "it is created here"}}}
	if u.value == nil {
		d.Summary = u.node.Name + " does not wait for the definition of its kind, the resource " + makes.Name
		d.Detail = "write `dependsOn: ${" + makes.Name + "}` under its options"
		d.Fixes = o.dependsOn(u.node.Resource.Decl, makes.Name)
		return d
	}
	reference := "${" + makes.Name + ".metadata.name}"
	d.Summary = u.node.Name + " does not wait for its namespace, the resource " + makes.Name
	d.Detail = "write `" + reference + "` for the name"
	if s, literal := u.value.(*ast.String); literal && !strings.Contains(u.at.Text(), "\n") &&
		strings.Trim(u.at.Text(), `"'`) == s.Value {
		text := reference
		if before, _, _ := strings.Cut(string(u.at.Source.Line(u.at.StartPosition().Line)), u.at.Text()); strings.ContainsAny(
			before, "{[") {
			text = `"` + reference + `"` // braces: other characters would end the text
		}
		d.Fixes = []diag.Fix{{Label: "Write " + findings.Quote(reference), Edits: []diag.Edit{{Range: u.at, Text: text}}}}
	}
	return d
}

// dependsOn returns the fix that adds a resource to the option dependsOn; none if the text has an unusual form.
func (o *order) dependsOn(decl *ast.Resource, name string) []diag.Fix {
	reference := "${" + name + "}"
	var edit diag.Edit
	if option := decl.Options.DependsOn; option != nil {
		rng := option.Value.Range()
		if _, single := option.Value.(*ast.Access); !single || strings.Contains(rng.Text(), "\n") {
			return nil
		}
		edit = diag.Edit{Range: rng, Text: `["` + strings.Trim(rng.Text(), `"'`) + `", "` + reference + `"]`}
	} else {
		if decl.Type.Range.IsZero() {
			return nil
		}
		line := string(decl.Type.Range.Source.Line(decl.Type.Range.StartPosition().Line))
		words := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(words)]
		first := firstOption(decl)
		switch {
		case first.IsZero() && strings.HasPrefix(words, "type:"):
			end := int(decl.Type.Range.End)
			edit.Range = diag.NewRange(decl.Type.Range.Source, end, end)
			edit.Text = "\n" + indent + "options:\n" + indent + "  dependsOn: " + reference
		case !first.IsZero():
			line = string(first.Source.Line(first.StartPosition().Line))
			indent = line[:len(line)-len(strings.TrimLeft(line, " "))]
			if !strings.HasPrefix(line[len(indent):], first.Text()) {
				return nil
			}
			edit.Range = diag.NewRange(first.Source, int(first.Start), int(first.Start))
			edit.Text = "dependsOn: " + reference + "\n" + indent
		default:
			return nil
		}
	}
	return []diag.Fix{{Label: "Depend on " + findings.Quote(name), Edits: []diag.Edit{edit}}}
}

// firstOption returns the range of the first option's key; zero if there is none.
func firstOption(decl *ast.Resource) (first diag.Range) {
	decl.Options.Each(func(option *ast.Option) {
		if rng := option.Key.Range; first.IsZero() || rng.Start < first.Start {
			first = rng
		}
	})
	return first
}
