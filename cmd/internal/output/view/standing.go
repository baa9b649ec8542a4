package view

import (
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Standing answers whether resources are still declared where states have recorded it. It reads each text at most once.
// The zero value is ready for use and safe for concurrent use.
type Standing struct {
	mu    sync.Mutex
	texts map[*diag.Source]*Declarations
}

// Stands reports whether the text at place declares the resource u, and place begins at its name there.
func (s *Standing) Stands(place diag.Range, u urn.URN) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.texts[place.Source]
	if d == nil {
		// A copy, since the parser marks the secrets that it finds in a text, which others may be showing.
		file, _ := parser.Parse(diag.NewSource(place.Source.Name(), place.Source.Text()), parser.Options{})
		d = DeclarationsOf(file)
		if s.texts == nil {
			s.texts = map[*diag.Source]*Declarations{}
		}
		s.texts[place.Source] = d
	}
	return d.Declare(place.StartPosition(), u)
}

// Declarations are the resources that a file declares, by the positions of their names.
type Declarations struct {
	own    map[diag.Position]*ast.Resource // outside of components
	inside map[diag.Position]*ast.Resource // in components
	named  map[string][]*ast.Resource      // own by the name in the URN, without an instance's key
}

// DeclarationsOf returns the declarations of a file, which may be nil.
func DeclarationsOf(file *ast.File) *Declarations {
	d := &Declarations{own: map[diag.Position]*ast.Resource{}, inside: map[diag.Position]*ast.Resource{},
		named: map[string][]*ast.Resource{}}
	if file == nil {
		return d
	}
	for _, r := range file.Resources {
		d.own[r.Name.Range.StartPosition()] = r
		d.named[nameOf(r)] = append(d.named[nameOf(r)], r)
	}
	for _, c := range file.Components {
		for _, r := range c.Resources {
			d.inside[r.Name.Range.StartPosition()] = r
		}
	}
	return d
}

// Declare reports whether the resource u is declared with its name at a position. For a resource in a component the
// file has to declare the resource that it belongs to, too.
func (d *Declarations) Declare(at diag.Position, u urn.URN) bool {
	if r := d.own[at]; r != nil {
		return sameType(r, u) && called(r, u.Name())
	}
	r, name := d.inside[at], u.Name()
	if r == nil || !sameType(r, u) {
		return false
	}
	for i := range len(name) {
		if name[i] == '-' && called(r, name[i+1:]) && d.owns(name[:i]) {
			return true
		}
	}
	return false
}

// owns reports whether a resource outside of components has a name.
func (d *Declarations) owns(name string) bool {
	if len(d.named[name]) > 0 {
		return true
	}
	for i := range len(name) {
		if name[i] != '-' {
			continue
		}
		for _, r := range d.named[name[:i]] {
			if r.ForEach != nil {
				return true
			}
		}
	}
	return false
}

// called reports whether a declaration makes a resource of a name.
func called(r *ast.Resource, name string) bool {
	own := nameOf(r)
	return name == own || r.ForEach != nil && strings.HasPrefix(name, own+"-")
}

func nameOf(r *ast.Resource) string {
	if r.LogicalName != nil {
		return r.LogicalName.Value
	}
	return r.Name.Value
}

// sameType reports whether the type that a program names is that of a URN.
func sameType(r *ast.Resource, u urn.URN) bool {
	return r.Type != nil && schema.CollapseToken(r.Type.Value) == schema.CollapseToken(u.Type())
}
