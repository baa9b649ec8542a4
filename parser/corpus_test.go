package parser

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast/asttest"
)

var update = flag.Bool("update", false, "write the golden sections of testdata/*.txtar anew")

// TestCorpus parses the program of each archive and compares the tree and the findings with its golden sections.
func TestCorpus(t *testing.T) {
	t.Parallel()
	corpus.Run(t, *update, func(t *testing.T, a *txtar.Archive) []txtar.File {
		require.Len(t, a.Files, 1)
		program := a.Files[0]
		src := diag.NewSource(program.Name, program.Data)
		file, diags := Parse(src, Options{Plugin: program.Name == "PulumiPlugin.yaml"})
		var tree bytes.Buffer
		require.NoError(t, asttest.Dump(&tree, file))
		return []txtar.File{
			{Name: "out/ast", Data: tree.Bytes()},
			{Name: "out/diagnostics", Data: []byte(listed(diags))},
		}
	}, "testdata/*.txtar")
}

// listed formats findings, each on its own line and followed by the text in its range.
func listed(diags diag.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags.Sorted() {
		start, end := d.Subject.StartPosition(), d.Subject.EndPosition()
		fmt.Fprintf(&b, "%d:%d-%d:%d %s %s: %s\n", start.Line, start.Column, end.Line, end.Column, d.Severity, d.Code,
			d.Summary)
		if text, _, more := strings.Cut(d.Subject.Text(), "\n"); text != "" {
			if more {
				text += "…"
			}
			fmt.Fprintf(&b, "    > %s\n", text)
		}
		if d.Detail != "" {
			fmt.Fprintf(&b, "    %s\n", d.Detail)
		}
		for _, r := range d.Related {
			pos := r.Range.StartPosition()
			fmt.Fprintf(&b, "    %d:%d: %s\n", pos.Line, pos.Column, r.Message)
		}
		for _, fix := range d.Fixes {
			fmt.Fprintf(&b, "    fix: %s\n", fix.Label)
		}
	}
	return b.String()
}
