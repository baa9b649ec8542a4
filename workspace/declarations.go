package workspace

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// withDeclarations adds the configuration declared in the project file to a program in a separate file (L1.7), so that
// stack values have their declared types in the program too (L2.33).
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
		c := &ast.Config{Name: ast.Literal{Value: d.Key.Name, Range: d.Place}, Range: d.Place,
			Secret: &ast.BoolLiteral{Value: d.Secret, Range: d.Place}}
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

func declaredType(t *project.Type, rng diag.Range) *ast.ConfigType {
	if t.Name != "array" {
		return &ast.ConfigType{Name: t.Name, Range: rng}
	}
	list := &ast.ConfigType{Name: "list", Range: rng}
	if t.Item != nil {
		list.Item = declaredType(t.Item, rng)
	}
	return list
}

// DeclaredKeys returns the keys that the project file and the program declare, and whether each is declared secret.
func (w *Workspace) DeclaredKeys() map[project.Key]bool {
	if w.Source == nil {
		return declaredKeys(w.Project, nil)
	}
	file, _ := w.Parse(nil)
	return declaredKeys(w.Project, file)
}

// SecretKeys returns the keys that the project file or the program declares secret. file may be nil.
func SecretKeys(p *project.Project, file *ast.File) map[project.Key]bool {
	keys := declaredKeys(p, file)
	maps.DeleteFunc(keys, func(_ project.Key, secret bool) bool { return !secret })
	return keys
}

func declaredKeys(p *project.Project, file *ast.File) map[project.Key]bool {
	declared := map[project.Key]bool{}
	for _, decl := range p.Config {
		declared[decl.Key] = declared[decl.Key] || decl.Secret
	}
	if file == nil {
		return declared
	}
	for _, decl := range file.Config {
		name := decl.Name.Value
		if decl.Key != nil {
			name = decl.Key.Value
		}
		if key, err := project.ParseKey(name, p.Name.Text); err == nil {
			declared[key] = declared[key] || decl.Secret.IsTrue()
		}
	}
	return declared
}
