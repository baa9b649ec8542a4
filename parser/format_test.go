package parser

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/parser/ast/asttest"
)

// TestFormat checks what formatting changes and what it leaves unchanged.
func TestFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, wants string }{
		"indentation": {"resources:\n    a:\n        type:   b:C   \n        properties:\n            x: 1\n",
			"resources:\n  a:\n    type: b:C\n    properties:\n      x: 1\n"},
		"lists":         {"a:\n- b\n-   c: 1\n    d: 2\n", "a:\n  - b\n  - c: 1\n    d: 2\n"},
		"comments":      {"# top\na:\n    # inside\n    b: 1   # behind\n", "# top\na:\n  # inside\n  b: 1   # behind\n"},
		"end of a list": {"a:\n    - b\n    # - c\nd: 1\n", "a:\n  - b\n  # - c\nd: 1\n"},
		"end of a list below its key": {"a:\n  b:\n  - c\n  # - d\n#e\nf:\n- 1\n# end\n",
			"a:\n  b:\n    - c\n    # - d\n#e\nf:\n  - 1\n# end\n"},
		"all of a block": {"a:\n    # b: 1\nc: 1\n    # of c\nd: 1\n", "a:\n  # b: 1\nc: 1\n  # of c\nd: 1\n"},
		"empty lines":    {"\n\na: 1\n\n\n\nb: 2\n\n", "a: 1\n\nb: 2\n"},
		"no end":         {"a: 1", "a: 1\n"},
		"literal": {"a:\n    b: |\n        x  \n\n\n          y\n    c: 1\n",
			"a:\n  b: |\n      x  \n\n\n        y\n  c: 1\n"},
		"quotes":       {"a:\n    b: \"x\n      y\"\n", "a:\n  b: \"x\n    y\"\n"},
		"brackets":     {"a:\n    b: {\n      c: 1,\n    }\n", "a:\n  b: {\n    c: 1,\n  }\n"},
		"Windows":      {"a:\r\n    b: 1  \r\n", "a:\r\n  b: 1\r\n"},
		"JSON":         {"{\"a\":   1}\n", "{\"a\":   1}\n"},
		"value below":  {"a:\n      b\n", "a:\n  b\n"},
		"lists inside": {"a:\n    -   - 1\n        - 2\n", "a:\n  - - 1\n    - 2\n"},
		"broken":       {"a:   [1\nb:   2\n", "a:   [1\nb:   2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := Format(diag.NewSource("x", []byte(c.text)))
			require.Equal(t, c.wants, string(got))
			require.Equal(t, name == "broken", diags.HasErrors())
		})
	}
}

// commented is a generated map or list, with comments before its entries and at its end.
type commented struct {
	list    bool
	entries []*commented // nil for a scalar
	before  [][]string
	end     []string
}

func drawBlock(t *rapid.T, depth int) *commented {
	b := &commented{list: depth > 0 && rapid.Bool().Draw(t, "list")}
	n := rapid.IntRange(1, 3).Draw(t, "entries")
	comments := func() []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"# x", "# - a: 1", "#"}), 0, 2).Draw(t, "comments")
	}
	for range n {
		var inner *commented
		if depth < 4 && rapid.IntRange(0, 2).Draw(t, "nested") > 0 {
			inner = drawBlock(t, depth+1)
		}
		b.entries, b.before = append(b.entries, inner), append(b.before, comments())
	}
	b.end = comments()
	return b
}

// write writes a block in a column; step returns by how many columns the next block is further right.
func (b *commented) write(w *bytes.Buffer, column int, step func() int) {
	indent := func() { w.WriteString(strings.Repeat(" ", column)) }
	for i, inner := range b.entries {
		for _, comment := range b.before[i] {
			indent()
			w.WriteString(comment + "\n")
		}
		indent()
		mark := "k" + strconv.Itoa(i) + ":"
		if b.list {
			mark = "-"
		}
		switch {
		case inner == nil:
			w.WriteString(mark + " v\n")
		case b.list && len(inner.before[0]) == 0 && !inner.list: // begins behind the dash
			further := step()
			w.WriteString(mark + strings.Repeat(" ", further-1))
			var text bytes.Buffer
			inner.write(&text, column+further, step)
			w.Write(bytes.TrimLeft(text.Bytes(), " "))
		default:
			w.WriteString(mark + "\n")
			inner.write(w, column+step(), step)
		}
	}
	for _, comment := range b.end {
		indent()
		w.WriteString(comment + "\n")
	}
}

// TestFormatKeepsCommentsInPlace writes random blocks with random indentation: formatted, they are the same blocks with
// two columns for each level, and every comment is in its block.
func TestFormatKeepsCommentsInPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := drawBlock(t, 0)
		var given, want bytes.Buffer
		b.write(&given, 0, func() int { return rapid.IntRange(2, 5).Draw(t, "step") })
		b.write(&want, 0, func() int { return 2 })
		got, diags := Format(diag.NewSource("x", given.Bytes()))
		require.Empty(t, diags)
		require.Equal(t, want.String(), string(got), "of\n%s", given.String())
	})
}

// TestFormatKeepsTheTree formats every program of the archives, unchanged and after random edits. The tree must not
// change, and formatting again must change nothing.
func TestFormatKeepsTheTree(t *testing.T) {
	t.Parallel()
	try := func(name string, text []byte) bool {
		formatted, diags := Format(diag.NewSource("x", text))
		if diags.HasErrors() {
			require.Equal(t, string(text), string(formatted), name)
			return false
		}
		again, _ := Format(diag.NewSource("x", formatted))
		require.Equal(t, string(formatted), string(again), name)
		options := Options{Plugin: pluginText(name)}
		before, _ := Parse(diag.NewSource("x", text), options)
		after, _ := Parse(diag.NewSource("x", formatted), options)
		require.Equal(t, withoutPlaces(t, before), withoutPlaces(t, after), "%s:\n%s", name, text)
		return true
	}
	all := programs(t)
	each := *edits
	if *formatted > 0 {
		each = *formatted/len(all) + 1
	}
	sound := 0
	for name, text := range all {
		try(name, text)
		random := rand.New(rand.NewPCG(uint64(len(text)), *seed))
		for n := range each {
			e := edit(random, text)
			edited := slices.Concat(text[:e.Start], []byte(e.Text), text[min(e.End, len(text)):])
			if n%3 == 0 { // two edits
				e = edit(random, edited)
				edited = slices.Concat(edited[:e.Start], []byte(e.Text), edited[min(e.End, len(edited)):])
			}
			if try(name, edited) {
				sound++
			}
		}
	}
	t.Logf("%d programs, of which %d are formatted", each*len(all), sound)
	require.NotZero(t, sound)
}

var formatted = flag.Int("programs", 0, "how many programs to format; 0 for a few edits of each that there is")

var placeInDump = regexp.MustCompile(` @\d+:\d+-\d+:\d+|\(\d+:\d+-\d+:\d+\)`)

// withoutPlaces returns a dump of a tree without positions.
func withoutPlaces(t *testing.T, file *ast.File) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, asttest.Dump(&b, file))
	return placeInDump.ReplaceAllString(b.String(), "")
}
