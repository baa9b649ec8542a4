package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/schema"
)

// writeJSONSchema writes the schema of the program of a project, or of its stacks' files. A program with faults has
// one too, made of its readable parts.
func writeJSONSchema(ctx context.Context, a *console.Console, o *schemaOptions, given *operation.GivenSchemas) error {
	ws, err := a.OpenTarget(o.token, a.Looking())
	if err != nil {
		return err
	}
	providers := operation.NewProviders(a, ws, nil, operation.Careful)
	defer providers.Close()
	providers.Given = given
	program, _ := operation.CheckWorkspace(ctx, ws, providers, nil) // what is wrong with it is for check to say
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
	return jsontext.Write(a.Streams.Out, written, "") // on one line: it is for programs, and large
}

// packagesOf returns the packages of a program and the built-in ones, each once. It warns of a package that cannot be
// loaded: the schema then allows its types without a check.
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
