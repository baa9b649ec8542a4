package editor

import (
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// spot describes the syntax at a position of a program. Fields that do not apply are zero. All features that point at
// something begin with it: hover, definitions, references, renaming, the graph. A position is at most one of these
// things, so that few fields are set.
type spot struct {
	node     *check.Node   // the declaration of the name at the position
	output   *ast.Output   // the output named at the position
	access   *ast.Access   // the access at the position
	step     int           // index of the step of access at the position; -1 for its root
	call     *ast.Call     // the call of the function named at the position
	resource *check.Node   // the resource around the position
	typed    *ast.Literal  // the type of resource, if it is at the position
	property []ast.Literal // keys from a property of resource to the key at the position
	option   *ast.Option   // the option with its key at the position
	at       diag.Range    // range of the word, in the source that was parsed
}

// source maps an offset of a file to the parsed source that covers it and the offset there. The source is nil if the
// program declares nothing in the file. A program that was edited is parsed in parts, each a source of its own, and
// ranges of trees are those of the parts: it is cheaper to convert one position than all ranges.
func (p *Program) source(path string, offset int) (*diag.Source, int) {
	if path == p.Main {
		if p.File != nil && p.File.Origins != nil {
			// The text has been edited since, and its tree is of parts.
			return p.Document.Inside(offset)
		}
		return p.Document.Source(), offset
	}
	// Only the program's own text is parsed in parts: in another file, the source of any declaration covers the whole
	// text.
	var found *diag.Source
	p.eachDeclaration(func(r diag.Range) {
		if r.Source != nil && found == nil && p.PathOf(p.File.Origins.Place(r)) == path {
			found = r.Source
		}
	})
	return found, offset
}

// eachDeclaration calls fn with the range of each declaration, transform and message of the program.
func (p *Program) eachDeclaration(fn func(diag.Range)) {
	for _, d := range p.File.Declarations() {
		fn(d.Range)
	}
	for _, t := range p.File.Transforms {
		fn(t.Range)
	}
	for _, m := range p.File.Messages {
		fn(m.Range)
	}
}

// bodies returns the checked program and the checked bodies of its own components. The program itself is the first.
func (p *Program) bodies() []*check.Program {
	bodies := []*check.Program{p.Checked}
	for _, c := range p.Checked.Components {
		// Those of packages are in files of their own, whose programs answer for them.
		if !c.Packaged {
			bodies = append(bodies, c.Body)
		}
	}
	return bodies
}

// bodyNamed returns the body of the named component, or the program's if there is no such component.
func bodyNamed(p *check.Program, component string) *check.Program {
	for _, c := range p.Components {
		if component != "" && !c.Packaged && c.Decl.Name.Value == component {
			return c.Body
		}
	}
	return p
}

// walk calls fn for every expression of the program and its components, including nested ones.
func (p *Program) walk(fn func(ast.Expr)) {
	for _, body := range p.bodies() {
		body.File.Exprs(func(top ast.Expr) {
			ast.Walk(top, func(e ast.Expr) bool {
				fn(e)
				return true
			})
		})
	}
}

// at finds the syntax at a position. Declarations come before expressions, and both are searched in the order of the
// text: the program is not indexed, since one position is asked for at a time.
func (p *Program) at(path string, offset int) spot {
	src, i := p.source(path, offset)
	if src == nil || p.Checked == nil {
		return spot{}
	}
	here := func(r diag.Range) bool { return r.Source == src && r.Contains(i) }
	for _, body := range p.bodies() {
		for _, n := range body.Nodes {
			// Configuration that only settings have is no declaration to point at.
			if here(n.Range) && (n.Config == nil || n.Config.Decl != nil) {
				return spot{node: n, at: n.Range}
			}
			if n.Resource == nil || !here(n.Resource.Decl.Range) {
				continue
			}
			// Otherwise the position is in a value, and expressions are searched below.
			if s, found := resourceSpot(n, here); found {
				return s
			}
		}
		for _, o := range body.File.Outputs {
			if here(o.Name.Range) {
				return spot{output: o, at: o.Name.Range}
			}
		}
		var found spot
		body.File.Exprs(func(e ast.Expr) {
			if !here(e.Range()) {
				return
			}
			ast.Walk(e, func(e ast.Expr) bool {
				switch e := e.(type) {
				case *ast.Access:
					if here(e.Range()) {
						// Walk visits an expression before its parts, so the innermost one is found last.
						found = accessSpot(p, e, i)
					}
				case *ast.Call:
					if here(e.Name.Range) {
						found = spot{call: e, at: e.Name.Range}
					}
				}
				return true
			})
		})
		if !found.at.IsZero() {
			return found
		}
	}
	return spot{}
}

// accessSpot describes the access a at pos, which is inside it. The dot belongs to the step behind it, but a position
// right at the dot is still the one before.
func accessSpot(p *Program, a *ast.Access, pos int) spot {
	s := spot{access: a, step: -1, at: a.Root.Range}
	for i, step := range a.Steps {
		if step.Range.Contains(pos) && int(step.Range.Start) < pos {
			// Each step is behind the one before, so that the first match is the only one.
			s.step, s.at = i, step.Range
			return s
		}
	}
	if ref := p.Checked.Ref(a); ref.Kind == check.RefNode || ref.Kind == check.RefEach {
		s.node = ref.Node
	}
	return s
}

// resourceSpot describes the type, option or property of a resource for which here holds. It reports false for
// positions in values, which at then searches for expressions.
func resourceSpot(n *check.Node, here func(diag.Range) bool) (spot, bool) {
	decl := n.Resource.Decl
	if decl.Type != nil && here(decl.Type.Range) {
		return spot{resource: n, typed: decl.Type, at: decl.Type.Range}, true
	}
	var option *ast.Option
	decl.Options.Each(func(o *ast.Option) {
		if here(o.Key.Range) {
			option = o
		}
	})
	if option != nil {
		return spot{resource: n, option: option, at: option.Key.Range}, true
	}
	for _, property := range decl.Properties {
		if here(property.Name.Range) {
			return spot{resource: n, property: []ast.Literal{property.Name}, at: property.Name.Range}, true
		}
		if keys := keysTo(property.Value, here); keys != nil {
			return spot{resource: n, property: append([]ast.Literal{property.Name}, keys...),
				at: keys[len(keys)-1].Range}, true
		}
	}
	return spot{}, false
}

// keysTo returns the map keys in e on the way to the key for which here holds; nil if there is none. Items of lists are
// steps, too, called `[]`, so that memberType can follow the keys.
func keysTo(e ast.Expr, here func(diag.Range) bool) []ast.Literal {
	if e == nil || !here(e.Range()) {
		return nil
	}
	switch e := e.(type) {
	case *ast.List:
		for _, item := range e.Items {
			if keys := keysTo(item, here); keys != nil {
				return append([]ast.Literal{{Value: "[]", Range: item.Range()}}, keys...)
			}
		}
	case *ast.Map:
		for _, entry := range e.Entries {
			key, ok := entry.Key.(*ast.String)
			if !ok {
				continue
			}
			literal := ast.Literal{Value: key.Value, Range: key.Range()}
			if here(key.Range()) {
				return []ast.Literal{literal}
			}
			if keys := keysTo(entry.Value, here); keys != nil {
				return append([]ast.Literal{literal}, keys...)
			}
		}
	}
	return nil
}

// memberType returns the type of a member or an item of a value of type t, and its property if it has one. The name of
// an item starts with a bracket. The type is nil if t has no such member. It is a kinder reading than the checker's: of
// a union, any alternative with the member will do, as an answer is better than none.
func memberType(t schema.Type, name string) (schema.Type, *schema.Property) {
	switch t := schema.Required(t).(type) {
	case *schema.Object:
		if p := t.Property(name); p != nil {
			return p.Type, p
		}
	case *schema.Map:
		return t.Item, nil
	case *schema.Array:
		if strings.HasPrefix(name, "[") {
			return t.Item, nil
		}
	case *schema.ResourceType:
		switch {
		case name == "urn", name == "id" && !t.Component:
			return schema.String, nil
		case t.Outputs != nil:
			if p := t.Outputs().Property(name); p != nil {
				return p.Type, p
			}
		}
	case *schema.Union:
		for _, member := range t.Members {
			if found, p := memberType(member, name); found != nil {
				return found, p
			}
		}
	}
	return nil, nil
}

// members returns the named members of a value of type t. A map and a list have members, but no names for them.
func members(t schema.Type) []*schema.Property {
	switch t := schema.Required(t).(type) {
	case *schema.Object:
		return t.Properties()
	case *schema.ResourceType:
		list := []*schema.Property{{Name: "urn", Type: schema.String, Description: "The URN of the resource."}}
		if !t.Component {
			list = append(list, &schema.Property{Name: "id", Type: schema.String,
				Description: "The ID that the provider gave the resource."})
		}
		if t.Outputs != nil {
			list = append(list, t.Outputs().Properties()...)
		}
		return list
	case *schema.Union:
		var list []*schema.Property
		// The first alternative with a member describes it, as in memberType.
		seen := map[string]bool{}
		for _, member := range t.Members {
			for _, p := range members(member) {
				if !seen[p.Name] {
					seen[p.Name] = true
					list = append(list, p)
				}
			}
		}
		return list
	}
	return nil
}
