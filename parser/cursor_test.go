package parser

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// TestCursorNear compares the cursor context derived from the nearby text with that of the whole text, at positions all
// over whole and truncated programs.
func TestCursorNear(t *testing.T) {
	t.Parallel()
	near := 0
	for name, text := range programs(t) {
		if len(text) > 3000 {
			continue
		}
		for _, end := range []int{len(text), len(text) / 2, len(text) / 3} {
			document := NewDocument(diag.NewSource("x", text[:end]))
			for i := 0; i <= end; i += 1 + i%3 {
				part, shift := document.Near(i)
				if shift != 0 || len(part) < end {
					near++
				}
				got := Cursor(part, i-shift)
				got.Start, got.End = got.Start+shift, got.End+shift
				require.Equal(t, Cursor(text[:end], i), got, "%s at %d of %d", name, i, end)
			}
		}
	}
	require.Greater(t, near, 10_000)
}

// TestCursor checks the context of the position marked | in unfinished texts.
func TestCursor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		kind  CursorKind
		path  string
		typed string
		steps string
	}{
		"top":                  {"res|", KeyCursor, "", "res", ""},
		"top below":            {"name: a\nout|\nvariables:\n  a: b\n", KeyCursor, "", "out", ""},
		"entry":                {"resources:\n  a|", KeyCursor, "resources", "a", ""},
		"field":                {"resources:\n  a:\n    ty|\n", KeyCursor, "resources.a", "ty", ""},
		"empty line":           {"resources:\n  a:\n    type: x\n    |\n  b:\n", KeyCursor, "resources.a", "", ""},
		"empty line, deeper":   {"resources:\n  a:\n    properties:\n      |\n", KeyCursor, "resources.a.properties", "", ""},
		"value":                {"resources:\n  a:\n    type: rand|", ValueCursor, "resources.a.type", "rand", ""},
		"quoted value":         {"resources:\n  a:\n    type: \"rand|", ValueCursor, "resources.a.type", "rand", ""},
		"item":                 {"a:\n  - b\n  - c|", KeyCursor, "a.[]", "c", ""},
		"item, not indented":   {"a:\n- b\n- c|", KeyCursor, "a.[]", "c", ""},
		"map in a list":        {"a:\n  - b: 1\n    c|", KeyCursor, "a.[]", "c", ""},
		"value in a list":      {"a:\n  - b: 1\n    c: d|", ValueCursor, "a.[].c", "d", ""},
		"below a key of items": {"a:\n  - b:\n      c|", KeyCursor, "a.[].b", "c", ""},
		"first key of an item": {"a:\n  - b|", KeyCursor, "a.[]", "b", ""},
		"comments between":     {"a:\n# x\n\n  b:\n  # y\n    c|", KeyCursor, "a.b", "c", ""},
		"flow key":             {"a: {b: 1, c|", KeyCursor, "a", "c", ""},
		"flow value":           {"a: {b: 1, c: d|}", ValueCursor, "a.c", "d", ""},
		"flow list":            {"a:\n  b: [c, d|", KeyCursor, "a.b.[]", "d", ""},
		"flow inside":          {"a: {b: [{c: d|", ValueCursor, "a.b.[].c", "d", ""},
		"flow on lines":        {"a: {\n  b: {\n    c: d|\n", ValueCursor, "a.b.c", "d", ""},
		"flow closed":          {"a: {b: c}\nd|", KeyCursor, "", "d", ""},
		"name":                 {"a: ${b|", NameCursor, "a", "b", ""},
		"no name yet":          {"a: \"x ${|", NameCursor, "a", "", ""},
		"step":                 {"a: ${b.c|}", NameCursor, "a", "c", "b"},
		"empty step":           {"a: ${b.c[0].|", NameCursor, "a", "", "b.c.[0]"},
		"second":               {"a: \"${b} ${c.d|\"", NameCursor, "a", "d", "c"},
		"closed":               {"a: ${b}|", ValueCursor, "a", "${b}", ""},
		"escaped":              {"a: $${b|", ValueCursor, "a", "$${b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after, _ := strings.Cut(c.text, "|")
			got := Cursor([]byte(before+after), len(before))
			require.Equal(t, c.kind, got.Kind)
			require.Equal(t, c.path, strings.Join(got.Path, "."))
			require.Equal(t, c.typed, got.Typed)
			require.Equal(t, c.steps, strings.Join(got.Steps, "."))
		})
	}
	got := Cursor([]byte("a: ${join(\"-\", [b, c], d"), 24)
	require.Equal(t, "join", got.Function)
	require.Equal(t, 2, got.Argument)
}

// TestCursorInBrackets opens random brackets, some of which are closed again, and compares the path of the end.
func TestCursorInBrackets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, path := "a: [", []string{"a", "[]"}
		for i := range rapid.IntRange(0, 40).Draw(t, "brackets") {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				text += "["
				path = append(path, "[]")
			case 1:
				text += fmt.Sprintf("{k%d: ", i)
				path = append(path, fmt.Sprint("k", i))
			default:
				text += "[{x: [1]}, "
				path = append(path, "[]")
			}
		}
		require.Equal(t, path, Cursor([]byte(text), len(text)).Path, text)
	})
}

// A text of brackets takes memory in proportion to its length. The test is not parallel: it measures what is allocated.
func TestDeepCursor(t *testing.T) {
	text := []byte("a: " + strings.Repeat("[", 100_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.Len(t, Cursor(text, len(text)).Path, 100_001)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
}
