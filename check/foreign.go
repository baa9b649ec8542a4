package check

import "github.com/yamlhost/yamlhost/schema"

// known is a type with its definition where it is of another package than the one that refers to it (F8.7), and that package
// is at hand; else it stays as it is, known by its name only.
func (c *checker) known(t schema.Type) schema.Type {
	switch t := t.(type) {
	case *schema.Token:
		if pkg := c.foreign(t.Package); pkg != nil {
			if found, err := pkg.Type(t.Token); err == nil {
				return found
			}
		}
	case *schema.ResourceType:
		if t.Outputs != nil {
			return t
		}
		if pkg := c.foreign(t.Package); pkg != nil {
			if r, err := pkg.ResolveResource(t.Token); err == nil && r.Token == t.Token {
				return &schema.ResourceType{Token: r.Token, Component: r.Component, Outputs: func() *schema.Object { return r.Outputs }}
			}
		}
	}
	return t
}

// foreign is the package that a schema refers to; nil when there is none, or it is not at hand, which is no fault of the
// program.
func (c *checker) foreign(d schema.Descriptor) *schema.Package {
	if d.Name == "" || c.opts.Schemas == nil {
		return nil
	}
	pkg, err := c.opts.Schemas.Load(c.ctx, d)
	if err != nil {
		return nil
	}
	return pkg
}
