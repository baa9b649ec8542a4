package check

import (
	"context"
	"maps"
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
//
// manifests returns what files and texts of manifests make; it is nil if they cannot be read.
func unwrittenOrder(ctx context.Context, p *Program, manifests manifestReader) (found diag.Diagnostics) {
	bodies := []*Program{p}
	for _, c := range p.Components {
		bodies = append(bodies, c.Body)
	}
	for _, body := range bodies {
		o := order{program: body, manifests: manifests}
		for _, n := range body.Nodes {
			o.note(ctx, n)
		}
		// Each body by itself, since a component can refer to nothing outside of it.
		o.sortPatches()
		for _, key := range o.keys {
			found.Add(o.waiting(key)...)
		}
	}
	return found
}

// manifestReader returns what manifests make that other objects may need: kinds, each as its group, a space and its
// name, and the names of namespaces.
type manifestReader = func(context.Context, Manifest) (kinds, namespaces []string)

// order collects the objects of a body.
type order struct {
	program   *Program
	manifests manifestReader
	// Both are by what is needed: "namespace" and a name, or "kind", a group and a name.
	makers map[string][]maker
	users  map[string][]user
	keys   []string // of makers, in the order of the program
}

// maker is a resource that others need: a Namespace, a definition of a kind, or manifests of either.
type maker struct {
	node  *Node
	among bool // manifests have it, so that no output names it
}

// user is a place in a resource that needs another by its name.
type user struct {
	node *Node
	at   diag.Range
	// value is the literal name; nil if the type of the resource is the need.
	value ast.Expr
}

// note adds a resource.
func (o *order) note(ctx context.Context, n *Node) {
	if n.Kind != ResourceNode || !strings.HasPrefix(n.Resource.Token, packages.Kubernetes+":") || n.Resource.Decl.Get != nil {
		return
	}
	decl, token := n.Resource.Decl, n.Resource.Token
	switch {
	case decl.ForEach != nil || decl.If != nil: // it may make nothing, and so nothing certainly needs it
	case token == packages.NamespaceToken:
		if name, _ := o.text(decl, "metadata", "name"); name != "" {
			o.makes("namespace "+name, maker{node: n})
		}
	case token == packages.DefinitionToken:
		group, _ := o.text(decl, "spec", "group")
		kind, _ := o.text(decl, "spec", "names", "kind")
		if group != "" && kind != "" {
			o.makes("kind "+group+" "+kind, maker{node: n})
		}
	case o.manifests != nil:
		for _, m := range o.manifestsOf(n) {
			kinds, namespaces := o.manifests(ctx, m)
			for _, kind := range kinds {
				o.makes("kind "+kind, maker{node: n, among: true})
			}
			for _, name := range namespaces {
				o.makes("namespace "+name, maker{node: n, among: true})
			}
		}
	}
	if m := packages.Kind().FindStringSubmatch(token); m != nil {
		group, kind := m[1], m[5]
		o.needs("kind "+group+" "+kind, user{node: n, at: decl.Type.Range})
	}
	// Charts and releases have the namespace of their objects as a property of their own.
	for _, path := range [][]string{{"metadata", "namespace"}, {"namespace"}} {
		if name, expr := o.text(decl, path...); name != "" {
			o.needs("namespace "+name, user{node: n, at: expr.Range(), value: expr})
		}
	}
}

// makes records a resource that makes what key names.
func (o *order) makes(key string, m maker) {
	if o.makers == nil {
		o.makers = map[string][]maker{}
	}
	// The first maker fixes the place of the key, so that findings have the order of the program.
	if len(o.makers[key]) == 0 {
		o.keys = append(o.keys, key)
	}
	o.makers[key] = append(o.makers[key], m)
}

// needs records a place that needs what key names. Users of a key without a maker stay unread: what they need is in the
// cluster already, or missing, which the cluster reports.
func (o *order) needs(key string, u user) {
	if o.users == nil {
		o.users = map[string][]user{}
	}
	o.users[key] = append(o.users[key], u)
}

// sortPatches makes a patch of a kind need the definition of that kind, unless the program defines a kind of its name.
// It is done once all makers are known: whether `FooPatch` is a kind of its own depends on the whole program.
func (o *order) sortPatches() {
	for _, key := range slices.Sorted(maps.Keys(o.users)) {
		patched, found := strings.CutSuffix(key, "Patch")
		if found && strings.HasPrefix(key, "kind ") && !strings.HasSuffix(patched, " ") && len(o.makers[key]) == 0 {
			o.users[patched] = append(o.users[patched], o.users[key]...)
		}
	}
}

// manifestsOf returns the manifests that a resource installs and literal texts name.
func (o *order) manifestsOf(n *Node) (all []Manifest) {
	decl := n.Resource.Decl
	switch n.Resource.Token {
	case "kubernetes:yaml/v2:ConfigFile":
		if file, _ := o.text(decl, "file"); file != "" {
			all = append(all, Manifest{Pattern: file})
		}
	case "kubernetes:yaml/v2:ConfigGroup":
		for _, file := range o.texts(decl, "files") {
			all = append(all, Manifest{Pattern: file})
		}
		for _, text := range o.texts(decl, "yaml") {
			all = append(all, Manifest{Text: text})
		}
	case "kubernetes:helm.sh/v4:Chart", "kubernetes:helm.sh/v3:Release":
		chart, _ := o.text(decl, "chart")
		// A chart of a repository would have to be downloaded.
		if chart != "" && decl.Property("skipCrds") == nil && decl.Property("repositoryOpts") == nil {
			all = append(all, Manifest{Chart: chart})
		}
	}
	return all
}

// texts returns the literal texts of a property that takes one or a list of them.
func (o *order) texts(decl *ast.Resource, name string) (all []string) {
	if list, ok := decl.Property(name).(*ast.List); ok {
		for _, item := range list.Items {
			if text, _ := o.literal(item); text != "" {
				all = append(all, text)
			}
		}
	} else if text, _ := o.text(decl, name); text != "" {
		all = append(all, text)
	}
	return all
}

// text returns a literal text in the properties of a resource, also through a variable; empty for anything else.
func (o *order) text(decl *ast.Resource, path ...string) (string, ast.Expr) {
	e := decl.Property(path[0])
	for _, key := range path[1:] {
		e = types.LiteralStep(e, &ast.Step{Name: key})
	}
	return o.literal(e)
}

// literal returns the text that an expression is, also through a variable; empty for anything else.
func (o *order) literal(e ast.Expr) (string, ast.Expr) {
	expr := e
	if n := o.program.RefTo(e).Node; n != nil && n.Kind == VariableNode {
		e = n.Variable.Value
	}
	if s, ok := e.(*ast.String); ok {
		return s.Value, expr
	}
	return "", nil
}

// waiting returns findings about resources that need something that the program makes, and wait for none of its makers.
// One maker is enough: where several resources make the same namespace, for instance in alternatives, it is not known
// which one is meant.
func (o *order) waiting(key string) (found diag.Diagnostics) {
	users, makers := o.users[key], o.makers[key]
	if len(users) == 0 {
		return nil
	}
	// Transitively: whatever waits for a resource that waits is late enough.
	behind := map[*Node]bool{} // the resources that wait, in the order of evaluation
	for _, m := range makers {
		behind[m.node] = true
	}
	for _, n := range o.program.Nodes { // once is enough: each comes after its dependencies
		behind[n] = behind[n] || slices.ContainsFunc(n.Needs, func(e Edge) bool { return behind[e.To] })
	}
	for _, u := range users {
		if !behind[u.node] {
			found.Add(o.finding(makers[0], u))
		}
	}
	return found
}

// finding returns the warning about a resource that needs what another makes and does not wait for it. It is a warning,
// since the order may happen to be right. The way out is a reference where a name can become one, and else the option
// dependsOn.
func (o *order) finding(makes maker, u user) diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnwrittenOrder, Subject: u.at,
		Related: []diag.Related{{Range: makes.node.Range, Message: "it is created here"}}}
	need, link, name := "its namespace", ", the resource ", makes.node.Name
	if u.value == nil {
		need = "the definition of its kind"
	}
	if makes.among {
		link = ", which is in the resource "
	}
	d.Summary = u.node.Name + " does not wait for " + need + link + name
	// A kind has no name to refer to, and an object among manifests is no resource.
	if u.value == nil || makes.among {
		d.Detail = "write `dependsOn: ${" + name + "}` under its options"
		d.Fixes = o.dependsOn(u.node.Resource.Decl, name)
		return d
	}
	reference := "${" + name + ".metadata.name}"
	d.Detail = "write `" + reference + "` for the name"
	// The fix replaces the text only where it is the whole value, on one line.
	if s, literal := u.value.(*ast.String); literal && !strings.Contains(u.at.Text(), "\n") &&
		strings.Trim(u.at.Text(), `"'`) == s.Value {
		text := reference
		before, _, _ := strings.Cut(string(u.at.Source.Line(u.at.StartPosition().Line)), u.at.Text())
		if strings.ContainsAny(before, "{[") {
			text = `"` + reference + `"` // braces: other characters would end the text
		}
		d.Fixes = []diag.Fix{{Label: "Write " + findings.Quote(reference), Edits: []diag.Edit{{Range: u.at, Text: text}}}}
	}
	return d
}

// dependsOn returns the fix that adds a resource to the option dependsOn; none if the text has an unusual form. A fix
// must leave the text as a person would write it, and so it knows the two usual layouts only: options already there, or
// a `type` on a line of its own.
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
