package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/yamlhost/yamlhost/cmd/internal/cli"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/osfile"
)

const modulePath = "github.com/yamlhost/yamlhost/"

// A schemaMaker generates JSON schemas from the Go types of contracts. Comments of fields become descriptions.
type schemaMaker struct {
	root     string                                  // folder of the repository
	comments map[string]map[string]map[string]string // by package path, type and field
}

// of returns the JSON schema of a contract.
func (m *schemaMaker) of(c contract.Contract) ([]byte, error) {
	s, err := jsonschema.ForType(c.Type, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}, // any JSON
		reflect.TypeFor[[]byte]():          {Types: []string{"null", "string"}, ContentEncoding: "base64"},
	}})
	if err != nil {
		return nil, err
	}
	if err := m.describe(s, c.Type); err != nil {
		return nil, err
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = "https://github.com/yamlhost/yamlhost/blob/main/docs/schemas/" + c.Name + ".json"
	s.Title = "yamlhost: " + c.About
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// describe adds the comments of a type's fields to its schema as descriptions, and allows additional properties so that
// members can be added later.
func (m *schemaMaker) describe(s *jsonschema.Schema, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice:
		if s.Items != nil {
			return m.describe(s.Items, t.Elem())
		}
	case reflect.Map:
		if s.AdditionalProperties != nil {
			return m.describe(s.AdditionalProperties, t.Elem())
		}
	case reflect.Struct:
		if s.Properties == nil {
			return nil
		}
		s.AdditionalProperties = nil
		comments, err := m.fields(t)
		if err != nil {
			return err
		}
		for f := range t.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[name]
			if p == nil {
				continue
			}
			if f.Type.Kind() == reflect.Map && options == "" {
				p.Type, p.Types = "", []string{"null", "object"} // Go writes a nil map as null
			}
			if left := slices.DeleteFunc(slices.Clone(p.Types), func(t string) bool { return t == "null" }); options != "" &&
				len(left) == 1 { // an empty member is left out and never null
				p.Type, p.Types = left[0], nil
			}
			p.Description = comments[f.Name]
			if err := m.describe(p, f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// fields returns the comments of a struct's fields by field name. It returns nil for types of other modules.
func (m *schemaMaker) fields(t reflect.Type) (map[string]string, error) {
	path, ours := strings.CutPrefix(t.PkgPath(), modulePath)
	if !ours || t.Name() == "" {
		return nil, nil
	}
	if m.comments[path] == nil {
		types, err := commentsOf(filepath.Join(m.root, path))
		if err != nil {
			return nil, err
		}
		m.comments[path] = types
	}
	return m.comments[path][t.Name()], nil
}

// commentsOf reads the comments of struct fields in a package's folder, by type and field.
func commentsOf(dir string) (map[string]map[string]string, error) {
	types := map[string]map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				fields := map[string]string{}
				for _, f := range s.Fields.List {
					text := f.Doc.Text() + f.Comment.Text()
					for _, name := range f.Names {
						fields[name.Name] = strings.Join(strings.Fields(text), " ")
					}
				}
				types[spec.Name.Name] = fields
			}
			return true
		})
	}
	return types, err
}

// The table in the page about contracts stands between these two lines.
const (
	tableBegins = "<!-- contracts: written by cmd/internal/manual -->\n"
	tableEnds   = "<!-- end of contracts -->\n"
)

// writeSchemas writes a schema for each contract into the folder docs/schemas, removes all other files there, and
// updates the table in docs/json.md.
func writeSchemas(root string) error {
	files, page, err := schemas(root)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "docs", "schemas")
	if err := osfile.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(root, "docs", "json.md"), page, 0o644)
}

// schemas returns the schemas by file name, and the page docs/json.md with its table updated.
func schemas(root string) (files map[string][]byte, page []byte, err error) {
	maker := &schemaMaker{root: root, comments: map[string]map[string]map[string]string{}}
	files = map[string][]byte{}
	var table strings.Builder
	writeRow(&table, "Schema", "Tells", "Written by")
	writeRow(&table, "---", "---", "---")
	for _, c := range cli.Contracts() {
		name := c.Name + ".json"
		if files[name] != nil {
			return nil, nil, fmt.Errorf("two contracts are named %s", c.Name)
		}
		if files[name], err = maker.of(c); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		about := c.About
		if c.Lines {
			about += "; one on each line"
		}
		writeRow(&table, fmt.Sprintf("[%s](schemas/%s)", c.Name, name), about, c.From)
	}
	text, err := fs.ReadFile(os.DirFS(root), "docs/json.md")
	if err != nil {
		return nil, nil, err
	}
	before, rest, begins := strings.Cut(string(text), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return nil, nil, fmt.Errorf("docs/json.md has no place for the table: %s%s", tableBegins, tableEnds)
	}
	return files, []byte(before + tableBegins + table.String() + tableEnds + after), nil
}

func writeRow(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
