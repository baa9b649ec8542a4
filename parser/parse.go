package parser

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Parse parses a program. The file is never nil: what cannot be parsed is omitted or represented by an ast.Bad, and
// reported in the diagnostics. Parse performs no I/O except through the options. It is safe for concurrent use.
func Parse(src *diag.Source, options Options) (*ast.File, diag.Diagnostics) {
	t := newText(src)
	main := t.outline(options, false)
	if main == nil {
		return &ast.File{Source: src, Lost: t.tree.Repairs.Lost}, t.report.diags
	}
	return main.finish()
}

// finish reads the sections of the outline and the texts that it includes.
func (o *outline) finish() (*ast.File, diag.Diagnostics) {
	file := o.file
	var diags diag.Diagnostics
	if o.sections["include"] != nil {
		file, diags = o.withIncluded()
	} else {
		o.read(o.sections.names(o.options.Declared...))
		diags = o.in.report.diags
	}
	noteFaults(file, diags)
	return file, diags
}

// noteFaults records the errors that affect the declarations of the file.
func noteFaults(file *ast.File, diags diag.Diagnostics) {
	file.Faults, file.Nameless = nil, 0
	for _, d := range diags {
		if slices.Contains(shaping, d.Code) {
			file.Faults = append(file.Faults, d.Subject)
		}
		if d.Code == diag.Nameless {
			file.Nameless++
		}
	}
}

// shaping holds the codes of errors that make a declaration differ from what its author meant.
var shaping = []diag.Code{diag.Syntax, diag.Duplicate, diag.Nameless, diag.UnknownKey, diag.WrongKind,
	diag.BadTypeToken}

// Data parses a text with a single YAML document as data, for fn::fromYAML: scalars, lists, maps, aliases and merge
// keys have the same meaning as in a program, but nothing is interpolated or called. A text without content is null.
// The expression is never nil, but must not be used if the diagnostics contain an error. Data is safe for concurrent
// use.
func Data(src *diag.Source) (ast.Expr, diag.Diagnostics) {
	t := newText(src)
	nothing := &ast.Null{Place: ast.Place{At: t.tree.Text.At(0, len(t.tree.Text.Bytes))}}
	if !t.screen() {
		return nothing, t.report.diags
	}
	if err := t.tree.Read(); err != nil {
		t.report.addAll(t.tree.Explain(err))
		return nothing, t.report.diags
	}
	root := t.tree.Root
	if root == nil {
		return nothing, t.report.diags
	}
	if second := t.tree.Tokens.SecondDocument; second >= 0 {
		t.report.fail(diag.WrongKind, t.tree.Text.At(second, second+3), "", "a second document begins here")
		return nothing, t.report.diags
	}
	x := newExprReader(newNodeReader(&t.tree.Text, &t.report, &t.tree.Repairs), nil)
	return x.value(root, nil, false), t.report.diags
}

// ParsePackage parses the files of a component package and merges them; the first file is the main one. The result has
// the components and dynamic types of all files. Name, description, version and namespace may each be declared in one
// file only (L1.30–L1.32).
func ParsePackage(files []*diag.Source) (*ast.File, diag.Diagnostics) {
	whole := &ast.File{}
	var diags diag.Diagnostics
	once := func(dst **ast.Literal, lit *ast.Literal, field string) {
		switch {
		case lit == nil:
		case *dst == nil:
			*dst = lit
		default:
			diags.Add(diag.Diagnostic{Code: diag.Duplicate, Subject: lit.Range,
				Summary: "another file of the package gives its " + field + " already",
				Detail:  "keep one of the two", Related: []diag.Related{{Range: (*dst).Range, Message: "the other one is here"}}})
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
			if taken && first.Source.Name() != c.Name.Range.Source.Name() { // reported within one file
				diags.Add(diag.Diagnostic{Code: diag.Duplicate, Subject: c.Name.Range,
					Summary: "the package has a component `" + diag.Excerpt(c.Name.Value) + "` already", Detail: "rename one of the two",
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
