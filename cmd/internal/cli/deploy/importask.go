package deploy

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/schema"
)

// ask completes the arguments of an import of one resource: a person on a terminal chooses the type, and enters the
// name and the ID. Without a person, or without an answer, it returns an error that names the missing arguments.
func (o *importOptions) ask(ctx context.Context, a *console.Console) error {
	if len(o.args) == 3 {
		return nil
	}
	missing := console.WithCode(console.CodeBadUsage, "import takes a type, a name and an ID, or --file, or --query")
	if len(o.args) == 2 {
		missing = console.WithCode(console.CodeBadUsage, "missing ID: import TYPE NAME ID")
	}
	if !a.Interactive() || a.World.AsPulumi {
		return missing
	}
	// The questions have the order of the arguments, so those that were given skip the first ones.
	questions := []func() (string, error){
		func() (string, error) { return o.chooseType(ctx, a) },
		func() (string, error) { return a.Prompt().Line("name in the program") },
		func() (string, error) { return a.Prompt().Line("ID of the existing resource") },
	}
	for _, question := range questions[len(o.args):] {
		answer, err := question()
		switch {
		// The end of input and an empty line both mean that nobody wants to answer.
		case errors.Is(err, io.EOF), err == nil && answer == "":
			return missing
		case err != nil:
			return err
		}
		o.args = append(o.args, answer)
	}
	return nil
}

// chooseType has a person choose a type: those of the program's packages come first, then those of the other built-in
// and installed ones. It starts no plugin, so that the types of some packages may be missing; any type can be entered.
func (o *importOptions) chooseType(ctx context.Context, a *console.Console) (string, error) {
	ws, err := a.OpenTarget(".", a.Looking())
	if err != nil {
		return "", err
	}
	providers := operation.NewProviders(a, ws, nil, operation.Careful)
	defer providers.Close()
	m := view.Menu{Question: "type", Other: "the type", At: -1}
	seen := map[string]bool{}
	// A package that the program uses comes before the installed one of the same name, and hides it.
	add := func(name string, pkg *schema.Package, err error) {
		if err != nil || seen[name] { // a faulty schema is reported by the import
			return
		}
		seen[name] = true
		var types []string
		for _, token := range pkg.ResourceTokens() {
			types = append(types, schema.CollapseToken(token))
		}
		slices.Sort(types)
		for _, t := range types {
			m.Items = append(m.Items, view.MenuItem{Name: t})
		}
	}
	if program, _ := operation.CheckWorkspace(ctx, ws, providers, nil); program != nil { // `check` reports its errors
		loader := ws.Schemas(providers.Schemas())
		for _, d := range program.Packages {
			pkg, err := loader.Load(ctx, d)
			add(d.PackageName(), pkg, err)
		}
	}
	// KeptSchema starts nothing: it knows built-in packages and those whose schema is cached.
	for _, name := range operation.PackageNames(a.World.PulumiHome(), nil) {
		pkg, err := providers.KeptSchema(name)
		add(name, pkg, err)
	}
	_, chosen, err := a.Prompt().Choose(m)
	return chosen, err
}
