package schema

import "slices"

// Resource is a resource type of a package.
type Resource struct {
	Token       string // canonical
	Component   bool
	Inputs      *Object
	Outputs     *Object // without id and urn, which every resource has by its kind
	StateInputs *Object // the allowed state of a get; nil if the schema has none
	ListInputs  *Object // conditions of a listing; nil if the schema has none
	Aliases     []string
	Methods     map[string]string // method name to function token
	Deprecation string
	Description string
	Overlay     bool // exists in other languages only
}

// Type returns the type of references to the resource.
func (r *Resource) Type() *ResourceType {
	return &ResourceType{Token: r.Token, Component: r.Component, Outputs: func() *Object { return r.Outputs }}
}

// Function is a function of a package.
type Function struct {
	Token       string // canonical
	Inputs      *Object
	MultiArg    []string // names of the inputs in positional order; nil for one argument object
	Result      Type     // nil for no result
	Scalar      bool     // the result is the single value of the returned object (F8.16)
	Deprecation string
	Description string
	Overlay     bool
}

// SecretOutputs returns the names of the secret top-level outputs, in schema order (F8.12).
func (r *Resource) SecretOutputs() []string {
	var names []string
	for _, p := range r.Outputs.Properties() {
		if p.Secret {
			names = append(names, p.Name)
		}
	}
	return names
}

// ReplaceOnChanges returns the property paths whose change replaces the resource: outputs that the schema marks, at any
// depth, in schema order (F8.12). [*] in a path means every item of a list or entry of a map.
func (r *Resource) ReplaceOnChanges() []string {
	if !r.marksReplacement() {
		return nil
	}
	var paths []string
	visiting := make(map[*Object]bool)
	var walk func(prefix string, t Type)
	members := func(prefix string, o *Object) {
		if o == nil || visiting[o] || len(visiting) > maxTypeDepth {
			return
		}
		visiting[o] = true
		defer delete(visiting, o)
		for _, p := range o.Properties() {
			path := p.Name
			if prefix != "" {
				path = prefix + "." + p.Name
			}
			if p.ReplaceOn {
				paths = append(paths, path+itemsOf(p.Type))
				continue
			}
			walk(path, p.Type)
		}
	}
	walk = func(path string, t Type) {
		switch t := t.(type) {
		case *Optional:
			walk(path, t.Elem)
		case *Array:
			walk(path+"[*]", t.Item)
		case *Map:
			walk(path+"[*]", t.Item)
		case *Object:
			members(path, t)
		case *Union:
			for _, member := range t.Members {
				walk(path, member)
			}
		}
	}
	members("", r.Outputs)
	return slices.Compact(paths)
}

// marksReplacement reports whether any output at any depth is marked. It looks at each type once, which following every
// path through types that refer to each other would not.
func (r *Resource) marksReplacement() bool {
	seen := make(map[*Object]bool)
	var marked func(t Type) bool
	marked = func(t Type) bool {
		switch t := t.(type) {
		case *Optional:
			return marked(t.Elem)
		case *Array:
			return marked(t.Item)
		case *Map:
			return marked(t.Item)
		case *Union:
			return slices.ContainsFunc(t.Members, marked)
		case *Object:
			if t == nil || seen[t] {
				return false
			}
			seen[t] = true
			return slices.ContainsFunc(t.Properties(), func(p *Property) bool { return p.ReplaceOn || marked(p.Type) })
		}
		return false
	}
	return marked(r.Outputs)
}

// itemsOf returns the suffix of a path that selects everything inside a value of a type.
func itemsOf(t Type) string {
	switch t := Required(t).(type) {
	case *Array:
		return "[*]" + itemsOf(t.Item)
	case *Map:
		return "[*]" + itemsOf(t.Item)
	}
	return ""
}
