package parser

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// passage is a text that is read, and where it stands in the text that the user sees.
type passage struct {
	src  *diag.Source
	text []byte

	// Of a block, which is read with the line of its section's key in front: the length of that line, where the block
	// begins in src, and how many lines stand above src in the text that the user sees.
	lead, origin, linesAbove int
	origins                  *ast.Origins // of the blocks, for what looks at several; nil elsewhere
	namesLines               bool         // a message names a line, so that it holds for linesAbove alone
}

// at makes a range from byte offsets; what lies outside of the text is cut off.
func (p *passage) at(start, end int) diag.Range {
	return diag.NewRange(p.src, p.outside(start), p.outside(end))
}

// span returns the place of a node.
func (p *passage) span(n *node) diag.Range { return p.at(n.start, n.end) }

// outside returns the offset in src of an offset in the text that is read.
func (p *passage) outside(offset int) int { return p.origin + max(min(offset, len(p.text))-p.lead, 0) }

// offset returns the reverse of outside.
func (p *passage) offset(pos int32) int { return int(pos) - p.origin + p.lead }

// shownLine returns the line of a place as the user sees it, 1-based.
func (p *passage) shownLine(rng diag.Range) int {
	if p.origins != nil {
		return p.origins.Place(rng).StartPosition().Line
	}
	p.namesLines = true
	return p.linesAbove + rng.StartPosition().Line
}

// lineAt returns the stretch of a line, as the YAML reader counts them, without its indentation.
func lineAt(text []byte, line int) (start, end int) {
	start = behindBlanks(text, newLocator(text).seek(line, 0))
	return start, contentEnd(text, start)
}

// contentEnd is where the line that holds an offset ends, without its line break.
func contentEnd(text []byte, i int) int {
	for i < len(text) && breakAt(text, i) == 0 {
		i++
	}
	return i
}

// contentBegin is where the line that holds an offset begins.
func contentBegin(text []byte, i int) int {
	for i > 0 && breakBefore(text, i) == 0 {
		i--
	}
	return i
}

// lineOf returns the line, as the YAML reader counts them, of an offset.
func lineOf(text []byte, offset int) int {
	line := 1
	for i := textStart(text); i < min(offset, len(text)); {
		n := breakAt(text, i)
		if n > 0 && i+n <= offset {
			line++
		}
		i += max(n, 1)
	}
	return line
}
