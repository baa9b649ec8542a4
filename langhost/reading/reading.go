package reading

import (
	"fmt"
	"os"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/project"
	"github.com/yamlhost/yamlhost/schema"
)

// Source is the text of a program file. When that is the project file, it is the project's own text (L1.7), so that places
// in both are the same places. shown is how a path is called in messages.
func Source(p *project.Project, path string, shown func(path string) string) (*diag.Source, error) {
	if path == p.Path {
		return p.Source, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read program: %w", err)
	}
	return diag.NewSource(shown(path), project.StripBOM(text)), nil
}

// Packages are those that declarations stand for (L1.H), each once.
func Packages(files []project.PackageFile) []schema.Descriptor {
	var found []schema.Descriptor
	seen := map[string]bool{}
	for _, f := range files {
		d := schema.Descriptor{Name: f.Name, Version: f.Version, DownloadURL: f.DownloadURL}
		p := f.Parameterization
		if f.Extension != nil {
			p, d.Extension = f.Extension, true // L1.41
		}
		if p != nil {
			d.Parameterization = &schema.Parameterization{Name: p.Name, Version: p.Version, Value: p.Value}
		}
		if key := d.Key(); !seen[key] {
			seen[key] = true
			found = append(found, d)
		}
	}
	return found
}

// Parse reads a program's text, with the configuration that its project file declares beside it (L1.7): values of the stack
// have their declared types in the program too (L2.33).
func Parse(src *diag.Source, p *project.Project, o parser.Options) (*ast.File, diag.Diagnostics) {
	file, diags := parser.Parse(src, o)
	if src != p.Source {
		file = withDeclarations(file, p)
	}
	return file, diags
}

func withDeclarations(file *ast.File, p *project.Project) *ast.File {
	declared := map[string]bool{}
	for _, c := range file.Config {
		declared[c.Name.Value] = true
		if c.Key != nil {
			declared[c.Key.Value] = true
		}
	}
	whole := *file
	whole.Config = slices.Clone(file.Config)
	for _, d := range p.Config {
		if !d.Own || declared[d.Key.Name] {
			continue
		}
		c := &ast.Config{Name: ast.Literal{Value: d.Key.Name, Range: d.Place}, Range: d.Place, Secret: &ast.BoolLiteral{Value: d.Secret, Range: d.Place}}
		if t := d.ValueType(); t != nil {
			c.Type = declaredType(t, d.Place)
		}
		if d.Optional {
			c.Optional = &ast.BoolLiteral{Value: true, Range: d.Place}
		}
		whole.Config = append(whole.Config, c)
	}
	return &whole
}

func declaredType(t *project.Type, at diag.Range) *ast.ConfigType {
	if t.Name != "array" {
		return &ast.ConfigType{Name: t.Name, Range: at}
	}
	list := &ast.ConfigType{Name: "list", Range: at}
	if t.Item != nil {
		list.Item = declaredType(t.Item, at)
	}
	return list
}
