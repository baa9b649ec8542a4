package check

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Components that the program declares itself (L10.C15), and components of packages that are used by path (L1.G), are
// expanded in process. Each has a body that is checked once, like a program of its own, and evaluated for each
// instance.

// Component is a component whose text is known.
type Component struct {
	Decl  *ast.Component
	Token string // canonical
	// Body are the component's inputs, as configuration values, its variables, resources and outputs.
	Body   *Program
	Schema *schema.Resource // the view of the component's users
	// Packaged reports whether the component comes from a package and not from the program itself.
	Packaged bool

	body  *body           // while the program is being checked
	needs map[string]bool // packages, once asked for
	seen  *seenComponent
}

// LocalPackage is a package of components whose text is known (L7.31).
type LocalPackage struct {
	Name  string // by which tokens name it
	Alias string // another such name, as the project declares the package; may be empty
	Dir   string // that sources of dynamic types are relative to
	File  *ast.File
}

// inlineNamespace is the package of the components that a program declares itself.
const inlineNamespace = "components"

// components are those that are known, by token and by package.
type components struct {
	byToken    map[string]*Component // in all spellings
	namespaces map[string][]*Component
}

// serves reports whether a token is for the components that are known, and not for a provider.
func (cs *components) serves(token string) bool {
	if cs.byToken[token] != nil {
		return true
	}
	pkg, _, _ := strings.Cut(token, ":")
	_, ours := cs.namespaces[pkg]
	return ours
}

// findComponents makes a body for every component.
func (c *body) findComponents() []*body {
	var bodies []*body
	add := func(decl *ast.Component, file *ast.File, packaged bool, names ...string) {
		component := &Component{Decl: decl, Packaged: packaged, Token: names[0] + ":index:" + decl.Name.Value}
		if decl.Token != nil && !packaged {
			component.Token = decl.Token.Value
			if parts := strings.Split(component.Token, ":"); len(parts) == 2 {
				component.Token = parts[0] + ":index:" + parts[1]
			}
		}
		for _, name := range names {
			c.components.byToken[name+":index:"+decl.Name.Value] = component
			c.components.byToken[name+":"+decl.Name.Value] = component
			c.components.namespaces[name] = append(c.components.namespaces[name], component)
		}
		if other := c.components.byToken[component.Token]; other != component && other != nil {
			c.loose.Add(diag.Diagnostic{Code: diag.DeclaredTwice, Subject: decl.Token.Range,
				Summary: "the component `" + other.Decl.Name.Value + "` has this type already",
				Detail:  "give one of the two another `token`",
				Related: []diag.Related{{Range: other.Decl.Name.Range, Message: "the other component is here"}}})
		}
		c.components.byToken[component.Token] = component
		c.components.byToken[strings.Replace(component.Token, ":index:", ":", 1)] = component
		body := c.bodyOf(component, file)
		component.body, component.Body = body, body.program
		component.show()
		c.program.Components = append(c.program.Components, component)
		bodies = append(bodies, body)
	}
	for _, decl := range c.file.Components {
		add(decl, c.file, false, inlineNamespace)
	}
	for _, pkg := range c.opts.Local {
		names := []string{pkg.Name}
		if pkg.Alias != "" && pkg.Alias != pkg.Name {
			names = append(names, pkg.Alias)
		}
		for _, name := range names {
			if c.components.namespaces[name] == nil {
				c.components.namespaces[name] = []*Component{}
			}
		}
		for _, decl := range pkg.File.Components {
			add(decl, pkg.File, true, names...)
		}
	}
	return bodies
}

// bodyOf makes the body of a component: a scope of its own, in which inputs take the place of configuration.
func (c *body) bodyOf(component *Component, file *ast.File) *body {
	decl := component.Decl
	opts := c.opts
	opts.Config, opts.ConfigKnown = nil, false
	b := c.body(&ast.File{Source: file.Source, Origins: file.Origins, Lost: file.Lost, Faults: file.Faults,
		Nameless: file.Nameless, RequiredVersion: decl.RequiredVersion, Unit: decl.Unit, Body: decl.Body}, opts)
	b.component, b.program.component = component, true
	return b
}

// seenComponent is a component as its users see it. It has no access to the rest of the program.
type seenComponent struct {
	decl    *ast.Component
	schema  *schema.Resource
	typ     *schema.ResourceType
	inputs  map[string]schema.Type // those without a declared type; nil until the body has been checked
	outputs []schema.Type          // nil until the body has been checked
}

// show makes the component's interface as its users see it. Parts that depend on the body, such as the types of
// outputs, are computed at first use, after the body has been checked.
func (c *Component) show() {
	s := &seenComponent{decl: c.Decl}
	s.schema = &schema.Resource{Token: c.Token, Component: true, Description: c.Decl.Description.Text()}
	s.schema.Inputs = schema.NewObject("", true, s.inputProperties)
	s.schema.Outputs = schema.NewObject("", true, s.outputProperties)
	s.typ = &schema.ResourceType{Token: c.Token, Component: true,
		Outputs: func() *schema.Object { return s.schema.Outputs }}
	c.seen, c.Schema = s, s.schema
}

func (s *seenComponent) inputProperties() []*schema.Property {
	list := make([]*schema.Property, 0, len(s.decl.Config))
	for _, decl := range s.decl.Config {
		p := &schema.Property{Name: decl.Name.Value, Type: configType(decl.Type),
			Required: decl.Default == nil && (decl.Optional == nil || !decl.Optional.Value), // L3.51
			Secret:   decl.Secret != nil && decl.Secret.Value}
		switch t := s.inputs[decl.Name.Value]; {
		case decl.Type != nil:
			p.Required = p.Required && !decl.Type.Optional
		case t != nil && t != schema.Invalid:
			p.Type = t
		}
		if !p.Required {
			p.Type = schema.OptionalOf(p.Type)
		}
		list = append(list, p)
	}
	return list
}

func (s *seenComponent) outputProperties() []*schema.Property {
	list := make([]*schema.Property, 0, len(s.decl.Outputs))
	for i, decl := range s.decl.Outputs {
		p := &schema.Property{Name: decl.Name.Value, Type: schema.Invalid, Required: true}
		if i < len(s.outputs) {
			p.Type = s.outputs[i]
		}
		list = append(list, p)
	}
	return list
}

// carryOver completes the interface of a component. It reuses the interface of an earlier check if nothing in the
// body has changed.
func (b *body) carryOver() {
	c := b.component
	if c == nil {
		return
	}
	if b.memory != nil && !b.changed && b.ctx.Err() == nil {
		if before := b.memory.components[c.Decl]; before != nil && before.Token == c.Token {
			c.seen, c.Schema = before.seen, before.Schema
			return
		}
	}
	c.seen.inputs = make(map[string]schema.Type, len(c.Decl.Config))
	for _, decl := range c.Decl.Config {
		if n := b.declared[decl.Name.Value]; n != nil && n.Config != nil {
			c.seen.inputs[decl.Name.Value] = n.Type
		}
	}
	for _, o := range b.program.Outputs {
		c.seen.outputs = append(c.seen.outputs, o.Type)
	}
}

// refreshComponent updates an instance of a component to its users' view, once the component has been checked.
func (b *body) refreshComponent(n *Node) {
	if c := n.Resource.Component; c != nil {
		n.Resource.Schema, n.Type = c.Schema, c.seen.typ
	}
}

// resolveComponent finds the component that a resource is an instance of.
func (c *resolver) resolveComponent(n *Node) {
	r, token := n.Resource, n.Resource.Decl.Type
	component := c.components.byToken[token.Value]
	if component == nil {
		namespace, name, _ := strings.Cut(token.Value, ":")
		if slices.Contains(c.file.Lost, name) || c.nameless(name) {
			return
		}
		var names []string
		for _, known := range c.components.namespaces[namespace] {
			names = append(names, schema.CollapseToken(known.Token))
		}
		what := "component"
		for _, d := range c.program.Dynamic {
			if d.Package != "" && (d.Package == namespace || c.dynamic[namespace+":"+d.Decl.Name.Value] == d) {
				what, names = "type", append(names, schema.CollapseToken(d.Token))
			}
		}
		hint := findings.NearOrAll(diag.Suggest(token.Value, names), names, "there is ", "the package has none")
		c.loose.Errorf(diag.TokenNotFound, token.Range, hint, "there is no %s `%s`", what, token.Value)
		return
	}
	r.Component, r.Schema, r.Token = component, component.Schema, component.Token
	n.Type = component.seen.typ
	if r.Decl.Get != nil {
		c.loose.Errorf(diag.WrongKind, r.Decl.Name.Range, "declare the resources of the component instead",
			"a component cannot be read with `get`")
	}
}

// packages returns the packages of the providers that a component's resources and calls need, those inside of
// components that it uses included.
func (c *Component) packages() map[string]bool {
	if c.needs != nil {
		return c.needs
	}
	c.needs = make(map[string]bool)
	for _, n := range c.body.all {
		switch {
		case n.Kind != ResourceNode || n.Resource.Decl.Type == nil:
		case n.Resource.Component != nil:
			for pkg := range n.Resource.Component.packages() {
				c.needs[pkg] = true
			}
		default:
			c.needs[packageOf(n.Resource.Decl.Type.Value)] = true
		}
	}
	for unit := range c.body.file.Units() {
		for _, token := range providerCalls(unit) {
			c.needs[packageOf(token.Value)] = true
		}
	}
	return c.needs
}

// linkComponent gives a component the program's default providers for its resources (L7.45).
func (c *linker) linkComponent(n *Node, before map[string]map[*Node]bool) {
	needs := n.Resource.Component.packages()
	for _, provider := range c.all {
		if provider.Kind != ResourceNode || provider.Resource.Decl.DefaultProvider == nil {
			continue
		}
		pkg := packageOf(provider.Resource.Decl.Type.Text())
		if c.defaults[pkg] != provider || !needs[pkg] || before[pkg][n] {
			continue
		}
		n.Resource.DefaultProviders = append(n.Resource.DefaultProviders, provider)
		n.Needs = append(n.Needs, Edge{To: provider, Range: n.Resource.Decl.Type.Range})
	}
}

// usersLast orders bodies so that each comes behind the components that it uses, and reports components that contain
// themselves: they would never end.
func usersLast(report *findings.Reporter, bodies []*body) []*body {
	const (
		fresh = iota
		open
		done
	)
	state := make(map[*body]int, len(bodies))
	var ordered, path []*body
	var via []*Node // the resource that leads from each body in path to the next
	var visit func(b *body)
	visit = func(b *body) {
		state[b], path = open, append(path, b)
		for _, n := range b.all {
			if n.Kind != ResourceNode || n.Resource.Component == nil {
				continue
			}
			switch dst := n.Resource.Component.body; state[dst] {
			case fresh:
				via = append(via, n)
				visit(dst)
				via = via[:len(via)-1]
			case open:
				i := slices.Index(path, dst)
				b.hasLoop = true
				reportEndless(report, path[i:], append(slices.Clone(via[i:]), n))
			}
		}
		state[b], path = done, path[:len(path)-1]
		ordered = append(ordered, b)
	}
	for _, b := range bodies {
		if state[b] == fresh {
			visit(b)
		}
	}
	return ordered
}

// reportEndless reports components that contain each other; via are the resources that form the cycle.
func reportEndless(report *findings.Reporter, bodies []*body, via []*Node) {
	var names []string
	var related []diag.Related
	for i, b := range bodies {
		name, next := b.component.Decl.Name.Value, bodies[(i+1)%len(bodies)].component.Decl.Name.Value
		names = append(names, name)
		related = append(related, diag.Related{Range: via[i].Resource.Decl.Type.Range, Message: name + " contains " + next +
			" here"})
	}
	report.Add(diag.Diagnostic{Code: diag.Cycle, Subject: via[len(via)-1].Resource.Decl.Type.Range,
		Summary: "cycle of components: " + strings.Join(append(names, names[0]), " → "),
		Detail:  "a component cannot contain itself: remove one of these resources", Related: related})
}
