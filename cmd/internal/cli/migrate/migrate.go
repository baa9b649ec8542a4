package migrate

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/check"
	checkcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// options are the arguments and flags of migrate.
type options struct {
	dir     string
	check   bool
	stack   string
	format  string
	schemas operation.SchemaFlags
}

// NewMigrate returns the command migrate.
func NewMigrate(a *console.Console) *cobra.Command {
	o := &options{dir: "."}
	cmd := &cobra.Command{
		Use: "migrate --check [DIR]", Short: "Report how a project of the Pulumi CLI would work here",
		Args: console.AtMostOne("a directory"),
		Long: "migrate --check reads a project, its program, its stacks, their configuration, secrets and state, " +
			"and reports for each what works as with the Pulumi CLI, what differs and what is missing. It " +
			"starts no program, takes no lock and writes nothing. The exit code is 1 if something prevents the " +
			"move. No conversion is needed: yamlhost works on the project as it is, and the Pulumi CLI can go " +
			"on with it at any time.",
		RunE: console.RunWith(a, migrate, o, &o.dir),
	}
	cmd.Flags().BoolVar(&o.check, "check", false, "report only; change nothing")
	cmd.Flags().StringVarP(&o.stack, "stack", "s", "",
		"check this stack only; by default every stack of the project")
	cmd.Flags().StringVar(&o.format, "format", "text", "the report on standard output: text or json")
	o.schemas.Register(cmd)
	return cmd
}

// migrate examines a project and its stacks, and writes the report.
func migrate(ctx context.Context, a *console.Console, o *options) error {
	switch {
	case !o.check:
		return console.WithCode(console.CodeUsage,
			"no conversion is needed: yamlhost runs the project as it is; "+
				"`yamlhost migrate --check` reports how it would work")
	case o.format != "text" && o.format != "json":
		return console.WithCode(console.CodeBadUsage, "--format takes text or json, not %q", o.format)
	}
	given, err := operation.ReadGivenSchemas(a, o.schemas)
	if err != nil {
		return err
	}
	v := &visit{Console: a, options: o, given: given, survey: &survey{Stacks: []stackResult{}}}
	if err := v.inspect(ctx); err != nil {
		return err
	}
	obstacles := v.survey.obstacles(0)
	v.survey.Ready = obstacles == 0
	if o.format == "json" {
		err = jsontext.Write(a.Streams.Out, v.survey, "  ")
	} else {
		err = v.survey.writeText(a.Streams.Out)
	}
	if err != nil {
		return err
	}
	if !v.survey.Ready {
		return console.WithCode(console.CodeError, "not ready: %s to solve first; nothing was changed",
			diag.Count(obstacles, "thing"))
	}
	return nil
}

// A visit is one examination of a project. The console is embedded because nearly every line uses it; nothing else is
// promoted.
type visit struct {
	*console.Console
	options *options
	given   *operation.GivenSchemas
	survey  *survey
	project *project.Project
}

// inspect examines the parts in the order in which each needs the one before: project, backend, stacks. Without stacks
// the program is checked by itself.
func (v *visit) inspect(ctx context.Context) error {
	p, found, err := v.OpenProject(v.Path(v.options.dir))
	if err != nil {
		return err
	}
	v.project, v.survey.Project = p, p.Name.Text
	// Nothing after this can be examined: the program is none of ours.
	if p.Runtime != "" && p.Runtime != "yaml" {
		v.survey.add("project", refused, "`pulumi convert --language yaml` of the Pulumi CLI makes a YAML program of it",
			"its program is written for the runtime %s; yamlhost runs YAML and JSON", p.Runtime)
		return nil
	}
	if found.HasErrors() {
		v.faults("project", found)
		return nil
	}
	v.survey.add("project", same, "", "%s is read as it is", v.Short(p.Path))
	stacks, b := v.inspectBackend(ctx)
	// Otherwise each stack checks the program with its own configuration.
	if len(stacks) == 0 {
		v.inspectProgram(ctx, "")
	}
	for _, ref := range stacks {
		if err := ctx.Err(); err != nil {
			return v.Signals.Ended()
		}
		v.inspectStack(ctx, b, ref)
	}
	return nil
}

// faults adds the errors among findings to the survey.
func (v *visit) faults(part string, found diag.Diagnostics) {
	for _, d := range found.Sorted() {
		if d.Severity == diag.Error {
			// An error of the program stops every operation; a missing value only waits for somebody to set it.
			grade := refused
			if d.Code == diag.ConfigMissing { // it can be set
				grade = missing
			}
			v.survey.add(part, grade, fmt.Sprintf("`yamlhost check` shows the place; `yamlhost explain %s` says more", d.Code),
				"%s: %s", place(d.Subject), d.Summary)
		}
	}
}

// place returns the position of a finding, as in Pulumi.yaml:3:7.
func place(r diag.Range) string {
	if r.IsZero() {
		return "the program"
	}
	pos := r.StartPosition()
	return fmt.Sprintf("%s:%d:%d", r.Source.Name(), pos.Line, pos.Column)
}

// inspectBackend opens the backend and returns the stacks to examine.
func (v *visit) inspectBackend(ctx context.Context) ([]backend.Ref, *backend.Backend) {
	const way = "choose another with PULUMI_BACKEND_URL or `yamlhost login`; a stack moves by `pulumi stack export` and " +
		"`yamlhost stack import`"
	b, err := v.Backends().Open(v.project)
	if err != nil {
		v.survey.add("backend", refused, way, "%s", err)
		return nil, nil
	}
	v.survey.Backend = b.PublicURL()
	// One stack was asked for, so the others are not even listed.
	if v.options.stack != "" {
		ref, err := b.ParseRef(v.options.stack, v.project.Name.Text)
		if err == nil {
			var exists bool
			if exists, err = b.Exists(ref); err == nil && !exists {
				err = console.NoSuchStack(ctx, b, ref)
			}
		}
		if err != nil {
			v.survey.add("backend", missing, "", "%s", err)
			return nil, nil
		}
		return []backend.Ref{ref}, b
	}
	stacks, err := b.Stacks(ctx, v.project.Name.Text)
	if err != nil {
		v.survey.add("backend", refused, way, "%s", err)
		return nil, nil
	}
	v.survey.add("backend", same, "", "%s has %s of this project", b.PublicURL(), diag.Count(len(stacks), "stack"))
	return stacks, b
}

// inspectProgram checks the program as `yamlhost check` does, with the stack's configuration if a stack is given.
func (v *visit) inspectProgram(ctx context.Context, stack string) {
	part := "program"
	if stack != "" {
		part = "stack " + stack
	}
	program, found, err := checkcmd.CheckTarget(ctx, v.Console, v.options.dir, stack, v.given, operation.Careful)
	if err != nil {
		v.survey.add(part, missing, "", "%s", err)
		return
	}
	warnings, only := 0, 0
	for _, d := range found {
		switch d.Severity {
		case diag.Warning:
			warnings++
		case diag.Portability:
			only++
		}
	}
	// Errors first, then what only differs.
	v.faults(part, found)
	if program != nil {
		v.inspectProviders(part, program)
	}
	switch {
	case found.HasErrors():
	case warnings > 0:
		v.survey.add(part, differs, "`yamlhost check` shows them",
			"the program is sound, with %s that the Pulumi CLI does not report",
			diag.Count(warnings, "warning"))
	default:
		v.survey.add(part, same, "", "the program is sound")
	}
	if only > 0 {
		v.survey.add(part, differs, "`yamlhost check --portable` shows them",
			"the Pulumi CLI cannot run the program while it uses features of yamlhost only: %s", diag.Count(only, "place"))
	}
}

// inspectProviders reports resources that choose their provider by an option that Pulumi's YAML host ignores for them,
// so that they exist with another provider (L4.21).
func (v *visit) inspectProviders(part string, program *check.Program) {
	for _, n := range program.Nodes {
		if n.Resource == nil || n.Resource.Decl.Options.Providers == nil || n.Resource.Component != nil ||
			n.Resource.Schema != nil && n.Resource.Schema.Component {
			continue
		}
		v.survey.add(part, changes, "use the option `provider` first, or remove `providers`",
			"%s: resource %s names its provider by `providers`, which the Pulumi CLI follows for components only; here it "+
				"moves to that provider", place(n.Range), n.Name)
	}
}

// inspectStack checks whether the state, secrets, configuration and plugins of a stack can be used.
func (v *visit) inspectStack(ctx context.Context, b *backend.Backend, ref backend.Ref) {
	from, part := len(v.survey.Findings), "stack "+ref.Stack
	s := &console.Stack{Project: v.project, Backend: b, Ref: ref}
	resources := 0
	// Secrets are opened, since an operation would have to. A missing passphrase is a finding here and no error.
	loaded, err := v.Stacks().Load(ctx, s, true)
	if err != nil {
		grade, way := refused, "`yamlhost state verify --stack "+ref.Stack+"` says more"
		if sealed, failed := b.Load(ctx, ref, nil); failed == nil { // only the secrets cannot be opened
			loaded, grade, way = sealed, missing, ""
		}
		v.survey.add(part, grade, way, "%s", err)
	}
	if loaded != nil {
		resources = len(loaded.Snapshot.Resources)
		v.inspectState(part, b, ref, loaded)
		v.inspectPlugins(part, loaded.Snapshot)
	}
	if err == nil { // otherwise the configuration would repeat the error about secrets
		v.inspectProgram(ctx, ref.Stack)
	}
	v.survey.Stacks = append(v.survey.Stacks, stackResult{ref.Stack, resources, v.survey.obstacles(from) == 0})
}

// inspectState reports broken rules, pending operations and locks. Pending operations of a run that holds the lock are
// its own affair.
func (v *visit) inspectState(part string, b *backend.Backend, ref backend.Ref, loaded *backend.Loaded) {
	if faults := loaded.Snapshot.Faults(); len(faults) > 0 {
		v.survey.add(part, refused, "`yamlhost state repair --stack "+ref.Stack+"` shows what can be done",
			"the state breaks %s, the first: %s", diag.Count(len(faults), "rule"), faults[0])
	} else {
		v.survey.add(part, same, "", "the state is read as it is: %s", diag.Count(len(loaded.Snapshot.Resources),
			"resource"))
	}
	if n := len(loaded.Snapshot.Pending); n > 0 && len(loaded.Held) == 0 {
		v.survey.add(part, differs, "`yamlhost up` and `yamlhost refresh` resolve them; `yamlhost state verify` names them",
			"an earlier run was interrupted: the outcome of %s is not known", diag.Count(n, "operation"))
	}
	locks, err := b.Locks(ref)
	if err != nil {
		v.survey.add(part, refused, "", "%s", err)
	}
	// A lock whose owner has gone is removed by the next run.
	for _, l := range locks {
		if l.Owner == backend.OwnerGone {
			continue
		}
		v.survey.add(part, missing, "wait for it, or `yamlhost cancel "+ref.Stack+"` if it has ended",
			"it is locked by %s on %s (process %d)", l.User, l.Host, l.PID)
	}
}

// inspectPlugins checks that the provider of each resource in a state is available.
func (v *visit) inspectPlugins(part string, s *state.Snapshot) {
	ws, err := v.OpenTarget(v.options.dir, v.Looking())
	if err != nil {
		v.survey.add(part, refused, "", "%s", err)
		return
	}
	providers := operation.NewProviders(v.Console, ws, nil, operation.Careful)
	defer providers.Close()
	// A provider that no resource refers to needs no plugin.
	used := map[urn.URN]bool{}
	for _, r := range s.Resources {
		if ref, err := urn.ParseReference(r.Provider); err == nil {
			used[ref.URN] = true
		}
	}
	builtIn := map[string]bool{}
	asked := map[string]bool{}
	for _, r := range s.Resources {
		if !urn.IsProviderType(r.Type) || !used[r.URN] {
			continue
		}
		// Each provider is looked at, and each plugin is looked for once.
		v.inspectVersion(part, r)
		pkg := engine.PackageOfProvider(r)
		name := strings.TrimSpace(pkg.Name + " " + pkg.Version)
		if asked[name] {
			continue
		}
		asked[name] = true
		inside, err := providers.Whereabouts(pkg)
		switch {
		case err != nil:
			v.survey.add(part, missing, fmt.Sprintf("yamlhost plugin install resource %s", name),
				"the plugin %s is not installed: %s", name, strings.SplitN(err.Error(), "\n", 2)[0])
		case inside:
			// Reported together at the end: a project may use several.
			builtIn[pkg.Name] = true
		default:
			v.survey.add(part, same, "", "the plugin %s is installed", name)
		}
	}
	if len(builtIn) > 0 {
		v.survey.add(part, differs, "install a plugin to use it instead",
			"built-in providers are used instead of plugins: %s", strings.Join(slices.Sorted(maps.Keys(builtIn)), ", "))
	}
}

// inspectVersion reports a provider of a parameterized package for which the Pulumi CLI has recorded the plugin's
// version in place of the package's (E3.21). The Pulumi CLI does so for providers that a program declares.
func (v *visit) inspectVersion(part string, r *state.Resource) {
	internal, _ := r.Inputs.Lookup("__internal")
	noted, _ := r.Inputs.Lookup("version")
	plugin, found := internal.Lookup("version")
	name := r.URN.Name()
	if !found || !internal.Has("parameterization") || !value.Equal(noted, plugin) || strings.HasPrefix(name, "default") {
		return
	}
	v.survey.add(part, changes, "", "the state has the plugin's version where the package's version belongs, at "+
		"the provider %s; the first update corrects it and replaces nothing", name)
}

// A grade describes how well a part of a project works here. The grades have an order: the first two let a project move
// as it is.
type grade string

const (
	same    grade = "same"    // works as under the Pulumi CLI
	differs grade = "differs" // works differently
	changes grade = "changes" // works, but the first operation would change what exists
	missing grade = "missing" // something has to be provided first
	refused grade = "refused" // does not work here
)

// A finding is a result about one part of a project.
type finding struct {
	Part  string `json:"part"` // project, backend, program, plugins, or `stack` and its name
	Grade grade  `json:"grade"`
	Text  string `json:"text"`
	Way   string `json:"way,omitempty"` // solution; empty if there is no problem
}

// A survey is the complete report.
type survey struct {
	Project string `json:"project"`
	Backend string `json:"backend,omitempty"` // without credentials
	// whether no finding prevents the move, that is, has the grade changes, missing or refused
	Ready    bool          `json:"ready"`
	Stacks   []stackResult `json:"stacks"`
	Findings []finding     `json:"findings"`
}

// stackResult reports whether a stack can be used here as it is.
type stackResult struct {
	Name      string `json:"name"`
	Resources int    `json:"resources"`
	Ready     bool   `json:"ready"`
}

// add adds a finding. way is its solution, which may be empty.
func (s *survey) add(part string, g grade, way, format string, args ...any) {
	s.Findings = append(s.Findings, finding{part, g, fmt.Sprintf(format, args...), way})
}

// obstacles counts the findings from an index on that prevent the move.
func (s *survey) obstacles(from int) (n int) {
	for _, f := range s.Findings[from:] {
		if f.Grade == changes || f.Grade == missing || f.Grade == refused {
			n++
		}
	}
	return n
}

// writeText writes the findings as a table.
func (s *survey) writeText(w io.Writer) error {
	err := console.Table(w, func(table io.Writer) {
		for _, f := range s.Findings {
			fmt.Fprintf(table, "%s\t%s\t%s\n", f.Grade, f.Part, f.Text)
			if f.Way != "" {
				fmt.Fprintf(table, "\t\t%s\n", f.Way)
			}
		}
	})
	if err != nil || !s.Ready {
		return err
	}
	_, err = fmt.Fprint(w,
		"\nReady. Nothing was changed. `yamlhost preview --expect-no-changes` shows that nothing would be;\n"+
			"the Pulumi CLI can take each stack back at any time.\n")
	return err
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[survey]("migration", "how a project of the Pulumi CLI would work here", "`migrate --check --format json`"),
}
