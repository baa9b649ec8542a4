package diag

import (
	"bytes"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rangeOf returns the first range of the source with that text.
func rangeOf(s *Source, text string) Range {
	i := bytes.Index(s.Text(), []byte(text))
	return NewRange(s, i, i+len(text))
}

func renderSamples() Diagnostics {
	program := NewSource("Pulumi.yaml", []byte(`name: demo
runtime: yaml
resources:
  pet:
    type: random:RandomPet
    properties:
      lenght: 3
`+"\tbad:\tx: y\n"+`  名前: "値段は" # é
  block:
    type: command:local:Command
    properties:
      create: |
        one
        two
        three
        four
        five
  pet:
    type: x
`+"  long: "+strings.Repeat("a", 150)+"HERE"+strings.Repeat("b", 150)+"\n"))
	other := NewSource("lib/other.yaml", []byte("shared: 1\n"))
	fifth := rangeOf(program, "  block:")
	return Diagnostics{
		{Severity: Error, Code: UnknownProperty, Summary: "unknown property lenght; did you mean length?",
			Detail:  "random:RandomPet takes keepers, length, prefix and separator",
			Subject: rangeOf(program, "lenght"),
			Fixes:   []Fix{{Label: "rename to length", Edits: []Edit{{rangeOf(program, "lenght"), "length"}}}}},
		{Severity: Warning, Code: Capitalisation, Summary: "tab here", Subject: rangeOf(program, "x: y")},
		{Severity: Info, Summary: "wide characters", Subject: rangeOf(program, `"値段は"`)},
		{Severity: Error, Code: NotAssignable, Summary: "a block over many lines",
			Subject: NewRange(program, int(fifth.Start)+2, bytes.Index(program.Text(), []byte("  pet:\n    type: x")))},
		{Severity: Error, Code: Duplicate, Summary: "pet is declared twice", Detail: "one\ntwo\nthree\nfour is not shown",
			Subject: NewRange(program, bytes.LastIndex(program.Text(), []byte("pet:")),
				bytes.LastIndex(program.Text(), []byte("pet:"))+3),
			Related: []Related{
				{Range: rangeOf(program, "pet"), Message: "first declared here"},
				{Range: rangeOf(other, "shared"), Message: "and used here"},
				{Message: "a word without a place"},
			}},
		{Severity: Hint, Code: Ignored, Summary: "in a long line", Subject: rangeOf(program, "HERE")},
		{Severity: Portability, Code: YamlhostOnly, Summary: "nothing at the end",
			Subject: NewRange(program, len(program.Text()), len(program.Text()))},
		{Severity: Error, Code: NoProgram, Summary: "no program file in demo\x1b[31m\nsecond line",
			Detail: "100% : sure, yes"},
	}
}

func TestRenderGoldens(t *testing.T) {
	t.Parallel()
	for name, render := range map[string]func(*bytes.Buffer) error{
		"text":   func(b *bytes.Buffer) error { return WriteText(b, renderSamples(), TextOptions{Width: 80}) },
		"color":  func(b *bytes.Buffer) error { return WriteText(b, renderSamples(), TextOptions{Width: 80, Color: true}) },
		"json":   func(b *bytes.Buffer) error { return WriteJSON(b, renderSamples()) },
		"github": func(b *bytes.Buffer) error { return WriteGitHub(b, renderSamples()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			require.NoError(t, render(&got))
			testfile.Golden(t, *update, filepath.Join("testdata", "render."+name+".golden"), got.String())
		})
	}
}

func TestRenderUnderlinesWhatItPointsAt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, mark string }{
		{"plain", "key: value", "value"},
		{"behind tabs", "\tkey:\tvalue", "value"},
		{"behind wide characters", "名前: value", "value"},
		{"behind combining characters", "e\u0301te\u0301: value", "value"},
		{"in a long line", strings.Repeat("x", 500) + " value " + strings.Repeat("y", 500), "value"},
		{"at the end of a long line", strings.Repeat("x", 500) + " value", "value"},
		{"behind long wide text", strings.Repeat("値", 300) + " value", "value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := NewSource("f", []byte(c.line))
			var got bytes.Buffer
			require.NoError(t, WriteText(&got, Diagnostics{{Summary: "s", Subject: rangeOf(s, c.mark)}}, TextOptions{Width: 60}))
			lines := strings.Split(got.String(), "\n")
			shown, under := layout([]byte(lines[2])), lines[3]
			require.LessOrEqual(t, shown.width, 60)
			require.Equal(t, shown.column(strings.Index(lines[2], c.mark)), strings.Index(under, "^"))
			require.Equal(t, len(c.mark), strings.Count(under, "^"))
		})
	}
}

func FuzzRender(f *testing.F) {
	f.Add([]byte("a: b\nc: \xff\n"), 3, 9)
	f.Add([]byte("\t\u202e値"), 0, 100)
	f.Fuzz(func(t *testing.T, text []byte, start, end int) {
		s := NewSource("f", text)
		r := Range{Source: s, Start: int32(start), End: int32(end)}
		ds := Diagnostics{{Summary: "s", Subject: r, Related: []Related{{Range: r, Message: "m"}}}}
		var b bytes.Buffer
		require.NoError(t, WriteText(&b, ds, TextOptions{Width: 40}))
		require.NotContains(t, b.String(), "\x1b")
		require.NoError(t, WriteJSON(&b, ds))
		require.NoError(t, WriteGitHub(&b, ds))
	})
}

// A text shows at most 100 findings of each file, all errors among them if there are no more, and counts the others.
func TestTextShowsTheFirstFindings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var ds Diagnostics
		errors, all := map[string]int{}, map[string]int{}
		for f := range rapid.IntRange(1, 3).Draw(t, "files") {
			source := NewSource(fmt.Sprintf("f%d.yaml", f), bytes.Repeat([]byte("x\n"), 400))
			for i := range rapid.IntRange(0, 300).Draw(t, "findings") {
				d := Diagnostic{Severity: Warning, Code: Syntax, Subject: NewRange(source, 2*i, 2*i+1), Summary: "warned"}
				if rapid.IntRange(0, 3).Draw(t, "error") == 0 {
					d.Severity, d.Summary = Error, "failed"
					errors[source.Name()]++
				}
				all[source.Name()]++
				ds.Add(d)
			}
		}
		var out bytes.Buffer
		require.NoError(t, WriteText(&out, ds, TextOptions{}))
		for name, n := range all {
			shown := regexp.MustCompile(`(?m)^`+name+`:\d+:`).FindAllString(out.String(), -1)
			require.Len(t, shown, min(n, 100))
			failed := regexp.MustCompile(`(?m)^`+name+`:\d+:\d+: error`).FindAllString(out.String(), -1)
			require.Len(t, failed, min(errors[name], 100))
			if n > 100 {
				require.Contains(t, out.String(), fmt.Sprintf("%s: and %s\n", name, Count(n-100, "more finding")))
			}
		}
		require.NotContains(t, out.String(), "\n\n\n")
	})
}
