package check

import (
	"context"

	"github.com/yamlhost/yamlhost/schema"
)

// known is Program.Known for the body that is being checked.
func (c *run) known(t schema.Type) schema.Type { return known(c.ctx, c.schemas, t) }

func known(ctx context.Context, schemas schema.Loader, t schema.Type) schema.Type {
	switch t := t.(type) {
	case *schema.Token:
		if pkg := foreign(ctx, schemas, t.Package); pkg != nil {
			if found, err := pkg.Type(t.Token); err == nil {
				return found
			}
		}
	case *schema.ResourceType:
		if t.Outputs != nil {
			return t
		}
		if pkg := foreign(ctx, schemas, t.Package); pkg != nil {
			if r, err := pkg.ResolveResource(t.Token); err == nil && r.Token == t.Token {
				return &schema.ResourceType{Token: r.Token, Component: r.Component, Outputs: func() *schema.Object { return r.Outputs }}
			}
		}
	}
	return t
}

// foreign is the package that a schema refers to; nil when there is none, or it is not at hand, which is no fault of the
// program.
func foreign(ctx context.Context, schemas schema.Loader, d schema.Descriptor) *schema.Package {
	if d.Name == "" || schemas == nil {
		return nil
	}
	pkg, err := schemas.Load(ctx, d)
	if err != nil {
		return nil
	}
	return pkg
}
