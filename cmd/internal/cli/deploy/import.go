package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// importOptions are the flags of `import` in addition to those of all operations. Where the resources come from is
// decided by which of file, query, from and args is given. all holds the flags of every operation; it is named and not
// embedded, since Parent and others mean something else here.
type importOptions struct {
	all                                             operation.Options
	file, query, found, parent, provider, out, from string

	properties        []string
	protect, generate bool
	args              []string
}

// NewImport returns the command import.
func NewImport(a *console.Console) *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use: "import [TYPE NAME ID]", Short: "Add existing resources to the stack",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.from != "" {
				return cobra.MinimumNArgs(1)(cmd, args)
			}
			return cobra.MaximumNArgs(3)(cmd, args)
		},
		Long: "import reads existing resources, adds them to the state, and writes YAML to paste into the " +
			"program. With that YAML in the program, the next update has nothing to do. The resources come " +
			"from the command line or from a file:\n\n    {\"nameTable\": {\"box\": \"urn:…\"},\n     " +
			"\"resources\": [{\"type\": \"…\", \"name\": \"…\", \"id\": \"…\", \"parent\": \"box\"}]}\n\nA " +
			"query file lists types to look for. import asks the providers that can list existing resources, " +
			"and imports those that the stack does not have yet, or writes them to an import file for review:\n" +
			"\n    resources:\n      - type: aws:s3/bucket:Bucket\n        query: {tags: {team: web}}\n        " +
			"name: web-${name}\n\nOn a terminal, import asks for the type, the name and the ID that are not given.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			end, err := begin(cmd, a, &o.all, nil)
			if err != nil {
				return err
			}
			defer end()
			return importResources(cmd.Context(), a, o)
		},
	}
	operationFlags(a, cmd, &o.all)
	yesFlag(a, cmd, &o.all)
	settlePendingFlag(cmd, &o.all)
	f := cmd.Flags()
	f.BoolVar(&o.all.SkipPreview, "skip-preview", false, "do not preview first") // -f is --file, as in the Pulumi CLI
	f.BoolVar(&o.all.PreviewOnly, "preview-only", false, "only show what would be imported")
	f.StringVarP(&o.file, "file", "f", "", "read the resources to import from this JSON file")
	f.StringVar(&o.query, "query", "", "ask providers what exists, as this YAML or JSON file says")
	f.StringVar(&o.found, "import-file", "",
		"with --query: import nothing, and write what was found to this file, for --file; - is standard output")
	f.StringVar(&o.parent, "parent", "", "the parent, as name=URN")
	f.StringVar(&o.provider, "provider", "", "the provider, as name=URN")
	f.StringSliceVar(&o.properties, "properties", nil, "the properties that the written YAML has; by default all")
	f.BoolVar(&o.protect, "protect", true, "protect what is imported from being deleted")
	f.BoolVar(&o.generate, "generate-code", true, "write YAML for what was imported")
	f.StringVarP(&o.out, "out", "o", "", "write the YAML to this file instead of standard output")
	f.StringVar(&o.from, "from", "", "import the resources of another tool's state, which the converter plugin of that "+
		"name reads, such as terraform; the arguments are those of the converter: the state's file")
	return cmd
}

// importFile is the document that `import --file` reads (F7.13).
type importFile struct {
	NameTable map[string]urn.URN `json:"nameTable"`
	Resources []ImportEntry      `json:"resources"`
}

// ImportEntry is one resource of an import file (F7.13). Names of fields and their meaning are those of the Pulumi CLI,
// which writes such files by `preview --import-file`.
type ImportEntry struct {
	Type              string                      `json:"type"`
	Name              string                      `json:"name"`
	ID                string                      `json:"id"`
	Parent            string                      `json:"parent"`
	Provider          string                      `json:"provider"`
	Version           string                      `json:"version"`
	PluginDownloadURL string                      `json:"pluginDownloadUrl"`
	Properties        []string                    `json:"properties"`
	Component         bool                        `json:"component"`
	Remote            bool                        `json:"remote"`
	Inputs            json.RawMessage             `json:"inputs"`
	Outputs           json.RawMessage             `json:"outputs"`
	LogicalName       string                      `json:"logicalName"`
	Parameterization  *operation.ImportParameters `json:"parameterization"`
	Extension         *operation.ImportExtension  `json:"extension"`

	// declared is the type's package, if the project or a query determines it; nil if the entry itself does.
	declared *schema.Descriptor
}

// A PlannedImport is an entry whose types, names and references are resolved, as far as possible before the state is
// read. The zero value of a URN stands for what the engine knows by itself.
type PlannedImport struct {
	Entry    ImportEntry
	token    string
	Parent   urn.URN // empty means the stack
	provider urn.URN // empty means the default provider
	Urn      urn.URN
	inputs   value.Value
	outputs  value.Value
	made     bool // the provider is itself imported by an entry
}

// Descriptor returns the package of the entry's type. An entry of a package with parameters names that package; its
// plugin is in the parameterization. An extension is named in the entry, and its plugin is that of the provider.
func (p *PlannedImport) Descriptor() schema.Descriptor {
	if p.Entry.declared != nil {
		return *p.Entry.declared
	}
	d := schema.Descriptor{Name: urn.PackageOf(p.Entry.Type), Version: schema.PlainVersion(p.Entry.Version),
		DownloadURL: p.Entry.PluginDownloadURL}
	switch q, x := p.Entry.Parameterization, p.Entry.Extension; {
	case q != nil:
		d.Parameterization = &schema.Parameterization{Name: d.Name, Version: d.Version, Value: q.Value}
		d.Name, d.Version = q.PluginName, schema.PlainVersion(q.PluginVersion)
	case x != nil:
		d.Parameterization, d.Extension = &schema.Parameterization{Name: x.Name,
			Version: schema.PlainVersion(x.Version), Value: x.Value}, true
		if p.provider != "" {
			d.Name = urn.PackageOf(p.provider.Type())
		}
	}
	return d
}

// importResources runs the command `import`. The import runs twice, as a preview and for real, with the same entries.
// The code is written from the state that came out, where providers have filled in what they read.
func importResources(ctx context.Context, a *console.Console, o *importOptions) error {
	table, entries, err := importEntries(ctx, a, o)
	// No entries and no error: a query found nothing, or wrote what it found to a file.
	if err != nil || len(entries) == 0 {
		return err
	}
	imported := &Importing{options: o, Table: table, entries: entries}
	op := operation.Operation{Kind: operation.ImportKind, Planning: "Previewing import", Applying: "Importing",
		Question: "Do you want to perform this import?", On: imported.run}
	if err := operation.PlanAndApply(op)(ctx, a, &o.all); err != nil {
		return err
	}
	// A preview has no state to write code from.
	if o.all.PreviewOnly || !o.generate {
		return nil
	}
	return writeImported(a, o, imported)
}

// importEntries returns the resources to import: from the command line, from a file, or from providers. The list may be
// empty for a query.
func importEntries(ctx context.Context, a *console.Console, o *importOptions) (map[string]urn.URN, []ImportEntry,
	error) {
	switch {
	case o.query == "" && o.found != "":
		return nil, nil, console.WithCode(console.CodeBadUsage, "--import-file needs --query, whose results it writes")
	// From here on each source is described completely by its flag, so the first one decides.
	case o.from != "":
		return importsOfState(ctx, a, o)
	case o.query != "":
		return queried(ctx, a, o)
	case o.file != "":
		return importsOfFile(a, o)
	}
	if err := o.ask(ctx, a); err != nil {
		return nil, nil, err
	}
	e := ImportEntry{Type: o.args[0], Name: o.args[1], ID: o.args[2], Properties: o.properties}
	// The flags name a parent and a provider as a file does, so the rest needs one way only.
	table := map[string]urn.URN{}
	for _, flag := range []struct {
		name, text string
		to         *string
	}{{"parent", o.parent, &e.Parent}, {"provider", o.provider, &e.Provider}} {
		if flag.text == "" {
			continue
		}
		name, text, found := strings.Cut(flag.text, "=")
		u, err := urn.Parse(text)
		if !found || name == "" || err != nil {
			return nil, nil, console.WithCode(console.CodeBadUsage, "--%s takes name=URN, not %q", flag.name, flag.text)
		}
		table[name], *flag.to = u, name
	}
	return table, []ImportEntry{e}, nil
}

// alone returns an error if other arguments or flags describe an import that flag already describes completely.
func (o *importOptions) alone(flag string) error {
	// Nothing is ignored silently: an argument that has no effect would be taken for one that has.
	if len(o.args) > 0 || o.parent != "" || o.provider != "" || len(o.properties) > 0 || o.file != "" && flag != "--file" {
		return console.WithCode(console.CodeBadUsage, "%s describes the whole import: remove the other arguments", flag)
	}
	return nil
}

// importsOfFile reads the file of --file.
func importsOfFile(a *console.Console, o *importOptions) (map[string]urn.URN, []ImportEntry, error) {
	if err := o.alone("--file"); err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(a.Path(o.file))
	if err != nil {
		return nil, nil, fmt.Errorf("read the resources to import: %w\n"+
			"Such a file is written by: yamlhost preview --import-file FILE", err)
	}
	var f importFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, nil, fmt.Errorf("%s is not an import file: %w", o.file, operation.JsonFault(err))
	}
	if len(f.Resources) == 0 {
		return nil, nil, fmt.Errorf("%s names no resources", o.file)
	}
	return f.NameTable, f.Resources, nil
}

// Importing is an import in progress. It lives through both runs of the operation: the preview fills Planned, and the
// run that applies fills Result.
type Importing struct {
	options *importOptions
	Table   map[string]urn.URN
	entries []ImportEntry

	stack   *operation.Checked
	Planned []PlannedImport
	Result  *state.Snapshot // state after the import
}

// run performs or previews the import. The plan is made once, in the preview: the second time the state may have been
// read anew, and references to providers are looked up in it.
func (i *Importing) run(ctx context.Context, s *operation.Checked, o engine.Options) (*engine.Result, error) {
	i.stack = s
	// Only the first run has to plan; entries do not depend on what a refresh in between has found.
	if i.Planned == nil {
		if err := i.plan(ctx, o.Project, o.Stack); err != nil {
			return nil, err
		}
	}
	imports := make([]engine.Import, len(i.Planned))
	for n, p := range i.Planned {
		imports[n] = engine.Import{Type: p.token, Name: p.Entry.Name, ID: p.Entry.ID, Parent: p.Parent,
			Package: packageOf(p.Descriptor()), Component: p.Entry.Component, Remote: p.Entry.Remote,
			Protect: i.options.protect, Inputs: p.inputs, Outputs: p.outputs}
		// A provider that this import makes has no ID yet, so it is named by its URN; one in the state is named by its
		// reference.
		if p.made {
			imports[n].ProviderURN = p.provider
			continue
		}
		var err error
		if imports[n].Provider, err = referenceOf(o.Base, p.provider); err != nil {
			return nil, err
		}
	}
	result, err := engine.ImportResources(ctx, o, imports)
	// Also with an error: what was imported before it is in the state, and needs code.
	if result != nil && !o.DryRun {
		i.Result = result.Snapshot
	}
	return result, err
}

// packageOf converts a package descriptor to the engine's form.
func packageOf(d schema.Descriptor) monitor.Package {
	p := monitor.Package{Name: d.Name, Version: d.Version, DownloadURL: d.DownloadURL, Extension: d.Extension}
	if q := d.Parameterization; q != nil {
		p.Parameterization = &monitor.Parameterization{Name: q.Name, Version: q.Version, Value: q.Value}
	}
	return p
}

// referenceOf returns the reference to a provider in the state, or "" if u is empty. One that is being deleted is no
// provider any more. The ID is part of a reference, because a provider that is replaced has two.
func referenceOf(s *state.Snapshot, u urn.URN) (string, error) {
	if u == "" {
		return "", nil
	}
	if s != nil {
		for _, r := range s.Resources {
			if r.URN == u && !r.Delete {
				return urn.Reference{URN: r.URN, ID: r.ID}.String(), nil
			}
		}
	}
	return "", fmt.Errorf("the state has no provider %s", u)
}

// plan resolves the types, names and references of all entries. Entries may refer to each other in any order, and so
// they are read first, by name, and then placed, each after its parent and its provider. What is missing is reported
// before anything is imported.
func (i *Importing) plan(ctx context.Context, project, stack string) error {
	byName := map[string]int{}
	planned := make([]PlannedImport, len(i.entries))
	for n, e := range i.entries {
		switch {
		case e.Type == "" || e.Name == "":
			return fmt.Errorf("resource %d of the import has no type or no name", n+1)
		// Components and providers exist in the state only, so there is nothing to read by an ID.
		case e.ID == "" && !e.Component && !urn.IsProviderType(e.Type):
			return fmt.Errorf("%s %q has no ID to import it by", e.Type, e.Name)
		// A file of `preview --import-file` has it where a person has to enter the ID.
		case e.ID == operation.ImportPlaceholder:
			return fmt.Errorf("%s %q still has the placeholder %s as its ID: fill in the ID first", e.Type, e.Name,
				operation.ImportPlaceholder)
		case e.ID != "" && urn.IsProviderType(e.Type):
			return fmt.Errorf("%s %q has an ID: remove it; a provider is imported by its inputs", e.Type, e.Name)
		case e.Remote && !e.Component:
			return fmt.Errorf("%s %q is marked remote: only components can be", e.Type, e.Name)
		case e.Parameterization != nil && e.Extension != nil:
			return fmt.Errorf("%s %q has a parameterization and an extension: keep one of them", e.Type, e.Name)
		case e.Parameterization != nil && e.Parameterization.PluginName == "":
			return fmt.Errorf("%s %q: its parameterization has no pluginName", e.Type, e.Name)
		case e.Extension != nil && (e.Extension.Name == "" || e.Provider == "" && e.Extension.Name == urn.PackageOf(e.Type)):
			return fmt.Errorf("%s %q: an extension needs a name, and the resource needs a provider of the package that it "+
				"extends",
				e.Type, e.Name)
		}
		if e.LogicalName == "" {
			e.LogicalName = e.Name
		}
		// byName has the name in the file, by which other entries refer to this one; the resource gets LogicalName.
		planned[n] = PlannedImport{Entry: e, token: e.Type}
		if e.LogicalName != e.Name { // other entries of the file refer to this one by name
			planned[n].Entry.Name = e.LogicalName
		}
		byName[e.Name] = n
		var err error
		if planned[n].inputs, err = i.values(e.Inputs); err != nil {
			return fmt.Errorf("%s %q: inputs: %w", e.Type, e.Name, err)
		}
		if planned[n].outputs, err = i.values(e.Outputs); err != nil {
			return fmt.Errorf("%s %q: outputs: %w", e.Type, e.Name, err)
		}
		// resolve needs the provider's type for an extension, before place has set it for all entries.
		if u, ok := i.Table[e.Provider]; ok {
			planned[n].provider = u
		}
		if !e.Component && !urn.IsProviderType(e.Type) {
			if err = i.resolve(ctx, &planned[n]); err != nil {
				return err
			}
		}
	}
	// place sets the URN of entry n, which contains the types of its parents, so it places these first. A path longer
	// than all entries has a cycle.
	var place func(n, depth int) error
	place = func(n, depth int) error {
		p := &planned[n]
		// An entry may be the parent of several, and is placed once.
		if p.Urn != "" {
			return nil
		}
		if depth > len(planned) {
			return fmt.Errorf("%s %q is its own ancestor", p.Entry.Type, p.Entry.Name)
		}
		for _, ref := range []struct {
			name string
			to   *urn.URN
			made *bool
		}{{p.Entry.Parent, &p.Parent, new(bool)}, {p.Entry.Provider, &p.provider, &p.made}} {
			if ref.name == "" {
				continue
			}
			if u, ok := i.Table[ref.name]; ok {
				*ref.to = u
				continue
			}
			// Names of the table come first: they are what is in the stack already.
			other, ok := byName[ref.name]
			if !ok {
				return fmt.Errorf("%s %q names %q, which is neither in nameTable nor among the resources", p.Entry.Type,
					p.Entry.Name, ref.name)
			}
			if err := place(other, depth+1); err != nil {
				return err
			}
			*ref.to, *ref.made = planned[other].Urn, true
		}
		parent := p.Parent
		if parent == "" {
			// The type of the stack is a part of no URN, so this is the same as no parent.
			parent = urn.RootStack(stack, project)
		}
		p.Urn = urn.New(stack, project, parent, p.token, p.Entry.Name)
		return nil
	}
	for n := range planned {
		if err := place(n, 0); err != nil {
			return err
		}
	}
	i.Planned = planned
	return nil
}

// values decodes properties in an import file, whose secrets are sealed as in the state.
func (i *Importing) values(raw json.RawMessage) (value.Value, error) {
	if len(raw) == 0 {
		return value.Null, nil
	}
	v, err := state.DecodeValue(raw, i.stack.StackSecrets)
	if err == nil && !v.Is(value.KindMap) {
		err = errors.New("it must be an object")
	}
	return v, err
}

// resolve determines the package of an entry, by default the one that the project uses, and the token that states have
// for the entry's type. If the provider's schema is not known, the token stays as written.
func (i *Importing) resolve(ctx context.Context, p *PlannedImport) error {
	e, providers := &p.Entry, i.stack.Providers
	explicit := e.declared != nil || e.Version != "" || e.PluginDownloadURL != "" || e.Parameterization != nil ||
		e.Extension != nil
	// Without a version in the entry, the project's own choice decides: its code will be added there.
	if !explicit {
		d, err := providers.Described(ctx, i.stack.Workspace, urn.PackageOf(e.Type), "")
		if err != nil {
			return err
		}
		e.declared = &d
	}
	pkg, err := i.stack.Workspace.Schemas(providers.Schemas()).Load(ctx, p.Descriptor())
	if err != nil {
		// A complete token can be imported without a schema. A short type such as random:RandomPet can only be
		// completed with the schema.
		if strings.Count(e.Type, ":") == 2 {
			return nil // the engine reports the error of the provider
		}
		return fmt.Errorf("the type %s is not known: %w", e.Type, err)
	}
	r, err := pkg.ResolveResource(e.Type)
	if err != nil {
		return fmt.Errorf("package %s has no type %s", pkg.Name, e.Type)
	}
	p.token = r.Token
	return nil
}

// writeImported writes YAML for the imported resources.
func writeImported(a *console.Console, o *importOptions, i *Importing) error {
	text := i.Program()
	// The file is replaced. Its content is only what is to be pasted, never a program.
	if o.out != "" {
		if err := os.WriteFile(a.Path(o.out), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the program: %w", err)
		}
		fmt.Fprintf(a.Streams.Err, "The YAML to paste into the program is in %s\n", o.out)
		return nil
	}
	if o.all.Json {
		return nil // only JSON may go to standard output (E8.26)
	}
	fmt.Fprintln(a.Streams.Err,
		"Please copy the following YAML into your program. Not doing so will cause the resources to be deleted by the next "+
			"update,\n"+
			"or the update to fail if they are protected.")
	_, err := fmt.Fprint(a.Streams.Out, "\n"+text)
	return err
}

// importsOfState runs a converter plugin that reads the state of another tool.
func importsOfState(ctx context.Context, a *console.Console, o *importOptions) (_ map[string]urn.URN,
	entries []ImportEntry, err error) {
	if o.file != "" || o.query != "" || o.parent != "" || o.provider != "" {
		return nil, nil, console.WithCode(console.CodeBadUsage, "--from describes the whole import: remove the other flags")
	}
	args := slices.Clone(o.args)
	// An argument that is no file here may be anything of the converter's, and is passed as it is.
	for i, arg := range args { // the plugin runs in another folder
		if _, err := os.Stat(a.Path(arg)); err == nil {
			args[i] = a.Path(arg)
		}
	}
	providers := operation.NewProviders(a, workspace.Empty(a.World.Dir), nil, operation.Trusted)
	defer providers.Close()
	converter, err := providers.Converter(ctx, o.from)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, converter.Close()) }()
	found, diags, err := converter.State(ctx, args)
	if err != nil {
		return nil, nil, fmt.Errorf("converter %s: %w; nothing was imported", o.from, err)
	}
	if _, err := operation.SayConverted(a, a.World.Dir, diags); err != nil {
		return nil, nil, err
	}
	// A state can be read and have nothing that this converter has a mapping for.
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("the state has no resources whose types have a mapping: nothing was imported")
	}
	for _, r := range found {
		entries = append(entries, ImportEntry{Type: r.Type, Name: r.Name, ID: r.ID, Parent: r.Parent,
			Version:           r.Version,
			PluginDownloadURL: r.PluginDownloadURL, Properties: r.Properties, Component: r.Component, Remote: r.Remote,
			LogicalName: r.LogicalName})
	}
	fmt.Fprintf(a.Streams.Err, "%s to import\n", diag.Count(len(entries), "resource"))
	return map[string]urn.URN{}, entries, nil
}
