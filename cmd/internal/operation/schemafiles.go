package operation

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/schema"
)

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

// GivenSchemas are the files that --schema and --schema-dir name.
type GivenSchemas struct {
	files map[string]string // by the name of the package
	dirs  map[string][]givenSchema
}

type givenSchema struct{ version, path string }

// SchemaDirs are the flags --schema-dir with directories.
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
			if _, missing := os.Stat(path); missing == nil {
				advice = "; a schema is what `pulumi package get-schema` writes"
			}
			return nil, fmt.Errorf("--schema %s: %w%s", name, console.PlainError(err), advice)
		}
		g.files[pkg.Name] = path
	}
	fileName := regexp.MustCompile(`^(.+?)(?:-v?(\d+\.\d+\.\d+.*))?\.json(?:\.gz)?$`)
	for _, name := range f.dirs {
		entries, err := os.ReadDir(a.Path(name))
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

// find is the file of a package; empty when none is given. Of several versions the wanted one is taken, or the last by
// name when none is wanted.
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
