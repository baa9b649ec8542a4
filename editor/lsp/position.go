package lsp

import (
	"go.lsp.dev/uri"

	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// encoding is the unit of columns. A client may ask for UTF-8; those that do not count in UTF-16.
type encoding uint8

const (
	utf16 encoding = iota
	utf8
)

// units returns the length of a text in columns.
func (e encoding) units(text []byte) int {
	if e == utf8 {
		return len(text)
	}
	n := 0
	for _, r := range string(text) {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// position returns the position of a byte offset. Lines count from 0 in the protocol and from 1 in a diag.Source.
func (e encoding) position(src *diag.Source, offset int) protocol.Position {
	if e == utf16 {
		line, column := src.PositionUTF16(offset)
		return protocol.Position{Line: uint32(line), Character: uint32(column)}
	}
	line := src.Position(offset).Line
	return protocol.Position{Line: uint32(line - 1),
		Character: uint32(offset - src.Offset(diag.Position{Line: line, Column: 1}))}
}

// offset returns the offset of a position. One behind the end of a line or of the text means that end, as the protocol
// defines.
func (e encoding) offset(src *diag.Source, p protocol.Position) int {
	if e == utf16 {
		return src.OffsetUTF16(int(p.Line), int(p.Character))
	}
	if int(p.Line) >= src.Lines() {
		return len(src.Text())
	}
	start := src.Offset(diag.Position{Line: int(p.Line) + 1, Column: 1})
	return start + min(int(p.Character), len(src.Line(int(p.Line)+1)))
}

// rangeOf converts a range. A range without a text becomes the start of the file.
func (e encoding) rangeOf(r diag.Range) protocol.Range {
	if r.Source == nil {
		return protocol.Range{}
	}
	return protocol.Range{Start: e.position(r.Source, int(r.Start)), End: e.position(r.Source, int(r.End))}
}

// pathOf returns the absolute path that a URI names.
func pathOf(u uri.URI) string { return u.FsPath() }

// uriOf returns the URI of an absolute path.
func uriOf(path string) uri.URI { return uri.File(path) }
