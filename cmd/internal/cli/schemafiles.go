package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/schema"
)

// schemaFlags are --schema and --schema-dir: schemas to check with instead of those of providers, so that a machine without
// any plugin can check.
type schemaFlags struct {
	files []string
	dirs  []string
}

func (f *schemaFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "schema", nil, "take a package's schema from this file (JSON, may be gzipped); may be repeated")
	cmd.Flags().StringArrayVar(&f.dirs, "schema-dir", nil,
		"take schemas from this directory, where they are called <package>.json or <package>-<version>.json; may be repeated")
}

// givenSchemas are the files that --schema and --schema-dir name.
type givenSchemas struct {
	files map[string]string // by the name of the package
	dirs  map[string][]givenSchema
}

type givenSchema struct{ version, path string }

// schemaFileName takes the name of a schema's file apart.
var schemaFileName = regexp.MustCompile(`^(.+?)(?:-v?(\d+\.\d+\.\d+.*))?\.json(?:\.gz)?$`)

// givenSchemas finds the files of the flags. Those of --schema are read for the names of their packages.
func (a *app) givenSchemas(f schemaFlags) (*givenSchemas, error) {
	if len(f.files)+len(f.dirs) == 0 {
		return nil, nil
	}
	g := &givenSchemas{files: make(map[string]string), dirs: make(map[string][]givenSchema)}
	for _, name := range f.files {
		path := a.path(name)
		pkg, err := plugin.SchemaCache{Home: a.pulumiHome()}.OpenFile(path)
		if err != nil {
			advice := ""
			if _, missing := os.Stat(path); missing == nil {
				advice = "; a schema is what `pulumi package get-schema` writes"
			}
			return nil, fmt.Errorf("--schema %s: %w%s", name, plainError(err), advice)
		}
		g.files[pkg.Name] = path
	}
	for _, name := range f.dirs {
		entries, err := os.ReadDir(a.path(name))
		if err != nil {
			return nil, fmt.Errorf("--schema-dir %s: %w", name, plainError(err))
		}
		for _, entry := range entries {
			m := schemaFileName.FindStringSubmatch(entry.Name())
			if m == nil || entry.IsDir() {
				continue
			}
			g.dirs[m[1]] = append(g.dirs[m[1]], givenSchema{m[2], filepath.Join(a.path(name), entry.Name())})
		}
	}
	return g, nil
}

// find is the file of a package; empty when none is given. Of several versions the wanted one is taken, or the last by
// name when none is wanted.
func (g *givenSchemas) find(d schema.Descriptor) string {
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

// plainError is an error of the file system without the name of the file, which is said already.
func plainError(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
