package parser

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

var update = flag.Bool("update", false, "write the golden sections of testdata/*.txtar anew")

// TestCorpus reads the program of each archive and compares the tree and the findings with its golden sections.
func TestCorpus(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			require.NotEmpty(t, archive.Files)
			program := archive.Files[0]
			src := diag.NewSource(program.Name, program.Data)
			file, diags := Parse(src, Options{Plugin: program.Name == "PulumiPlugin.yaml"})
			var tree bytes.Buffer
			require.NoError(t, ast.Dump(&tree, file))
			golden := []txtar.File{
				{Name: "out/ast", Data: tree.Bytes()},
				{Name: "out/diagnostics", Data: []byte(listed(diags))},
			}
			if *update {
				archive.Files = append(archive.Files[:1], golden...)
				require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
				return
			}
			require.Len(t, archive.Files, 3)
			for i, want := range archive.Files[1:] {
				require.Equal(t, want.Name, golden[i].Name)
				require.Equal(t, string(want.Data), string(golden[i].Data))
			}
		})
	}
}

// listed is each finding on a line of its own, with the text that it points at.
func listed(diags diag.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags.Sorted() {
		start, end := d.Subject.StartPosition(), d.Subject.EndPosition()
		fmt.Fprintf(&b, "%d:%d-%d:%d %s %s: %s\n", start.Line, start.Column, end.Line, end.Column, d.Severity, d.Code, d.Summary)
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
			at := r.Range.StartPosition()
			fmt.Fprintf(&b, "    %d:%d: %s\n", at.Line, at.Column, r.Message)
		}
		for _, fix := range d.Fixes {
			fmt.Fprintf(&b, "    fix: %s\n", fix.Label)
		}
	}
	return b.String()
}
