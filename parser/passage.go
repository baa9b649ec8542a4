package parser

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// passage is a text to parse, with its position in the text that the user sees.
type passage struct {
	src  *diag.Source
	text []byte

	// For a block, which is parsed after the line of its section's key: the length of that line, the offset of the
	// block in src, and the number of lines before src in the text that the user sees.
	lead, origin, linesAbove int
	origins                  *ast.Origins // maps blocks to the whole text; nil while reading one block
	namesLines               bool         // a message contains a line number, so that it is only valid for this linesAbove
}

// at returns the range with the given byte offsets in the parsed text, limited to that text.
func (p *passage) at(start, end int) diag.Range {
	return diag.NewRange(p.src, p.outside(start), p.outside(end))
}

// span returns the range of a node.
func (p *passage) span(n *node) diag.Range { return p.at(n.start, n.end) }

// outside converts an offset in the parsed text to one in src.
func (p *passage) outside(offset int) int { return p.origin + max(min(offset, len(p.text))-p.lead, 0) }

// offset is the inverse of outside.
func (p *passage) offset(pos int32) int { return int(pos) - p.origin + p.lead }

// shownLine returns the 1-based line of a range in the text that the user sees.
func (p *passage) shownLine(rng diag.Range) int {
	if p.origins != nil {
		return p.origins.Place(rng).StartPosition().Line
	}
	p.namesLines = true
	return p.linesAbove + rng.StartPosition().Line
}

// lineAt returns the range of a line without its indentation. Lines are counted as by the YAML parser.
func lineAt(text []byte, line int) (start, end int) {
	start = behindBlanks(text, newLocator(text).seek(line, 0))
	return start, contentEnd(text, start)
}

// contentEnd returns the end of the line that contains an offset, before its line break.
func contentEnd(text []byte, i int) int {
	for i < len(text) && breakAt(text, i) == 0 {
		i++
	}
	return i
}

// contentBegin returns the start of the line that contains an offset.
func contentBegin(text []byte, i int) int {
	for i > 0 && breakBefore(text, i) == 0 {
		i--
	}
	return i
}

// lineOf returns the line that contains an offset, counted as by the YAML parser.
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
