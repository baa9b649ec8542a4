package operation

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
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

// Check returns an error for flags that exclude each other.
func (s *scopeOptions) Check() error {
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
