package editor

import "context"

// TypeDefinition returns the declaration of the type of the name at a position: the component, or the dynamic type, of
// a resource or of a type's name. Types of packages are declared by no text.
func TypeDefinition(ctx context.Context, s *Snapshot, path string, offset int) ([]Location, error) {
	p, err := s.Program(ctx, path)
	if err != nil || p.Checked == nil {
		return nil, err
	}
	found := p.at(path, offset)
	n := p.nodeOf(found)
	if found.typed != nil {
		n = found.resource
	}
	switch {
	case n == nil || n.Resource == nil:
		return nil, nil
	case n.Resource.Component != nil:
		return []Location{p.location(n.Resource.Component.Decl.Name.Range)}, nil
	case n.Resource.Dynamic != nil:
		return []Location{p.location(n.Resource.Dynamic.Decl.Name.Range)}, nil
	}
	return nil, nil
}
