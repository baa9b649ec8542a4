package yamlnode

import (
	"bytes"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Tree is a text that is parsed as YAML: its tokens, its nodes and the repairs to it. Scan or Screen comes first.
type Tree struct {
	Text    Text
	Tokens  *Tokens
	Repairs Repairs
	Root    *Node // of the first document; nil if that is empty or cannot be parsed
}

// NewTree returns the tree of a whole text, which has not been read yet and does not change.
func NewTree(src *diag.Source) *Tree { return &Tree{Text: Text{Source: src, Bytes: src.Text()}} }

// Scan scans the tokens of the text.
func (t *Tree) Scan() { t.Tokens = lex(t.Text.Bytes) }

// Read parses the first document and hides its secrets. Explain makes a finding of its error.
func (t *Tree) Read() error {
	err := t.Parse()
	t.Hide(err)
	return err
}

// Parse is the first part of Read.
func (t *Tree) Parse() (err error) {
	t.Root, err = readTree(t.Text.Bytes, t.Tokens)
	return err
}

// Hide is the second part of Read. err is the error of Parse: after one, more is hidden.
func (t *Tree) Hide(err error) { t.Text.hideSecrets(t.Root, err) }

// Escapes returns the ranges of escapes that other YAML parsers refuse.
func (t *Tree) Escapes() []diag.Range {
	var found []diag.Range
	for _, r := range t.Tokens.refused {
		found = append(found, t.Text.At(r.pos, r.pos+r.width))
	}
	return found
}

// Runaways returns warnings of texts in quotes with lines that look like entries of the map around them: the quote that
// ends such a text seems to belong to another one. There are none for a text that was repaired or has no map.
func (t *Tree) Runaways() []diag.Diagnostic {
	var found []diag.Diagnostic
	if t.Repairs.Any() || t.Root == nil || t.Root.Kind != Map {
		return nil
	}
	text := t.Text.Bytes
	for _, s := range t.Tokens.suspicions {
		if s.kind != suspectQuoteFar {
			continue
		}
		begin := contentBegin(text, s.at)
		limit := SkipSpaces(text, begin) - begin
		for _, l := range ContentLines(text[s.at:QuotedEnd(text, s.at)])[1:] {
			l.Start, l.End = l.Start+s.at, l.End+s.at
			if l.Indent <= limit && KeyEnd(text, l) > 0 {
				found = append(found, diag.Diagnostic{Severity: diag.Warning, Code: diag.Syntax,
					Subject: t.Text.At(s.at, s.at+1),
					Summary: "this text goes on over lines that look like entries of the map around it",
					Detail:  "add the missing quote at the end of the text, or indent its lines deeper than its key"})
				break
			}
		}
	}
	return found
}

// readTree parses the first document of a text. It returns nil if the document is empty. It clears tokens.refused if
// these turn out not to be escapes.
func readTree(text []byte, tokens *Tokens) (*Node, error) {
	for {
		root, err := unmarshal(text, tokens.readable(text))
		if err != nil || root == nil || restoreEscapes(text, tokens, root) {
			return root, err
		}
		tokens.refused = nil // they were ordinary text
	}
}

// Parse parses the first document of a text whose double-quoted strings have no escapes that only JSON has. It returns
// nil if the document is empty. The tree shares the memory of the text, which must not change.
func Parse(text []byte) (*Node, error) { return unmarshal(text, text) }

// unmarshal parses the first document of a text. It returns nil if the document is empty. readable is the text of the
// same length that is passed to the YAML parser.
func unmarshal(text, readable []byte) (*Node, error) {
	if len(text) > 0 && &text[0] == &readable[0] {
		if root := plainTree(text); root != nil {
			return root, nil
		}
	}
	return unmarshalAny(text, readable)
}

// unmarshalAny is like unmarshal but always uses the YAML parser.
func unmarshalAny(text, readable []byte) (*Node, error) {
	document, err := decode(readable[TextStart(text):])
	if err != nil || len(document.Content) == 0 {
		return nil, err
	}
	return locate(text, document.Content[0]), nil
}

// Commented reads the first document with its comments, for a tree that is edited. It is nil if the document is empty.
func (t *Tree) Commented() (*Document, error) {
	for {
		text := t.Text.Bytes
		// The YAML parser takes CR LF behind a comment for an empty line, which separates it from what it is about.
		read := bytes.ReplaceAll(t.Tokens.readable(text)[TextStart(text):], []byte("\r\n"), []byte("\n"))
		found, err := decode(read)
		if err != nil || len(found.Content) == 0 {
			return nil, err
		}
		l := newLocator(text)
		l.comments = true
		document := l.document(&found)
		if restoreEscapes(text, t.Tokens, document.Root) {
			t.Root = document.Root
			return document, nil
		}
		t.Tokens.refused = nil // they were ordinary text
	}
}

// plainVersion returns a text whose first line is the directive `%YAML 1.2` with the version that the YAML parser knows
// in its place: it reads both versions alike. Any other text is returned unchanged.
func plainVersion(text []byte) []byte {
	const known, written = "%YAML 1.1", "%YAML 1.2"
	rest, found := bytes.CutPrefix(text, []byte(written))
	if !found || len(rest) > 0 && !bytes.ContainsAny(rest[:1], " \t\r\n") {
		return text
	}
	return append([]byte(known), rest...)
}

// decode calls the YAML parser and converts its panics to errors.
func decode(text []byte) (document yaml.Node, err error) {
	text = plainVersion(text)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: the text cannot be read")
		}
	}()
	err = yaml.Unmarshal(text, &document)
	return document, err
}

// repair is an overwritten range of the text.
type repair struct {
	Start, End int
	line       int
	Key        string // the key that got a colon; empty for other repairs
	blanked    bool   // the whole line was blanked
}

// Repairs holds the overwritten ranges of a text.
type Repairs struct {
	list []repair
	Lost []string // keys of blanked lines
}
