package check

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Components that the program declares itself (L10.C15), and components of packages that are used by path (L1.G), are
// expanded in process. Each has a body that is checked once, like a program of its own, and evaluated for each
// instance.

// inlineNamespace is the package of the components that a program declares itself.
const inlineNamespace = "components"

// components are those that are known, by token and by package. It is complete before any type is resolved, and only
// its views change afterwards.
type components struct {
	byToken    map[string]*component // in all spellings
	namespaces map[string][]*component
	checked    map[*Component]*component
}

// component is a component while the program is being checked.
type component struct {
	of   *Component
	body *body
	seen *componentView
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

// meant returns the token of the program's component that a token without its package stands for; empty for others.
func (cs *components) meant(token string) string {
	if rest, ok := strings.CutPrefix(token, "index:"); ok && cs.byToken[inlineNamespace+":"+rest] != nil {
		return inlineNamespace + ":" + rest
	}
	return ""
}

// findComponents makes a body for every component. The interface is shown before any body is checked, because bodies
// refer to components in any order; the types of its outputs are computed on first use, when usersLast has put the
// component before its users.
func (r *run) findComponents() []*component {
	var all []*component
	add := func(decl *ast.Component, file *ast.File, packaged bool, names ...string) {
		of := &Component{Decl: decl, Packaged: packaged, Token: names[0] + ":index:" + decl.Name.Value}
		if decl.Token != nil && !packaged {
			of.Token = decl.Token.Value
			if parts := strings.Split(of.Token, ":"); len(parts) == 2 {
				of.Token = parts[0] + ":index:" + parts[1]
			}
		}
		made := &component{of: of}
		for _, out := range decl.Outputs {
			if out.Name.Value == "urn" { // reserved for all resources; "id" is for those that have an ID
				r.report.Errorf(diag.DeclaredTwice, out.Name.Range, "choose another name",
					"`urn` is the URN that every component has, and cannot be declared")
			}
		}
		for _, name := range names {
			// Programs write both forms, so both are keys and no look-up has to normalise.
			r.components.byToken[name+":index:"+decl.Name.Value] = made
			r.components.byToken[name+":"+decl.Name.Value] = made
			r.components.namespaces[name] = append(r.components.namespaces[name], made)
		}
		// A token of its own may be that of a component above; the later one gets it, as an equal name would.
		if other := r.components.byToken[of.Token]; other != made && other != nil {
			r.report.Add(diag.Diagnostic{Code: diag.DeclaredTwice, Subject: decl.Token.Range,
				Summary: "the component `" + other.of.Decl.Name.Value + "` has this type already",
				Detail:  "give one of the two another `token`",
				Related: []diag.Related{{Range: other.of.Decl.Name.Range, Message: "the other component is here"}}})
		}
		r.components.byToken[of.Token] = made
		r.components.byToken[strings.Replace(of.Token, ":index:", ":", 1)] = made
		made.body = r.bodyOf(made, file)
		of.Body = made.body.program
		made.show()
		r.components.checked[of] = made
		all = append(all, made)
	}
	if len(r.file.Lost) > 0 { // perhaps components, and so no package is missing
		r.components.namespaces[inlineNamespace] = []*component{}
	}
	for _, decl := range r.file.Components {
		add(decl, r.file, false, inlineNamespace)
	}
	// Each package has a namespace of its own.
	for _, pkg := range r.opts.Local {
		names := []string{pkg.Name}
		if pkg.Alias != "" && pkg.Alias != pkg.Name {
			names = append(names, pkg.Alias)
		}
		for _, name := range names { // its tokens are for no provider, even if it has no components
			if r.components.namespaces[name] == nil {
				r.components.namespaces[name] = []*component{}
			}
		}
		for _, decl := range pkg.File.Components {
			add(decl, pkg.File, true, names...)
		}
	}
	return all
}

// bodyOf makes the body of a component: a scope of its own, in which inputs take the place of configuration. A
// component is the same for all of its users, so that the stack's configuration has no part in it.
func (r *run) bodyOf(c *component, file *ast.File) *body {
	decl := c.of.Decl
	opts := r.opts
	// The options are a copy.
	opts.Config, opts.ConfigKnown = nil, false
	return r.newBody(&ast.File{Source: file.Source, Origins: file.Origins, Lost: file.Lost, Faults: file.Faults,
		Nameless: file.Nameless, RequiredVersion: decl.RequiredVersion, Unit: decl.Unit, Body: decl.Body}, opts, c)
}

// componentView is a component as its users see it. It has no access to the rest of the program, so that the next
// check may take it over without keeping this one alive. Two checks in which a component is the same share its view,
// and with it the types in it, so that its users need no check.
type componentView struct {
	decl    *ast.Component
	schema  *schema.Resource
	typ     *schema.ResourceType
	inputs  map[string]schema.Type // those without a declared type; nil until the body has been checked
	outputs []schema.Type          // nil until the body has been checked
}

// show makes the component's interface as its users see it. Parts that depend on the body, such as the types of
// outputs, are computed at first use, after the body has been checked.
func (c *component) show() {
	s := &componentView{decl: c.of.Decl}
	s.schema = &schema.Resource{Token: c.of.Token, Component: true, Description: c.of.Decl.Description.Text()}
	// The objects call the functions on first use and keep the result, so nobody may look before completeInterface.
	s.schema.Inputs = schema.NewObject("", true, s.inputProperties)
	s.schema.Outputs = schema.NewObject("", true, s.outputProperties)
	s.typ = s.schema.Type()
	c.seen, c.of.Schema = s, s.schema
}

// inputProperties returns the inputs of the component as its users see them. It runs once, at the first use, and so not
// before completeInterface has set inputs.
func (s *componentView) inputProperties() []*schema.Property {
	list := make([]*schema.Property, 0, len(s.decl.Config))
	for _, decl := range s.decl.Config {
		p := &schema.Property{Name: decl.Name.Value, Type: program.ConfigType(decl.Type),
			Required: decl.Default == nil && !decl.Optional.IsTrue(), // L3.51
			Secret:   decl.Secret.IsTrue()}
		// Without a declared type the default decides, whose type the check has found.
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

// outputProperties returns the outputs of the component. An output without a type yet, as of a component that is part
// of a cycle, has the type Invalid, which causes no further findings.
func (s *componentView) outputProperties() []*schema.Property {
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

// completeInterface completes the interface of a component, once its body has been checked. It takes the interface of
// an earlier check over if nothing in the body has changed.
func (b *body) completeInterface() {
	c := b.component
	if c == nil {
		return
	}
	if previous := b.run.previous; previous != nil && !b.changed && b.run.ctx.Err() == nil {
		// The same declaration and the same token: the parser keeps the declaration of an unchanged text.
		if before := previous.components[c.of.Decl]; before != nil && before.schema.Token == c.of.Token {
			c.seen, c.of.Schema = before, before.schema
			return
		}
	}
	c.seen.inputs = make(map[string]schema.Type, len(c.of.Decl.Config))
	for _, decl := range c.of.Decl.Config {
		if n := b.scope.Lookup(decl.Name.Value); n != nil && n.Config != nil {
			c.seen.inputs[decl.Name.Value] = n.Type
		}
	}
	// Outputs have the order of the declarations, by which outputProperties reads them.
	for _, o := range b.program.Outputs {
		c.seen.outputs = append(c.seen.outputs, o.Type)
	}
}

// refreshComponent updates an instance of a component to its users' view, once the component has been checked. The type
// of a resource is resolved before the components are checked, and so it may have the interface of this check although
// that of an earlier one has taken its place.
func (b *body) refreshComponent(n *Node) {
	if of := n.Resource.Component; of != nil {
		n.Resource.Schema, n.Type = of.Schema, b.run.components.checked[of].seen.typ
	}
}

// resolveComponent finds the component that a resource is an instance of.
func (b *body) resolveComponent(n *Node) {
	r, token := n.Resource, n.Resource.Decl.Type
	component := b.run.components.byToken[token.Value]
	if component == nil {
		namespace, name, _ := strings.Cut(token.Value, ":")
		// The declaration may be in a part of the text that could not be read.
		if slices.Contains(b.file.Lost, name) || b.scope.Nameless(name) {
			return
		}
		var names []string
		for _, known := range b.run.components.namespaces[namespace] {
			names = append(names, schema.CollapseToken(known.of.Token))
		}
		what := "component" // a package by path may have dynamic types as well
		for _, d := range b.program.Dynamic {
			if d.Package != "" && (d.Package == namespace || b.run.dynamic[namespace+":"+d.Decl.Name.Value] == d) {
				what, names = "type", append(names, schema.CollapseToken(d.Token))
			}
		}
		hint := findings.NearOrAll(diag.Suggest(token.Value, names), names, "there is ", "the package has none")
		r.Decl.HideTexts()
		b.run.report.Errorf(diag.TokenNotFound, token.Range, hint, "there is no %s `%s`", what, token.Value)
		return
	}
	r.Component, r.Schema, r.Token = component.of, component.of.Schema, component.of.Token
	n.Type = component.seen.typ
	if r.Decl.Get != nil {
		b.run.report.Errorf(diag.WrongKind, r.Decl.Name.Range, "declare the resources of the component instead",
			"a component cannot be read with `get`")
	}
}

// usersLast orders bodies so that each comes behind the components that it uses, and reports components that contain
// themselves: they would never end. A body in a cycle is checked nevertheless, with outputs of the type Invalid where
// they are not known yet.
func usersLast(report *findings.Reporter, bodies []*body, known *components) []*body {
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
		for _, n := range b.scope.All() {
			if n.Kind != ResourceNode || n.Resource.Component == nil {
				continue
			}
			switch dst := known.checked[n.Resource.Component].body; state[dst] {
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
		name, next := b.component.of.Decl.Name.Value, bodies[(i+1)%len(bodies)].component.of.Decl.Name.Value
		names = append(names, name)
		related = append(related, diag.Related{Range: via[i].Resource.Decl.Type.Range, Message: name + " contains " + next +
			" here"})
	}
	report.Add(diag.Diagnostic{Code: diag.Cycle, Subject: via[len(via)-1].Resource.Decl.Type.Range,
		Summary: "cycle of components: " + strings.Join(append(names, names[0]), " → "),
		Detail:  "a component cannot contain itself: remove one of these resources", Related: related})
}
