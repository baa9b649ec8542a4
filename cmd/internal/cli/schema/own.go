package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// ownPackage is a package of components without a provider: one that the project uses by path (L7.31), or the
// components that the program itself declares (L3.E).
type ownPackage struct {
	name       string
	components []*check.Component
}

// ownPackageOf returns the program's own package called name. It returns nil for a provider's package, even if a
// component of the program has a token in it. It checks the program, since the types of a component's outputs depend on
// its body.
func ownPackageOf(ctx context.Context, ws *workspace.Workspace, p *operation.Providers, name string) *ownPackage {
	const inline = "components"
	own := &ownPackage{name: name}
	byPath := false
	// A package by path has the name that its own file gives it, and the one that the project uses.
	for _, local := range ws.Components {
		if name == local.Alias || name == local.Name {
			own.name, byPath = local.Name, true
		}
	}
	if !byPath && name != inline {
		return nil
	}
	// A package in another language is compiled first, for its components are known only then.
	ws.Compile(ctx, workspace.Run{})
	program, _ := operation.CheckWorkspace(ctx, ws, p, nil) // the command check reports errors
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

// describe returns the description of a component, given any of its tokens.
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

// tokens returns the tokens of the components, in the order of their declaration.
func (own *ownPackage) tokens() []string {
	tokens := make([]string, len(own.components))
	for i, c := range own.components {
		tokens[i] = c.Token
	}
	return tokens
}

// writeJSONSchema writes the JSON schema for the program of a project, or for the settings files of its stacks. For a
// program with errors, it uses the readable parts.
func writeJSONSchema(ctx context.Context, a *console.Console, o *schemaOptions, given *operation.GivenSchemas) error {
	ws, err := a.OpenTarget(o.token, a.Looking())
	if err != nil {
		return err
	}
	providers := operation.NewProviders(a, ws, nil, operation.Careful)
	defer providers.Close()
	providers.Given = given
	program, _ := operation.CheckWorkspace(ctx, ws, providers, nil) // the command check reports errors
	// An interrupted check has read a part of the program, which would be a schema that refuses the rest.
	if ctx.Err() != nil {
		return a.Signals.Ended()
	}
	if program == nil {
		return errors.New("the program cannot be read; `yamlhost check` says why")
	}
	var written map[string]any
	if o.stackFile {
		written = editor.StackJSONSchema(program)
	} else {
		packages, err := packagesOf(ctx, a, program, ws.Schemas(providers.Schemas()))
		if err != nil {
			return err
		}
		written = editor.JSONSchema(ctx, program, packages, o.all)
	}
	return jsontext.Write(a.Streams.Out, written, "") // compact, because the schema is large and read by programs only
}

// packagesOf returns the packages of a program and the built-in ones, each once. It warns about a package that cannot
// be loaded; the JSON schema then accepts any content for its types.
func packagesOf(ctx context.Context, a *console.Console, program *check.Program, loader schema.Loader,
) ([]*schema.Package, error) {
	var wanted []schema.Descriptor
	wanted = append(wanted, program.Packages...)
	for _, c := range program.Components {
		wanted = append(wanted, c.Body.Packages...)
	}
	for _, name := range append([]string{"pulumi"}, embedded.Names()...) {
		wanted = append(wanted, schema.Descriptor{Name: name})
	}
	var packages []*schema.Package
	seen := map[string]bool{}
	for _, d := range wanted {
		// The first use decides about the version, as in the check.
		if seen[d.PackageName()] {
			continue
		}
		seen[d.PackageName()] = true
		pkg, err := loader.Load(ctx, d)
		if ctx.Err() != nil {
			return nil, a.Signals.Ended()
		}
		if err != nil {
			fmt.Fprintf(a.Streams.Err, "warning: any type of package %s is allowed, since its schema cannot be read: %v\n",
				d.PackageName(), err)
			continue
		}
		packages = append(packages, pkg)
	}
	return packages, nil
}
