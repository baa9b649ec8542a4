package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// ownPackage are the components of a package that has no provider: of one that the project uses by its path (L7.31), or
// those that the program declares itself (L3.E).
type ownPackage struct {
	name       string
	components []*check.Component
}

// ownPackageOf finds the program's own package of a name; nil for a provider's package, even if a component of the
// program has a token in it. It checks the program, since the types of a component's outputs come from its body.
func ownPackageOf(ctx context.Context, ws *workspace.Workspace, p *operation.Providers, name string) *ownPackage {
	const inline = "components"
	own := &ownPackage{name: name}
	byPath := false
	for _, local := range ws.Components {
		if name == local.Alias || name == local.Name {
			own.name, byPath = local.Name, true
		}
	}
	if !byPath && name != inline {
		return nil
	}
	ws.Compile(ctx, workspace.Run{})
	program, _ := operation.CheckWorkspace(ctx, ws, p, nil) // what is wrong with it is for check to say
	if program == nil {
		return nil
	}
	for _, c := range program.Components {
		if pkg, _, _ := strings.Cut(c.Token, ":"); pkg == own.name || !byPath && !c.Packaged {
			own.components = append(own.components, c)
		}
	}
	if !byPath && len(own.components) == 0 {
		return nil
	}
	return own
}

// describe finds a component by any of its tokens.
func (own *ownPackage) describe(token string) (*MemberRecord, error) {
	_, rest, _ := strings.Cut(token, ":")
	wanted := strings.TrimPrefix(rest, "index:")
	for _, c := range own.components {
		if c.Decl.Name.Value == wanted || schema.CollapseToken(c.Token) == schema.CollapseToken(token) {
			return resourceRecord(c.Schema), nil
		}
	}
	text := fmt.Sprintf("package %s has no component %s", own.name, token)
	if near := diag.Suggest(own.name+":"+wanted, collapsed(own.tokens())); len(near) > 0 {
		text += "; near are " + strings.Join(near, ", ")
	}
	return nil, errors.New(text)
}

func (own *ownPackage) tokens() []string {
	tokens := make([]string, len(own.components))
	for i, c := range own.components {
		tokens[i] = c.Token
	}
	return tokens
}
