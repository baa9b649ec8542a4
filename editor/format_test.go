package editor_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// TestFormatByLines formats a program with random white space. Each edit must be within one line, and together they
// must have the result of `yamlhost fmt`.
func TestFormatByLines(t *testing.T) {
	t.Parallel()
	const program = "name: p\n# about it\n\nresources:\n  pet:\n    type: random:RandomPet\n    properties:\n      " +
		"length: 2\noutputs:\n  o:\n    - a\n    - 'b c'\n"
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for _, line := range strings.SplitAfter(program, "\n") {
			for range rapid.IntRange(0, 2).Draw(t, "empty lines") {
				b.WriteString(rapid.SampledFrom([]string{"\n", "  \n"}).Draw(t, "empty"))
			}
			body, end, _ := strings.Cut(line, "\n")
			indent := len(body) - len(strings.TrimLeft(body, " "))
			b.WriteString(strings.Repeat(" ", indent*rapid.IntRange(0, 1).Draw(t, "deeper")) + body)
			if body != "" {
				b.WriteString(strings.Repeat(" ", rapid.IntRange(0, 3).Draw(t, "trailing")) + "\n" + end)
			}
		}
		text := b.String()
		formatted, _ := parser.Format(diag.NewSource("", []byte(text)))
		edits := editor.Format(snapshotOf(text), file, 0, -1)
		require.Equal(t, string(formatted), applied(text, edits), "%q", text)
		for _, e := range edits {
			require.LessOrEqual(t, bytes.Count([]byte(e.Range.Text()), []byte("\n")), 1)
		}
	})
}

func TestFormatRange(t *testing.T) {
	t.Parallel()
	const text = "name:   p\nresources:\n   pet:\n     type:   random:RandomPet\noutputs:\n  o:   1\n"
	start := strings.Index(text, "outputs")
	edits := editor.Format(snapshotOf(text), file, start, len(text))
	require.Equal(t, strings.Replace(text, "o:   1", "o: 1", 1), applied(text, edits))
	require.Empty(t, editor.Format(snapshotOf("a: [\n"), file, 0, 5))
}

// TestIndent checks the indentation of a new line at the mark; -1 stands for no edit.
func TestIndent(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]int{
		"resources:\n¦":         2,
		"resources:\n  pet:\n¦": 4,
		"resources:\n  pet:\n    type: random:RandomPet\n¦": 4,
		"outputs:\n  o:\n    - a\n¦":                        4,
		"outputs:\n  o:\n    - a: 1\n¦":                     6,
		"outputs:\n  o:\n    - a:\n¦":                       8,
		"outputs:\n  o: |\n    text:\n¦\n    more\n":        -1,
		"# a comment:\n¦":                                   -1,
		"outputs:\n  ¦":                                     -1,
		"¦":                                                 -1,
	} {
		text, i, _ := marked(t, before)
		edits := editor.Indent(snapshotOf(text), file, i)
		if want < 0 {
			require.Empty(t, edits, before)
			continue
		}
		require.Len(t, edits, 1, before)
		require.Equal(t, strings.Repeat(" ", want), edits[0].Text, before)
	}
}
