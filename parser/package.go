package parser

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// ParsePackage reads the files of a package of components and joins them; the first file is the main one. The result
// has the components and dynamic types of all files. Name, description, version and namespace may each stand in one
// file only (L1.30–L1.32).
func ParsePackage(files []*diag.Source) (*ast.File, diag.Diagnostics) {
	whole := &ast.File{}
	var diags diag.Diagnostics
	once := func(to **ast.Literal, from *ast.Literal, field string) {
		switch {
		case from == nil:
		case *to == nil:
			*to = from
		default:
			diags.Add(diag.Diagnostic{Code: diag.Duplicate, Subject: from.Range,
				Summary: "another file of the package gives its " + field + " already",
				Detail:  "keep one of the two", Related: []diag.Related{{Range: (*to).Range, Message: "the other one is here"}}})
		}
	}
	components := make(map[string]diag.Range)
	for _, src := range files {
		file, found := Parse(src, Options{Plugin: true})
		diags.Add(found...)
		if whole.Source == nil {
			whole.Source = src
		}
		once(&whole.Name, file.Name, "name")
		once(&whole.Description, file.Description, "description")
		once(&whole.Version, file.Version, "version")
		once(&whole.Namespace, file.Namespace, "namespace")
		whole.Dynamic = append(whole.Dynamic, file.Dynamic...)
		for _, c := range file.Components {
			first, taken := components[c.Name.Value]
			if taken && first.Source.Name() != c.Name.Range.Source.Name() { // twice in one file has been reported
				diags.Add(diag.Diagnostic{Code: diag.Duplicate, Subject: c.Name.Range,
					Summary: "the package has a component `" + shorten(c.Name.Value) + "` already", Detail: "rename one of the two",
					Related: []diag.Related{{Range: first, Message: "the other one is here"}}})
			}
			if !taken {
				components[c.Name.Value] = c.Name.Range
				whole.Components = append(whole.Components, c)
			}
		}
	}
	if whole.Name == nil && whole.Source != nil {
		diags.Add(diag.Diagnostic{Code: diag.RequiredMissing, Subject: diag.NewRange(whole.Source, 0, 0),
			Summary: "the package has no name", Detail: "add `name: …`: the types of the package begin with it"})
	}
	return whole, diags
}
