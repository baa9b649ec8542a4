package parser

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Options adjust parsing. The zero value is right for a program without a stack.
type Options struct {
	// Declared are names that expressions may use although the text does not declare them, such as the keys of a
	// stack's configuration. They matter only where `${…}` could be read in two ways (decision D6).
	Declared []string
	// Plugin says that the text belongs to a component plugin, which has components but no program (L1.31).
	Plugin bool
	// Include finds the texts that the section include names by a pattern such as parts/*.yaml, in order (L10.C11). An
	// error says why it cannot. Parse calls it from one goroutine; without it the section is refused.
	Include func(pattern string) ([]*diag.Source, error)
}

// maxFindings bounds the errors, and the warnings, about one text; nobody reads as many.
const maxFindings = 1000

// Parse reads a program. The tree is never nil; what could not be read is left out of it or is an ast.Bad, and the
// diagnostics say why. Parse does no input or output but through the options, and is safe for concurrent use.
func Parse(src *diag.Source, options Options) (*ast.File, diag.Diagnostics) {
	p := &parser{src: src, text: src.Text(), options: options}
	return p.finish(p.open(false))
}

// finish reads the sections of an outline, and the texts that it includes; nil is a text that cannot be read.
func (p *parser) finish(main *outline) (*ast.File, diag.Diagnostics) {
	if main == nil {
		return &ast.File{Source: p.src, Lost: p.lost}, p.diags
	}
	file := main.file
	var diags diag.Diagnostics
	if main.include != nil {
		file, diags = main.withIncluded()
	} else {
		main.read(p.names(main.body))
		diags = p.diags
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

// open finds the sections of the text; nil where it cannot be read at all, which has been reported.
func (p *parser) open(part bool) *outline {
	if !p.screen() {
		return nil
	}
	root, blocks := p.load()
	if blocks != nil {
		return blocks.outline(p, part)
	}
	if root == nil {
		return nil
	}
	o := p.outline(p.entries(root), part)
	o.roots = []*node{root}
	o.file.Lost = p.lost
	return o
}

// parser is the state of reading one text.
type parser struct {
	src     *diag.Source
	text    []byte
	options Options
	diags   diag.Diagnostics
	found   [diag.Warning + 1]int // errors and warnings so far

	lexed        *lexed
	repairs      []repair // of broken YAML
	comma        int      // where the comma can be put that the last syntax error misses; 0 where nothing is known
	sure         bool     // the last syntax error has its cause in the line that it names
	lost         []string // keys of lines that were taken out
	yamlRoot     *node
	blockIndents map[*node]int // from locate: of the collections around literal and folded texts

	scope *scope // of what is being read
	depth int    // of the expression that is being read

	// Of a block, which is read with the line of its section's key in front: the length of that line, where the block
	// begins in src, and how many lines stand above src in the text that the user sees.
	lead, origin, linesAbove int
	namesLines               bool         // a message names a line
	origins                  *ast.Origins // of the blocks, for what looks at several

	component bool // the declarations are those of a component

	aliases    []*node // anchored nodes whose aliases are being expanded
	expanding  map[*node]bool
	expanded   int  // nodes read through aliases
	overflowed bool // the expansion limit has been reported
}

// at makes a range from byte offsets; what lies outside of the text is cut off.
func (p *parser) at(start, end int) diag.Range {
	return diag.NewRange(p.src, p.outside(start), p.outside(end))
}

// outside is the offset in src of an offset in the text that is read.
func (p *parser) outside(offset int) int { return p.origin + max(min(offset, len(p.text))-p.lead, 0) }

// offset is the reverse of outside.
func (p *parser) offset(at int32) int { return int(at) - p.origin + p.lead }

// report adds a diagnostic and gives it back for more to be filled in; the pointer is good until the next one.
func (p *parser) report(severity diag.Severity, code diag.Code, at diag.Range, detail, format string,
	args ...any) *diag.Diagnostic {
	if severity <= diag.Warning {
		if p.found[severity]++; p.found[severity] > maxFindings {
			return &diag.Diagnostic{}
		}
	}
	p.diags.Add(diag.Diagnostic{
		Severity: severity, Code: code, Subject: at, Detail: detail, Summary: fmt.Sprintf(format, args...),
	})
	return &p.diags[len(p.diags)-1]
}

func (p *parser) fail(code diag.Code, at diag.Range, detail, format string, args ...any) *diag.Diagnostic {
	return p.report(diag.Error, code, at, detail, format, args...)
}

func (p *parser) warn(code diag.Code, at diag.Range, detail, format string, args ...any) *diag.Diagnostic {
	return p.report(diag.Warning, code, at, detail, format, args...)
}

// extension notes the use of something that only yamlhost understands (decision D6); it is silent unless asked for.
// What is read through an alias is covered by the note about the alias.
func (p *parser) extension(at diag.Range, format string, args ...any) {
	if len(p.aliases) > 0 {
		return
	}
	p.report(diag.Portability, diag.YamlhostOnly, at, "", format+" is understood by yamlhost only", args...)
}

// bad stands for something that has been reported.
func bad(at diag.Range) ast.Expr { return &ast.Bad{Place: ast.Place{At: at}} }
