package parser

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// yamlText is a text with its YAML tree and the findings about its syntax.
type yamlText struct {
	report findings
	tree   yamlnode.Tree
}

func newText(src *diag.Source) *yamlText {
	return &yamlText{tree: yamlnode.Tree{Text: yamlnode.Text{Source: src, Bytes: src.Text()}}}
}

// screen scans the text. It returns false for a text that cannot be parsed, which it reports.
func (t *yamlText) screen() bool {
	d := t.tree.Screen()
	if d != nil {
		t.report.addAll(*d)
	}
	return d == nil
}

// reread reports a syntax error, and parses the text in spite of it. It returns false if that fails.
func (t *yamlText) reread(err error) bool {
	found, err := t.tree.Mend(err)
	t.report.addAll(found...)
	return err == nil
}

// noteEscapes reports escapes that other hosts reject, and quoted texts that seem to have no end where it belongs.
func (t *yamlText) noteEscapes() {
	t.report.addAll(t.tree.Runaways()...)
	for _, rng := range t.tree.Escapes() {
		t.report.portability(rng, "the escape `%s`", rng.Text())
	}
}
