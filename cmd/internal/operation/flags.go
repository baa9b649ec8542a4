package operation

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/schema"
)

// scopeOptions are the flags that confine an operation or override some of its rules.
type scopeOptions struct {
	targets, replace, targetReplace, excludes []string
	targetDependents, excludeDependents       bool
	ExcludeProtected, ignoreProtect           bool
	runProgram                                bool

	clearPendingCreates, skipPendingCreates bool
	importPendingCreates                    []string
}

// ScopeFlags adds Pulumi's flags that select the resources of an operation.
func ScopeFlags(cmd *cobra.Command, o *PlanOptions) {
	f := cmd.Flags()
	f.StringArrayVarP(&o.Scope.targets, "target", "t", nil,
		"operate on this URN only; * stands for anything without a colon, ** for anything; may be repeated")
	f.BoolVar(&o.Scope.targetDependents, "target-dependents", false, "also operate on dependants of the targets")
	f.StringArrayVarP(&o.Scope.excludes, "exclude", "x", nil,
		"leave this URN out; globs as with --target; may be repeated")
	f.BoolVar(&o.Scope.excludeDependents, "exclude-dependents", false,
		"also leave out dependants of excluded resources")
}

// ReplaceFlags adds the flags that force replacements.
func ReplaceFlags(cmd *cobra.Command, o *PlanOptions) {
	f := cmd.Flags()
	f.StringArrayVar(&o.Scope.replace, "replace", nil, "replace this URN; globs as with --target; may be repeated")
	f.StringArrayVar(&o.Scope.targetReplace, "target-replace", nil, "as --target and --replace together")
}

// ProtectFlag adds --ignore-protect.
func ProtectFlag(cmd *cobra.Command, o *PlanOptions) {
	cmd.Flags().BoolVar(&o.Scope.ignoreProtect, "ignore-protect", false,
		"delete and replace protected resources like others")
}

// ProgramFlag adds --run-program, for operations that do not need the program.
func ProgramFlag(a *console.Console, cmd *cobra.Command, o *PlanOptions, help string) {
	cmd.Flags().BoolVar(&o.Scope.runProgram, "run-program", a.World.Enabled("PULUMI_RUN_PROGRAM"), help)
}

// PendingFlags adds the flags that decide about pending creations of an earlier run.
func PendingFlags(cmd *cobra.Command, o *PlanOptions) {
	f := cmd.Flags()
	f.BoolVar(&o.Scope.clearPendingCreates, "clear-pending-creates", false, "forget interrupted creations")
	f.BoolVar(&o.Scope.skipPendingCreates, "skip-pending-creates", false, "keep them without asking")
	f.StringSliceVar(&o.Scope.importPendingCreates, "import-pending-creates", nil,
		"add the objects that they created to the state: URN,ID,URN,ID,…")
}

// Check returns an error for flags that exclude or need each other, for values that a flag does not take, and for files
// that are missing: for all that needs neither the project nor its stack. Nothing is asked or done before.
func (o *Options) Check(a *console.Console) error {
	refuse := func(format string, args ...any) error { return console.WithCode(console.CodeBadUsage, format, args...) }
	making := o.Command == "run" && !o.PlanOnly // a plan is neither kept nor shown
	switch {
	case o.Refresh != "" && o.Refresh != "true" && o.Refresh != "false":
		return refuse("--refresh takes true or false, not %q", o.Refresh)
	case o.Causes != "" && o.Causes != view.CausesNone && o.Causes != view.CausesShort && o.Causes != view.CausesFull:
		return refuse("--causes takes none, short or full, not %q", o.Causes)
	case o.Untrusted && o.AllowEnv:
		return refuse("--untrusted and --allow-env cannot be used together")
	case o.SkipPreview && o.PreviewOnly:
		return refuse("--skip-preview and --preview-only cannot be used together")
	case o.Strict && (o.SkipPreview || o.plan != ""):
		return refuse("--strict binds to the preview: leave out --skip-preview and --plan")
	case making && o.savePlan != "":
		return refuse("--save-plan writes a plan, and without --plan-only run makes none")
	case making && o.importFile != "":
		return refuse("--import-file writes what a plan would create, and without --plan-only run makes none")
	case len(o.PolicyConfigs) > 0 && len(o.PolicyConfigs) != len(o.PolicyPacks):
		return refuse("give --policy-pack-config once for each --policy-pack, in the same order")
	}
	for _, pair := range o.Config {
		if !strings.Contains(pair, "=") {
			return refuse("--config takes key=value, not %q", pair)
		}
	}
	for _, pair := range o.configFrom {
		if name, file, _ := strings.Cut(pair, "="); name == "" || file == "" {
			return refuse("--config-from takes key=FILE, not %q", pair)
		}
	}
	return cmp.Or(o.Scope.check(), checkResolvePending(o.ResolvePending), o.checkFiles(a))
}

// checkFiles returns an error for a file that a flag names and that cannot be found.
func (o *Options) checkFiles(a *console.Console) error {
	type named struct{ flag, file, path, advice string }
	var files []named
	add := func(flag, file, path, advice string) {
		if path != "" && path != "-" {
			files = append(files, named{flag, file, path, advice})
		}
	}
	add("plan", o.plan, o.plan, "\nA plan is written by: yamlhost preview --save-plan FILE")
	for _, pair := range o.configFrom {
		_, file, _ := strings.Cut(pair, "=")
		add("config-from", pair, file, "")
	}
	for _, pack := range o.PolicyPacks {
		add("policy-pack", pack, pack, "")
	}
	for _, file := range o.PolicyConfigs {
		add("policy-pack-config", file, file, "")
	}
	// The Pulumi CLI takes a missing file for an empty one, and so does yamlhost under its name.
	if !o.setsConfig() && !a.World.AsPulumi {
		add("config-file", o.ConfigFile, o.ConfigFile, "\nThe file is written by: yamlhost config set --config-file "+
			console.ShellWord(o.ConfigFile)+" KEY VALUE")
	}
	for _, f := range files {
		if _, err := confine.Anywhere().Stat(a.Path(f.path)); err != nil {
			return console.WithCode(console.CodeBadUsage, "--%s %s: %w%s", f.flag, f.file, console.PlainError(err),
				f.advice)
		}
	}
	for _, f := range []named{{flag: "save-plan", file: o.savePlan}, {flag: "import-file", file: o.importFile}} {
		if f.file == "" || f.file == "-" {
			continue
		}
		if _, err := confine.Anywhere().Stat(filepath.Dir(a.Path(f.file))); err != nil {
			return console.WithCode(console.CodeBadUsage, "--%s %s: its folder: %w", f.flag, f.file,
				console.PlainError(err))
		}
	}
	return nil
}

func (s *scopeOptions) check() error {
	switch {
	case s.clearPendingCreates && s.skipPendingCreates:
		return console.WithCode(console.CodeBadUsage, "--clear-pending-creates and --skip-pending-creates cannot be used "+
			"together")
	case len(s.importPendingCreates)%2 != 0:
		return console.WithCode(console.CodeBadUsage, "--import-pending-creates takes pairs of a URN and an ID")
	case s.targetDependents && len(s.targets)+len(s.targetReplace) == 0:
		return console.WithCode(console.CodeBadUsage,
			"--target-dependents needs a target: use --target")
	case s.excludeDependents && len(s.excludes) == 0 && !s.ExcludeProtected:
		return console.WithCode(console.CodeBadUsage,
			"--exclude-dependents needs an excluded resource: use --exclude")
	}
	return nil
}

// apply sets the scope in the engine's options.
func (s *scopeOptions) apply(o *engine.Options) {
	o.Targets = slices.Concat(s.targets, s.targetReplace)
	o.Replace = slices.Concat(s.replace, s.targetReplace)
	o.Excludes = s.excludes
	o.TargetDependents, o.ExcludeDependents = s.targetDependents, s.excludeDependents
	o.ExcludeProtected, o.IgnoreProtect, o.RunProgram = s.ExcludeProtected, s.ignoreProtect, s.runProgram
}

// SchemaFlags are --schema and --schema-dir: schemas that replace the providers' own, so that a machine without any
// plugin can check.
type SchemaFlags struct {
	files []string
	dirs  []string
}

// Register adds the flags to a command.
func (f *SchemaFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "schema", nil,
		"take a package's schema from this file (JSON, may be gzipped); may be repeated")
	cmd.Flags().StringArrayVar(&f.dirs, "schema-dir", nil,
		"take schemas from this directory, where they are called <package>.json or <package>-<version>.json; may be repeated")
}

// GivenSchemas are the files named by --schema and --schema-dir.
type GivenSchemas struct {
	files map[string]string // by the name of the package
	dirs  map[string][]givenSchema
}

type givenSchema struct{ version, path string }

// SchemaDirs returns the flags --schema-dir with directories.
func SchemaDirs(dirs ...string) SchemaFlags { return SchemaFlags{dirs: dirs} }

// ReadGivenSchemas finds the files of the flags. Those of --schema are read for the names of their packages.
func ReadGivenSchemas(a *console.Console, f SchemaFlags) (*GivenSchemas, error) {
	if len(f.files)+len(f.dirs) == 0 {
		return nil, nil
	}
	g := &GivenSchemas{files: make(map[string]string), dirs: make(map[string][]givenSchema)}
	for _, name := range f.files {
		path := a.Path(name)
		pkg, err := plugin.SchemaCache{Home: a.World.PulumiHome()}.OpenFile(path)
		if err != nil {
			advice := ""
			if _, missing := confine.Anywhere().Stat(path); missing == nil {
				advice = "; a schema is what `pulumi package get-schema` writes"
			}
			return nil, fmt.Errorf("--schema %s: %w%s", name, console.PlainError(err), advice)
		}
		g.files[pkg.Name] = path
	}
	fileName := regexp.MustCompile(`^(.+?)(?:-v?(\d+\.\d+\.\d+.*))?\.json(?:\.gz)?$`)
	for _, name := range f.dirs {
		entries, err := confine.Anywhere().ReadDir(a.Path(name))
		if err != nil {
			return nil, fmt.Errorf("--schema-dir %s: %w", name, console.PlainError(err))
		}
		for _, entry := range entries {
			m := fileName.FindStringSubmatch(entry.Name())
			if m == nil || entry.IsDir() {
				continue
			}
			g.dirs[m[1]] = append(g.dirs[m[1]], givenSchema{m[2], filepath.Join(a.Path(name), entry.Name())})
		}
	}
	return g, nil
}

// find returns the file of a package; empty if none is given. Of several versions it is the requested one, or else the
// last by name.
func (g *GivenSchemas) find(d schema.Descriptor) string {
	if g == nil {
		return ""
	}
	if path, ok := g.files[d.PackageName()]; ok {
		return path
	}
	path := ""
	for _, s := range g.dirs[d.PackageName()] {
		if s.version == d.PackageVersion() || s.version == "" || d.PackageVersion() == "" {
			path = s.path
		}
	}
	return path
}
