package yamlnode

import "github.com/yamlhost/yamlhost/internal/diag"

// Text is a text to parse, with its position in the text that the user sees.
type Text struct {
	Source *diag.Source
	Bytes  []byte

	// For a block, which is parsed after the line of its section's key: the length of that line, the offset of the
	// block in Source, and the number of lines before Source in the text that the user sees.
	Lead, Origin, LinesAbove int
	// Whole maps ranges of blocks to the whole text; nil while one block is read.
	Whole interface {
		Place(rng diag.Range) diag.Range
	}
	// NamesLines reports whether a message contains a line number, so that it is only valid for these LinesAbove.
	NamesLines bool
	// FieldAt returns the key at the start of a block that follows its lead, and whether it is a field of an entry
	// whose name is missing rather than a misaligned entry. It is nil for a text without entries.
	FieldAt func(lead, block []byte) (key string, ok bool)
}

// At returns the range with the given byte offsets in the parsed text, limited to that text.
func (t *Text) At(start, end int) diag.Range {
	return diag.NewRange(t.Source, t.Outside(start), t.Outside(end))
}

// Span returns the range of a node.
func (t *Text) Span(n *Node) diag.Range { return t.At(n.Start, n.End) }

// Outside converts an offset in the parsed text to one in Source.
func (t *Text) Outside(offset int) int { return t.Origin + max(min(offset, len(t.Bytes))-t.Lead, 0) }

// Offset is the inverse of Outside.
func (t *Text) Offset(pos int32) int { return int(pos) - t.Origin + t.Lead }

// ShownLine returns the 1-based line of a range in the text that the user sees.
func (t *Text) ShownLine(rng diag.Range) int {
	if t.Whole != nil {
		return t.Whole.Place(rng).StartPosition().Line
	}
	t.NamesLines = true
	return t.LinesAbove + rng.StartPosition().Line
}
