package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace/crd"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// CheckOptions holds the parameters of a check apart from the program's text.
type CheckOptions struct {
	// Schemas returns the loader of package schemas. damaged reports whether a schema that was loaded since has turned
	// out to be damaged, for example because another process was writing its file. Loading it again either succeeds or
	// reports the fault.
	Schemas func() (loader schema.Loader, damaged func() bool)
	// Parameterize asks a plugin for the package that it becomes with the parameters of an entry of `packages` (L7.32).
	// Its error may have a method Advice() string that suggests a remedy. If Parameterize is nil, only the declarations
	// beside the program are used.
	Parameterize func(ctx context.Context, pkg project.Package) (schema.Descriptor, error)
	// Options are the options of the checker that depend on the run: the configuration, permissions and functions. The
	// workspace adds the rest. If Project is empty, the name in the project file applies.
	check.Options
}

// attempts limits how often a program is checked again while another process writes to its schemas.
const attempts = 8

// Check parses and checks the program. It returns the findings of the workspace and the program together and reports no
// fault twice. The program is nil if its text is not available.
func (w *Workspace) Check(ctx context.Context, o CheckOptions) (*check.Program, diag.Diagnostics) {
	if w.Source == nil {
		if w.compiler != nil && w.options.Compile == nil {
			return nil, onceEach(diag.Diagnostics{notCompiled(w.compiler)}, w.Diags)
		}
		return nil, w.Diags
	}
	file, parsed := w.tree(w.ParserOptions(o))
	file = w.Declare(file)
	options, failed := w.CheckerOptions(ctx, o)
	var program *check.Program
	var checked diag.Diagnostics
	for range attempts {
		var damaged func() bool
		options.Schemas, damaged = o.Schemas()
		options.Schemas = w.Schemas(options.Schemas)
		program, checked = check.Check(ctx, file, options)
		switch {
		case w.CRDs.Damaged():
			w.readCRDs()
		case !damaged():
			return program, w.Join(slices.Concat(parsed, failed, checked))
		}
	}
	return program, w.Join(slices.Concat(parsed, failed, checked))
}

// CheckSettings returns the findings in the settings of a stack that depend on the program: values of other types than
// declared, and keys that nothing reads. Secrets stay sealed, and no package is loaded. parse parses the program.
func CheckSettings(ctx context.Context, w *Workspace, settings *project.Settings, stack string,
	parse func(parser.Options) (*ast.File, diag.Diagnostics)) (found diag.Diagnostics) {
	config, merged, err := project.Merge(w.Project, settings, stack, project.Unread{})
	if err != nil {
		return nil
	}
	checking := CheckOptions{Options: check.Options{Config: w.ConfigTexts(config), ConfigKnown: true,
		Stat: w.Project.Door.Stat}}
	file, _ := parse(w.ParserOptions(checking))
	file = w.Declare(file)
	options, _ := w.CheckerOptions(ctx, checking)
	_, checked := check.Check(ctx, file, options)
	for _, d := range onceEach(file.Origins.Findings(checked), merged) {
		if d.Subject.Source == settings.Source {
			found.Add(d)
		}
	}
	return found
}

// foreign reports whether a runtime is one of programs in other languages.
func foreign(runtime string) bool {
	return runtime != "" && runtime != yaml && !diag.Surely(runtime, yaml)
}

// yaml is the runtime of programs that can be run.
const yaml = "yaml"

// runtime returns the findings about the project's runtime. yamlhost supports no language but YAML, and the Pulumi CLI
// requires the field.
func (w *Workspace) runtime() diag.Diagnostics {
	p := w.Project
	switch {
	case p.Runtime == yaml || p.Source == nil || w.isPack() || p.Runtime == "" && p.Name.Text == "":
		return nil
	case p.Runtime == "":
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.YamlhostOnly, Subject: p.Name.Range,
			Summary: "the project names no runtime", Detail: "write `runtime: yaml`; the Pulumi CLI refuses a project without it"}
		if end := p.Name.Range.End; bytes.HasPrefix(p.Source.Text()[end:], []byte("\n")) {
			rng := diag.NewRange(p.Source, int(end), int(end))
			d.Fixes = []diag.Fix{{Label: "Add `runtime: yaml`", Edits: []diag.Edit{{Range: rng, Text: "\nruntime: yaml"}}}}
		}
		return diag.Diagnostics{d}
	}
	d := diag.Diagnostic{Code: diag.NoProgram, Subject: p.RuntimePlace, Summary: "the runtime " + p.Runtime +
		" cannot be run here",
		Detail: "yamlhost runs programs of the runtime yaml; others need the Pulumi CLI and its language host"}
	if diag.Surely(p.Runtime, yaml) {
		d.Summary, d.Detail = "there is no runtime "+p.Runtime, "did you mean `yaml`?"
		if rng, ok := p.RuntimePlace.Word(p.Runtime); ok {
			d.Fixes = []diag.Fix{{Label: "Write `yaml`", Edits: []diag.Edit{{Range: rng, Text: yaml}}}}
		}
	}
	return diag.Diagnostics{d}
}

// Parse parses the program's text without checking it. The text may use configuration that it does not declare if
// config has its key. Source must not be nil.
func (w *Workspace) Parse(config map[string]check.ConfigText) (*ast.File, diag.Diagnostics) {
	file, diags := w.parse(names(config, w.Project.Name.Text))
	return file, onceEach(diags, w.Diags)
}

func (w *Workspace) parse(declared []string) (*ast.File, diag.Diagnostics) {
	o := w.parserOptions(declared)
	if w.packaged {
		return w.tree(o)
	}
	file, diags := parser.Parse(w.Source, o)
	w.options.Texts.keep(w, parsed{w.Source, o.Declared, file, diags})
	return w.Declare(file), diags
}

// tree returns the tree of the program: an empty one for a package of components, which has been parsed already.
func (w *Workspace) tree(o parser.Options) (*ast.File, diag.Diagnostics) {
	if w.packaged {
		return &ast.File{Source: w.Source}, nil
	}
	return w.options.Texts.parse(w, o)
}

func (w *Workspace) parserOptions(declared []string) parser.Options {
	for _, d := range w.Project.Config {
		if d.Own {
			declared = append(declared, d.Key.Name)
		}
	}
	return parser.Options{Declared: declared, Include: w.include, Pack: w.isPack(), Plugin: w.packaged,
		Project: w.Source != nil && w.Source == w.Project.Source}
}

// names returns the names by which a program of the project name can refer to the values of config.
func names(config map[string]check.ConfigText, name string) []string {
	return programNames(slices.Sorted(maps.Keys(config)), name)
}

// programNames returns the names by which programs refer to configuration values: every full key, and the short form of
// keys in the project's own namespace.
func programNames(keys []string, name string) []string {
	var all []string
	for _, key := range keys {
		all = append(all, key)
		if short, own := strings.CutPrefix(key, name+":"); own && short != "" {
			all = append(all, short)
		}
	}
	return all
}

// ConfigTexts converts a stack's configuration to the form that Check takes. If config is nil, there is no stack, and
// only the values of the project file are returned.
func (w *Workspace) ConfigTexts(config map[project.Key]project.Text) map[string]check.ConfigText {
	if config == nil {
		config, _, _ = project.Merge(w.Project, project.NewSettings("", w.Project.Name.Text), "", nil)
	}
	texts := make(map[string]check.ConfigText, len(config))
	for key, text := range config {
		texts[key.String()] = check.ConfigText{Text: text.Text, Secret: text.Secret, Project: text.FromProject,
			Structured: text.Structured, Unread: text.Unread, Refused: text.Refused, Key: text.Key, Value: text.Value}
	}
	return texts
}

// parameterized returns the packages that entries of `packages` make from plugins and parameters (L7.32). It does not
// ask for a package that is declared beside the program, because the declaration is complete.
func (w *Workspace) parameterized(ctx context.Context, ask func(context.Context, project.Package) (schema.Descriptor,
	error)) ([]schema.Descriptor, diag.Diagnostics) {
	var found []schema.Descriptor
	var diags diag.Diagnostics
	declared := map[string]bool{}
	for _, d := range w.Packages {
		declared[d.PackageName()] = true
	}
	for _, pkg := range w.Project.Packages {
		if ask == nil || len(pkg.Parameters) == 0 || declared[pkg.Name.Text] {
			continue
		}
		entry := pkg
		if i := slices.IndexFunc(w.Plugins, func(p Plugin) bool { return p.Package.Name == pkg.Name }); i >= 0 {
			if w.Plugins[i].Faulty {
				continue
			}
			entry.Source, entry.Version = w.Plugins[i].Name, "" // the folder decides
		} else if _, local := w.Project.LocalDir(pkg); local {
			continue // components, which are not made of parameters
		}
		d, err := ask(ctx, entry)
		if errors.Is(err, schema.ErrReported) {
			continue
		}
		if err != nil {
			summary, detail, _ := strings.Cut(err.Error(), "\n")
			diags.Add(diag.Diagnostic{Code: diag.PackageMissing, Subject: pkg.Name.Range,
				Summary: fmt.Sprintf("package `%s`: %s", pkg.Name.Text, summary),
				Detail:  cmp.Or(detail, "the plugin "+pkg.Source+" makes it of its parameters")})
			continue
		}
		found = append(found, d)
	}
	return found, diags
}

// ParserOptions returns the options of the parser. Together with Declare, CheckerOptions and Join it lets an editor
// perform the steps of Check itself.
func (w *Workspace) ParserOptions(o CheckOptions) parser.Options {
	name := cmp.Or(o.Project, w.Project.Name.Text)
	keys, _ := w.stackKeys(o)
	declared := append(names(o.Config, name), programNames(keys, name)...)
	return w.parserOptions(declared)
}

// Declare adds the declarations of the project file to a program in a separate file (L1.7).
func (w *Workspace) Declare(file *ast.File) *ast.File {
	if w.Source == w.Project.Source {
		return file
	}
	return withDeclarations(file, w.Project)
}

// CheckerOptions returns the options of the checker, without schemas, and the findings about the project's packages.
func (w *Workspace) CheckerOptions(ctx context.Context, o CheckOptions) (check.Options, diag.Diagnostics) {
	made, failed := w.parameterized(ctx, o.Parameterize)
	options := o.Options
	options.Project = cmp.Or(o.Project, w.Project.Name.Text)
	options.Packages, options.Local = append(slices.Clip(w.Packages), made...), w.Components
	options.ConfigKnown = o.ConfigKnown || w.isPack()
	options.StackKeys, options.ConfigOpen = w.stackKeys(o)
	options.ConfigShared = w.compiler != nil || len(w.Project.PolicyPacks) > 0 || foreign(w.Project.Runtime) &&
		!w.isPack()
	options.ProgramDir, options.RootDir = w.Program.Dir, w.Project.Dir
	options.KindsUnknown = w.kindsUnread || w.CRDs != nil && w.CRDs.Faulty
	inside := w.Project.Door
	inside.Folder = cmp.Or(inside.Folder, w.Project.Dir)
	options.ParseData = parser.Data
	options.Manifests = manifests{inside, w.Program.Dir, cmp.Or(w.options.CRDs, new(crd.Cache))}.made
	return options, failed
}

// Join merges the findings of the parser and the checker with those about the workspace, as Check does.
func (w *Workspace) Join(found diag.Diagnostics) diag.Diagnostics {
	if slices.ContainsFunc(w.Diags, func(d diag.Diagnostic) bool {
		return d.Code == diag.BadEnvironment && d.Severity == diag.Error
	}) { // which is why a name that may come from the environment is unknown
		found = slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
			return d.Code == diag.Undeclared && d.Severity == diag.Warning
		})
	}
	found, settings := withoutLost(found, w.Diags, w.Project)
	return parser.InJSON(diag.Folded(onceEach(slices.Concat(found, w.runtime()), settings)))
}

// withoutLost returns the findings about a program, and those about its settings, without required values that stand in
// an environment, but beside its `values`. That is one fault: the finding about the environment, a warning otherwise,
// is the error. p is the project, whose keys an environment writes without a namespace.
func withoutLost(program, settings diag.Diagnostics, p *project.Project) (diag.Diagnostics, diag.Diagnostics) {
	for i, d := range settings {
		if d.Code != diag.BadEnvironment || strings.Trim(d.Subject.Text(), `"'`) != environmentConfig {
			continue
		}
		document, _ := parser.Data(d.Subject.Source)
		lost := map[string]bool{} // the findings about their values
		for key := range textKeys(textKeys(document)[environmentConfig]) {
			if full, err := project.ParseKey(key, p.Name.Text); err == nil {
				lost["config "+full.String()+" is required"] = true
			}
		}
		isLost := func(o diag.Diagnostic) bool {
			summary, _, _ := strings.Cut(o.Summary, " and ")
			return o.Code == diag.ConfigMissing && lost[summary]
		}
		if slices.ContainsFunc(program, isLost) || slices.ContainsFunc(settings, isLost) {
			settings = slices.Clone(settings)
			settings[i].Severity = diag.Error
			return slices.DeleteFunc(slices.Clone(program), isLost), slices.DeleteFunc(settings, isLost)
		}
	}
	return program, settings
}

// environmentConfig is the key of environments with configuration.
const environmentConfig = "pulumiConfig"

// textKeys returns the values of a map by their keys; nothing for another expression.
func textKeys(e ast.Expr) map[string]ast.Expr {
	entries, _ := e.(*ast.Map)
	values := map[string]ast.Expr{}
	if entries != nil {
		for _, entry := range entries.Entries {
			if key, isText := entry.Key.(*ast.String); isText {
				values[key.Value] = entry.Value
			}
		}
	}
	return values
}

// stackKeys returns the sorted keys that some stack of the project sets, or nil if the stack is known. open reports
// whether the stack, or some stack, has an environment that could not be opened.
func (w *Workspace) stackKeys(o CheckOptions) (keys []string, open bool) {
	if o.ConfigKnown {
		return nil, o.ConfigOpen
	}
	found, open := project.StackKeys(w.Project, w.options.Inherit)
	for _, key := range found {
		keys = append(keys, key.String())
	}
	slices.Sort(keys)
	return keys, open
}

// onceEach merges two lists of findings so that one fault has one diagnostic (D7). At the same position an error in
// first wins over one in second, and an error wins over a lesser finding. It is for the settings of a stack, which have
// two readers: a missing key, for example, is missed by the checker and by project.Merge, which does not know whether a
// program is checked too. The callers that merge the settings add what Merge finds to Workspace.Diags. A project file
// has two readers as well, each of which leaves out most of what the other finds: see project.Project.Shared.
func onceEach(first, second diag.Diagnostics) diag.Diagnostics {
	start := func(d diag.Diagnostic) diag.Range { d.Subject.End = 0; return d.Subject }
	errorsOf := func(ds diag.Diagnostics) map[diag.Range]bool {
		places := map[diag.Range]bool{}
		for _, d := range ds {
			if d.Severity == diag.Error && !d.Subject.IsZero() {
				places[start(d)] = true
			}
		}
		return places
	}
	taken, wanted := errorsOf(first), errorsOf(second)
	var all diag.Diagnostics
	for _, d := range first {
		if d.Severity == diag.Error || !wanted[start(d)] {
			all.Add(d)
		}
	}
	for _, d := range second {
		if !taken[start(d)] {
			all.Add(d)
		}
	}
	return all
}
