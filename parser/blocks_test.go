package parser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

func errorsAt(diags diag.Diagnostics) (places []string) {
	for _, d := range diags.Sorted() {
		if d.Severity == diag.Error {
			pos := d.Subject.StartPosition()
			places = append(places, fmt.Sprintf("%d:%d %s", pos.Line, pos.Column, d.Code))
		}
	}
	return places
}

func resourcesOf(n int) []string {
	lines := []string{"resources:"}
	for i := range n {
		lines = append(lines, fmt.Sprintf("  r%d:", i), "    type: zoo:Echo", "    properties:", "      value: x",
			"      other: ${r0.value}")
	}
	return append(lines, "outputs:", "  last: ${r1.value}")
}

// TestFaultStaysInItsBlock breaks one line of a long program. All other entries and sections must be read.
func TestFaultStaysInItsBlock(t *testing.T) {
	t.Parallel()
	const resources = 1000
	for name, c := range map[string]struct {
		line int // 0-based
		text string
		kept int
	}{
		"one column too little":   {line: 2503, text: "   properties:", kept: resources - 1},
		"indented like nothing":   {line: 2504, text: " value: x", kept: resources - 1},
		"at the beginning":        {line: 2504, text: "value: x", kept: resources - 1},
		"a section's beginning":   {line: 2503, text: "properties:", kept: resources - 1},
		"a word at the beginning": {line: 2504, text: "valu", kept: resources - 1},
		"a quote":                 {line: 2504, text: `      value: "x`, kept: resources},
		"a bracket":               {line: 2504, text: "      value: [x", kept: resources},
		"a key without its colon": {line: 2501, text: "  r500", kept: resources},
		"half a key":              {line: 2501, text: "  r5: r6: r7:", kept: resources - 1},
		"a tab":                   {line: 2504, text: "\tvalue: x", kept: resources},
		"conflict":                {line: 2504, text: "<<<<<<< HEAD", kept: resources - 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := resourcesOf(resources)
			lines[c.line] = c.text
			src := diag.NewSource("x", []byte(strings.Join(lines, "\n")))
			file, diags := Parse(src, Options{})
			require.GreaterOrEqual(t, len(file.Resources), c.kept)
			require.Len(t, file.Outputs, 1)
			require.NotEmpty(t, errorsAt(diags))
			for _, d := range diags {
				i := d.Subject.StartPosition().Line
				require.True(t, 2501 < i && i <= 2507, "%d: %s", i, d.Summary)
			}
		})
	}
}

// TestEachBrokenEntryIsFound breaks many entries, including neighbours. Each must be reported.
func TestEachBrokenEntryIsFound(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 20, 21, 100} {
		var text strings.Builder
		var wants []string
		text.WriteString("variables:\n")
		for i := range n {
			fmt.Fprintf(&text, "  v%d: {prefix: ${pulumi.stack}}\n", i)
			wants = append(wants, fmt.Sprintf("%d:%d Y101", i+2, len(fmt.Sprintf("  v%d: {prefix: ", i))+1))
		}
		file, diags := Parse(diag.NewSource("x", []byte(text.String())), Options{})
		require.Equal(t, wants, errorsAt(diags))
		require.Len(t, file.Variables, n)
	}
	_, diags := Parse(diag.NewSource("x",
		[]byte("resources:\n  r:\n    type: a:B\n    properties:\n      a: {b: ${c}}\n      d: {e: ${f}}\n      g: h\n")),
		Options{})
	require.Equal(t, []string{"5:14 Y101", "6:14 Y101"}, errorsAt(diags), "neighbours in one resource")
	_, diags = Parse(diag.NewSource("x", []byte("variables:\n  a: b: c\n  d: e: f\n  g: @h\n")), Options{})
	require.Equal(t, []string{"2:7 Y101", "3:7 Y101", "4:6 Y101"}, errorsAt(diags))
}
