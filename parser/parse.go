package parser

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Options adjust parsing. The zero value is right for a program without a stack.
type Options struct {
	// Declared are names that expressions may use although the text does not declare them, such as the keys of a
	// stack's configuration. They matter only where `${…}` could be read in two ways (decision D6).
	Declared []string
	// Plugin reports whether the text belongs to a component plugin, which has components but no program (L1.31).
	Plugin bool
	// Pack: the text is a policy pack, which has policies but no program.
	Pack bool
	// Include finds the texts that the section include names by a pattern such as parts/*.yaml, in order (L10.C11). An
	// error describes why it cannot. Parse calls it from one goroutine; without it the section is refused.
	Include func(pattern string) ([]*diag.Source, error)
}

// Parse reads a program. The tree is never nil; what could not be read is left out of it or is an ast.Bad, and the
// diagnostics give the reason. Parse does no input or output but through the options, and is safe for concurrent use.
func Parse(src *diag.Source, options Options) (*ast.File, diag.Diagnostics) {
	t := newText(src)
	main := t.outline(options, false)
	if main == nil {
		return &ast.File{Source: src, Lost: t.repairs.lost}, t.diags
	}
	return main.finish()
}

// outline finds the sections of the text; nil where it cannot be read at all, which has been reported. included says
// that another text includes it.
func (t *yamlText) outline(options Options, included bool) *outline {
	if !t.screen() {
		return nil
	}
	root, blocks := t.load()
	if blocks != nil {
		return blocks.outline(t, options, included)
	}
	if root == nil {
		return nil
	}
	r := newBodyReader(&t.passage, &t.findings, &t.repairs, nil)
	r.independent = len(t.lexed.anchors) == 0
	var top []*section
	for _, e := range r.entries(root) {
		top = append(top, &section{entry: e, in: r})
	}
	o := newOutline(r, top, options, included)
	o.roots = []*node{root}
	o.file.Lost = t.repairs.lost
	return o
}

// finish reads the sections of the outline, and the texts that it includes.
func (o *outline) finish() (*ast.File, diag.Diagnostics) {
	file := o.file
	var diags diag.Diagnostics
	if o.sections["include"] != nil {
		file, diags = o.withIncluded()
	} else {
		o.read(o.sections.names(o.options.Declared...))
		diags = o.in.diags
	}
	noteFaults(file, diags)
	return file, diags
}

// noteFaults notes which findings spoil what the file declares.
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

// shaping are the codes of faults by which a declaration is another than the text meant.
var shaping = []diag.Code{diag.Syntax, diag.Duplicate, diag.Nameless, diag.UnknownKey, diag.WrongKind,
	diag.BadTypeToken}

// Data reads a text of one YAML document as data, as fn::fromYAML wants it: scalars, lists, maps, aliases and merge
// keys as in a program, but nothing is interpolated or called. A text without content is null. The answer is never nil;
// where the diagnostics hold an error, it is of no use. Data is safe for concurrent use.
func Data(src *diag.Source) (ast.Expr, diag.Diagnostics) {
	t := newText(src)
	nothing := &ast.Null{Place: ast.Place{At: t.at(0, len(t.text))}}
	if !t.screen() {
		return nothing, t.diags
	}
	root, err := readTree(t.text, t.lexed)
	if err != nil {
		t.syntax(err)
		return nothing, t.diags
	}
	if root == nil {
		return nothing, t.diags
	}
	if second := t.lexed.secondDocument; second >= 0 {
		t.fail(diag.WrongKind, t.at(second, second+3), "", "a second document begins here")
		return nothing, t.diags
	}
	x := newExprReader(newNodeReader(&t.passage, &t.findings, &t.repairs), nil)
	return x.read(root, nil, false), t.diags
}

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
