package check

import (
	"context"

	"github.com/yamlhost/yamlhost/schema"
)

// known is Program.Known for the declaration that is being checked.
func (c *constants) known(t schema.Type) schema.Type {
	found, missing := known(c.ctx, c.schemas, t)
	c.volatile = c.volatile || missing
	return found
}

// known answers missing for a type whose package is not known.
func known(ctx context.Context, schemas schema.Loader, t schema.Type) (found schema.Type, missing bool) {
	switch t := t.(type) {
	case *schema.Token:
		pkg, missing := foreign(ctx, schemas, t.Package)
		if pkg != nil {
			if found, err := pkg.Type(t.Token); err == nil {
				return found, false
			}
		}
		return t, missing
	case *schema.ResourceType:
		if t.Outputs != nil {
			return t, false
		}
		pkg, missing := foreign(ctx, schemas, t.Package)
		if pkg != nil {
			if r, err := pkg.ResolveResource(t.Token); err == nil && r.Token == t.Token {
				return &schema.ResourceType{Token: r.Token, Component: r.Component,
					Outputs: func() *schema.Object { return r.Outputs }}, false
			}
		}
		return t, missing
	}
	return t, false
}

// foreign is the package that a schema refers to; nil when there is none, or it is missing, which is no fault of the
// program.
func foreign(ctx context.Context, schemas schema.Loader, d schema.Descriptor) (pkg *schema.Package, missing bool) {
	if d.Name == "" || schemas == nil {
		return nil, false
	}
	pkg, err := schemas.Load(ctx, d)
	if err != nil {
		return nil, true
	}
	return pkg, false
}
