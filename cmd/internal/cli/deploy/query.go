package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// mostShown limits the rows in the table of results. An import file contains all results.
const mostShown = 100

// queried asks providers for existing resources as the file of --query describes them, shows them, and returns those
// that the stack does not have. It returns none if the results are written to a file.
func queried(ctx context.Context, a *console.Console, o *importOptions) (map[string]urn.URN, []ImportEntry, error) {
	if err := o.alone("--query"); err != nil {
		return nil, nil, err
	}
	if o.found == "" {
		// Asking providers takes long, so a missing --yes is reported before it.
		if err := operation.MayAsk(a, &o.all); err != nil {
			return nil, nil, err
		}
	}
	// The user named the file, so it may be anywhere.
	text, err := os.ReadFile(a.Path(o.query))
	if err != nil {
		return nil, nil, fmt.Errorf("read the query: %w", err)
	}
	q, diags := project.ParseQuery(diag.NewSource(a.Short(a.Path(o.query)), text))
	if err := a.Report(diags); err != nil {
		return nil, nil, err
	}
	s := &search{query: q, table: map[string]urn.URN{}}
	if err := operation.Inspect(ctx, a, &o.all, "Asking what exists", s.run); err != nil {
		return nil, nil, err
	}
	// The table goes to standard error, as standard output may get the import file.
	if !o.all.Json {
		if err := s.show(a.Streams.Err); err != nil {
			return nil, nil, err
		}
	}
	entries := s.missing()
	switch {
	case len(entries) == 0:
		fmt.Fprintln(a.Streams.Err, "There is nothing to import.")
		return nil, nil, nil
	// No entries are returned, so that nothing is imported.
	case o.found != "":
		return nil, nil, s.save(a, o.found, entries)
	}
	imports := make([]ImportEntry, len(entries))
	for n, e := range entries {
		imports[n] = ImportEntry{Type: e.Type, Name: e.Name, ID: e.ID, Provider: e.Provider,
			declared: &s.packages[e.query]}
		// With a source the project declares the package, and the version is written there.
		if q := s.query.Resources[e.query]; q.Source.Text == "" {
			imports[n].Version, imports[n].PluginDownloadURL = q.Version, q.DownloadURL // for resource options
		}
	}
	return s.table, imports, nil
}

// A search is a query in progress.
type search struct {
	query    *project.Query
	packages []schema.Descriptor // packages of the query's types, in the order of the query
	table    map[string]urn.URN  // providers that the query names
	found    []discovery
}

// A discovery is a resource that a query has found.
type discovery struct {
	operation.SavedImport
	query   int    // index of the query's item that found it
	managed string // name of the resource in the stack; empty if it is not in the stack
}

// run asks the providers for resources. All items are checked before the first provider is asked.
func (s *search) run(ctx context.Context, p *operation.Checked, o engine.Options) error {
	var diags diag.Diagnostics
	asked := make([]engine.Query, len(s.query.Resources))
	s.packages = make([]schema.Descriptor, len(asked))
	for n := range s.query.Resources {
		q := &s.query.Resources[n]
		var found diag.Diagnostics
		// All faults of the file are reported at once.
		asked[n], s.packages[n], found = s.ask(ctx, p, o.Base, q)
		diags.Add(found...)
	}
	if err := p.Console.Report(diags); err != nil {
		return err
	}
	answers, err := engine.List(ctx, o, asked)
	switch {
	// The engine has shown its reason already.
	case errors.Is(err, monitor.ErrReported):
		return errors.New("a provider that the query needs could not be started: nothing was imported")
	case err != nil:
		return err
	}
	s.name(o.Base, asked, answers)
	return nil
}

// ask converts an item of the query to the engine's form. It also returns the package of the type, and diagnostics.
func (s *search) ask(ctx context.Context, p *operation.Checked, base *state.Snapshot, q *project.QueriedType) (
	asked engine.Query, d schema.Descriptor, diags diag.Diagnostics) {
	fault := func(code diag.Code, rng diag.Range, summary, detail string) {
		diags.Add(diag.Diagnostic{Severity: diag.Error, Code: code, Subject: rng, Summary: summary, Detail: detail})
	}
	pkg := urn.PackageOf(q.Type.Text)
	asked = engine.Query{Type: q.Type.Text, Limit: q.Limit, Query: value.EmptyMap()}
	// The package comes first: everything else about the type depends on it.
	d, made, err := s.made(ctx, p, q)
	switch {
	case err == nil && q.Source.Text != "" && !declares(p.Workspace, d):
		diags.Add(undeclared(q, pkg))
	case err != nil:
		rng := q.Type.Range
		if q.Source.Text != "" {
			rng = q.Source.Range
		}
		summary, detail, _ := strings.Cut(err.Error(), "\n")
		fault(diag.PackageMissing, rng, summary, detail)
		return asked, d, diags
	}
	if q.Provider.Text != "" {
		own := pkg
		// A resource of an extension uses the provider of the package that it extends.
		if d.Extension {
			own = d.Name
		}
		r, err := namedProvider(base, own, q.Provider.Text)
		if err != nil {
			fault(diag.Undeclared, q.Provider.Range, err.Error(),
				"leave it out for the provider that the stack's configuration describes")
			return asked, d, diags
		}
		asked.Provider = urn.Reference{URN: r.URN, ID: r.ID}.String()
		s.table[r.URN.Name()] = r.URN
		// Unless the query has parameters itself, those that the provider was made from decide which package is meant.
		if recorded, parameterized := operation.MadeOf(r); parameterized && !made {
			d = recorded
		}
	}
	asked.Package = packageOf(d)
	if len(q.Filter) > 0 {
		if asked.Query, err = state.DecodeValue(q.Filter, p.StackSecrets); err != nil {
			fault(diag.WrongKind, q.At, "the query cannot be sent to a provider: "+err.Error(), "")
		}
	}
	// The workspace's loader also knows kinds of Kubernetes that files define.
	loaded, err := p.Workspace.Schemas(p.Providers.Schemas()).Load(ctx, d)
	if err != nil {
		if strings.Count(q.Type.Text, ":") != 2 {
			fault(diag.PackageMissing, q.Type.Range, fmt.Sprintf("the type %s is not known", q.Type.Text), err.Error())
		}
		return asked, d, diags // the engine reports the error of the provider
	}
	r, err := loaded.ResolveResource(q.Type.Text)
	switch {
	case err != nil:
		fault(diag.TokenNotFound, q.Type.Range, fmt.Sprintf("package %s has no type %s", pkg, q.Type.Text), "")
		return asked, d, diags
	case r.Component:
		fault(diag.TokenNotFound, q.Type.Range, fmt.Sprintf("%s is a component: providers cannot list "+
			"components", r.Token), "")
	}
	asked.Type = r.Token
	// Schemas of older plugins describe no filters.
	if r.ListInputs == nil {
		return asked, d, diags
	}
	// A type without a list of filters takes any; its provider decides.
	var known []string
	for _, property := range r.ListInputs.Properties() {
		known = append(known, property.Name)
	}
	for _, key := range q.Keys {
		if slices.Contains(known, key.Text) {
			continue
		}
		detail := "its provider has no filters for it"
		if near := diag.Suggest(key.Text, known); len(near) > 0 {
			detail = fmt.Sprintf("did you mean `%s`?", near[0])
		} else if len(known) > 0 {
			detail = "it takes: " + strings.Join(known, ", ")
		}
		fault(diag.UnknownProperty, key.Range, fmt.Sprintf("a query for %s cannot filter by `%s`", r.Token, key.Text), detail)
	}
	return asked, d, diags
}

// made returns the package of a queried type: the one that a plugin makes from the query's parameters, or the one that
// the name means in the project. made reports whether the package is parameterized.
func (s *search) made(ctx context.Context, p *operation.Checked, q *project.QueriedType) (d schema.Descriptor,
	made bool, err error) {
	pkg := urn.PackageOf(q.Type.Text)
	if q.Source.Text == "" {
		d, err = p.Providers.Described(ctx, p.Workspace, pkg, q.Version)
		d.DownloadURL = cmp.Or(q.DownloadURL, d.DownloadURL)
		return d, d.Parameterization != nil, err
	}
	d, err = p.Providers.Parameterize(ctx, project.Package{Name: project.Literal{Text: pkg}, Source: q.Source.Text,
		Version: schema.PlainVersion(q.Version), PluginDownloadURL: q.DownloadURL, Parameters: q.Parameters})
	if err == nil && d.PackageName() != pkg {
		err = fmt.Errorf("of these parameters the plugin %s makes the package %s, not %s", q.Source.Text, d.PackageName(), pkg)
	}
	return d, true, err
}

// declares reports whether the project has a package of the same name. A package may be declared by an entry of the
// project file or in the folder sdks; each is in one of the lists.
func declares(ws *workspace.Workspace, d schema.Descriptor) bool {
	name := d.PackageName()
	return slices.ContainsFunc(ws.Packages, func(has schema.Descriptor) bool { return has.PackageName() == name }) ||
		slices.ContainsFunc(ws.Project.Packages, func(has project.Package) bool { return has.Name.Text == name })
}

// undeclared returns a warning that programs cannot use the results of a query until the project declares their
// package.
func undeclared(q *project.QueriedType, pkg string) diag.Diagnostic {
	entry := literal.Flow(pkg) + ": {source: " + literal.Flow(q.Source.Text)
	if q.Version != "" {
		entry += ", version: " + literal.Flow(q.Version)
	}
	parameters := make([]string, len(q.Parameters))
	for n, text := range q.Parameters {
		parameters[n] = literal.Flow(text)
	}
	return diag.Diagnostic{Severity: diag.Warning, Subject: q.Source.Range,
		Summary: "the project does not declare the package " + pkg,
		Detail: "its program needs this under `packages` in the project file: `" + entry + ", parameters: [" +
			strings.Join(parameters, ", ") + "]}`"}
}

// namedProvider returns the provider of a package that the stack has under a name or a URN.
func namedProvider(base *state.Snapshot, pkg, name string) (*state.Resource, error) {
	var others []string
	if base != nil {
		for _, r := range base.Resources {
			switch {
			// Default providers have no name that a program could use.
			case r.Type != urn.ProviderType(pkg) || r.Delete || r.URN.IsDefaultProvider():
			case r.URN.Name() == name || string(r.URN) == name:
				return r, nil
			default:
				others = append(others, r.URN.Name())
			}
		}
	}
	text := fmt.Sprintf("the stack has no provider `%s` of the package %s", name, pkg)
	if len(others) > 0 {
		text += "; it has " + strings.Join(others, ", ")
	}
	return nil, errors.New(text)
}

// name converts the found objects to import entries. It gives them names that are unique among them and in the stack,
// so that the YAML text can be pasted into the program.
func (s *search) name(base *state.Snapshot, asked []engine.Query, answers [][]engine.Found) {
	type identity struct{ token, id, provider string }
	managed, taken := map[identity]string{}, map[string]bool{}
	if base != nil {
		for _, r := range base.Resources {
			// Names are compared in the form that a program can use, since two names of the state may have the same
			// one.
			taken[variable(r.URN.Name())] = true
			if ref, err := urn.ParseReference(r.Provider); err == nil && !r.Delete {
				for _, id := range []string{r.ID, r.ImportID} {
					managed[identity{r.Type, id, explicit(ref.URN)}] = r.URN.Name()
				}
			}
		}
	}
	for n, found := range answers {
		q := &s.query.Resources[n]
		var provider urn.URN
		if ref, err := urn.ParseReference(asked[n].Provider); err == nil {
			provider = ref.URN
		}
		// Each item of the query is sorted by itself: their order is the file's.
		first := len(s.found)
		for _, f := range found {
			d := discovery{SavedImport: operation.SavedImport{Type: asked[n].Type, ID: f.ID,
				Name: q.NameOf(f.ID, f.Name)},
				query: n}
			if provider != "" {
				d.Provider = provider.Name()
			}
			key := identity{d.Type, d.ID, explicit(provider)}
			d.managed = managed[key]
			if d.managed == "" {
				// Found by two items, it is imported by the first.
				managed[key] = d.Name // another item of the query may find it too
			}
			s.found = append(s.found, d)
		}
		slices.SortStableFunc(s.found[first:], func(a, b discovery) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
		})
	}
	// It remembers the last number for each name, so that a thousand equal names are not tried a thousand times each.
	next := map[string]int{} // next number to append to a name
	for n := range s.found {
		d := &s.found[n]
		if d.managed != "" {
			continue
		}
		d.Name = resourceName(d.Name)
		for base := d.Name; taken[variable(d.Name)]; {
			next[base] = max(next[base], 1) + 1
			d.Name = base + "-" + strconv.Itoa(next[base])
		}
		taken[variable(d.Name)] = true
	}
}

// explicit returns the URN of a provider, or "" for any default provider, so that all of these compare equal.
func explicit(provider urn.URN) string {
	if provider.IsDefaultProvider() {
		return ""
	}
	return string(provider)
}

// longestName limits the length, in bytes, of a resource name that a provider has made up.
const longestName = 200

// resourceName makes a provider's name of a resource valid in a stack: without control characters, without the
// separator of URNs, and not too long.
func resourceName(name string) string {
	name = strings.ReplaceAll(printable.Text(strings.Join(strings.Fields(name), " ")), "::", ":")
	if len(name) > longestName {
		// The cut may be in the middle of a character.
		name = strings.ToValidUTF8(name[:longestName], "")
	}
	return cmp.Or(name, "resource")
}

// missing returns the found resources that the stack does not have.
func (s *search) missing() []discovery {
	var entries []discovery
	for _, d := range s.found {
		if d.managed == "" {
			entries = append(entries, d)
		}
	}
	return entries
}

// show writes a table of the objects found.
func (s *search) show(out io.Writer) error {
	if len(s.found) == 0 {
		_, err := fmt.Fprintln(out, "The query found no resources.")
		return err
	}
	err := console.Table(out, func(table io.Writer) {
		fmt.Fprintln(table, "TYPE\tNAME\tID\tSTACK")
		for _, d := range s.found[:min(len(s.found), mostShown)] {
			has := "-"
			if d.managed != "" {
				has = "has it"
				if d.managed != d.Name {
					has += " as " + printable.Text(d.managed)
				}
			}
			// IDs are a provider's texts: a line break in one would break the table.
			id := strings.NewReplacer("\n", " ", "\t", " ").Replace(d.ID)
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", printable.Text(d.Type), printable.Text(d.Name), printable.Text(id), has)
		}
	})
	if err != nil {
		return err
	}
	if more := len(s.found) - mostShown; more > 0 {
		fmt.Fprintf(out, "… and %d more; an import file (--import-file) has them all\n", more)
	}
	return nil
}

// save writes found resources to an import file.
func (s *search) save(a *console.Console, name string, found []discovery) error {
	entries := make([]operation.SavedImport, len(found))
	for n, d := range found {
		entries[n] = d.SavedImport
		// The file has to name the package, since the query is not there when it is read.
		entries[n].Of(s.packages[d.query])
	}
	if err := operation.WriteImports(a, name, s.table, entries); err != nil || name == "-" {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "%s lists %s; look through it, then `yamlhost import --file %s`.\n", name,
		diag.Count(len(entries), "resource"), name)
	return nil
}
