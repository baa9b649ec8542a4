package yamlnode

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Documents reads all documents of a text; empty ones are left out. The finding is about a text that cannot be read.
func Documents(src *diag.Source) ([]*Node, *diag.Diagnostic) {
	t := NewTree(src)
	if d := t.Screen(); d != nil {
		return nil, d
	}
	if roots, ok := plainDocuments(t.Text.Bytes); ok {
		return roots, nil
	}
	documents, d := t.documents()
	roots := make([]*Node, 0, len(documents))
	for _, document := range documents {
		roots = append(roots, document.Root)
	}
	return roots, d
}

// plainDocuments reads a text whose documents are in the common part of YAML; ok is false for any other text.
func plainDocuments(text []byte) (roots []*Node, ok bool) {
	for start := TextStart(text); start < len(text); {
		end, next := documentEnd(text, start)
		part := text[start:end]
		if !plainCharacters(part) {
			return nil, false
		}
		if len(ContentLines(part)) > 0 {
			root := plainTree(part)
			if root == nil {
				return nil, false
			}
			root.move(start)
			roots = append(roots, root)
		}
		start = next
	}
	return roots, true
}

// documentEnd returns the end of the document that begins at a line, and the start of the next one.
func documentEnd(text []byte, start int) (end, next int) {
	for i := start; i < len(text); {
		l := LineFrom(text, i)
		if l.Indent == 0 && string(bytes.TrimRight(text[l.Start:l.End], " ")) == "---" {
			return i, l.Next
		}
		i = l.Next
	}
	return len(text), len(text)
}

// move changes the positions of a tree by a number of bytes.
func (n *Node) move(by int) {
	n.Start, n.End = n.Start+by, n.End+by
	for _, child := range n.Content {
		child.move(by)
	}
}

// documents reads all documents of the text with the YAML parser.
func (t *Tree) documents() ([]*Document, *diag.Diagnostic) {
	text := t.Text.Bytes
	for {
		found, err := decodeAll(t.Tokens.readable(text)[TextStart(text):])
		if err != nil {
			d := t.Explain(err)
			return nil, &d
		}
		l := newLocator(text)
		left := t.Tokens.refused
		restored := true
		var documents []*Document
		for _, document := range found {
			made := l.document(document)
			documents = append(documents, made)
			if restored {
				left, restored = restoreIn(text, left, made.Root)
			}
		}
		if restored && len(left) == 0 {
			return documents, nil
		}
		t.Tokens.refused = nil // they were ordinary text
	}
}

// decodeAll calls the YAML parser for each document and converts its panics to errors. It leaves out empty documents.
func decodeAll(text []byte) (documents []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: the text cannot be read")
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		document := &yaml.Node{}
		if err := decoder.Decode(document); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, err
		}
		if len(document.Content) > 0 {
			documents = append(documents, document)
		}
	}
}
