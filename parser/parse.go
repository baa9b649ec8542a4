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
	if o.include != nil {
		file, diags = o.withIncluded()
	} else {
		o.read(o.names(o.options.Declared...))
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
