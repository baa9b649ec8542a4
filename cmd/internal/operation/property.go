package operation

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// property is Property of the program, once it is checked.
func (s *display) property(resource diag.Range, text string) (diag.Range, bool) {
	if s.program == nil || s.program.File == nil {
		return diag.Range{}, false
	}
	return Property(s.program.File, resource, text)
}

// Property finds what a program gives for an input property of the resource whose name stands at a place, as deep as it
// is written out. It answers false for one that the program does not write.
func Property(file *ast.File, resource diag.Range, text string) (diag.Range, bool) {
	path, err := value.ParsePath(text)
	if err != nil || len(path) == 0 {
		return diag.Range{}, false
	}
	bodies := [][]*ast.Resource{file.Resources}
	for _, c := range file.Components {
		bodies = append(bodies, c.Resources)
	}
	for _, r := range slices.Concat(bodies...) {
		rng := r.Name.Range
		if rng.Source == nil || rng.Source.Name() != resource.Source.Name() ||
			rng.StartPosition() != resource.StartPosition() {
			continue
		}
		for _, property := range r.Properties {
			if property.Name.Value == path[0].Key {
				return deepest(property.Value, path[1:]).Range(), true
			}
		}
	}
	return diag.Range{}, false
}

// deepest is the expression that a path leads to, or the last one on the way that is written out.
func deepest(e ast.Expr, path value.Path) ast.Expr {
	if len(path) == 0 {
		return e
	}
	switch e := e.(type) {
	case *ast.Map:
		for _, entry := range e.Entries {
			if key, ok := entry.Key.(*ast.String); ok && !path[0].IsIndex && key.Value == path[0].Key {
				return deepest(entry.Value, path[1:])
			}
		}
	case *ast.List:
		if i := path[0].Index; path[0].IsIndex && i >= 0 && i < len(e.Items) {
			return deepest(e.Items[i], path[1:])
		}
	}
	return e
}
