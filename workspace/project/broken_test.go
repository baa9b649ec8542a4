package project

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// TestBrokenLine inserts a line with a syntax error between the entries of a project file. The other entries must be
// read as without it, and the file must have the one finding that the parser of programs has about that line.
func TestBrokenLine(t *testing.T) {
	t.Parallel()
	entries := []string{"name: shop\n", "runtime: yaml\n", "main: program\n", "crds: [a.yaml, b.yaml]\n",
		"description: a shop\n", "packages:\n  random: random@1.2.3\n", "options:\n  refresh: always\n"}
	broken := []string{"website: \"open\n", "author: [a, b\n", "license: a: b\n", "tagged: @x\n"}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.Permutation(entries).Draw(t, "entries")
		whole, diags := Parse(diag.NewSource("Pulumi.yaml", []byte(strings.Join(lines, ""))))
		require.Empty(t, diags)
		fault := rapid.SampledFrom(broken).Draw(t, "broken")
		lines = slices.Insert(slices.Clone(lines), rapid.IntRange(0, len(lines)).Draw(t, "at"), fault)
		src := diag.NewSource("Pulumi.yaml", []byte(strings.Join(lines, "")))
		p, diags := Parse(src)
		require.Len(t, diags, 1, "%s", src.Text())
		require.Equal(t, diag.Syntax, diags[0].Code)
		_, told := parser.Parse(src, parser.Options{})
		require.Equal(t, diag.Diagnostics{diags[0]}, slices.DeleteFunc(told, func(d diag.Diagnostic) bool {
			return d.Code != diag.Syntax
		}), "%s", src.Text())
		got, want := []any{p.Name.Text, p.Runtime, p.Main.Text, len(p.CRDs), p.Description, p.RefreshAlways},
			[]any{whole.Name.Text, whole.Runtime, whole.Main.Text, len(whole.CRDs), whole.Description, whole.RefreshAlways}
		require.Equal(t, want, got, "%s", src.Text())
		require.Len(t, p.Packages, 1)
		require.Equal(t, whole.Packages[0].Source, p.Packages[0].Source)
	})
}

// TestBrokenSettings breaks a line of a stack's settings. The values in the other lines must be read, and the settings
// must not be written, since they are not all that the file says.
func TestBrokenSettings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{"  shop:a: one\n", "  shop:b: {c: [1, 2]}\n", "  shop:d: {secure: v1:x:y}\n"}
		fault := rapid.SampledFrom([]string{"  shop:e: \"open\n", "  shop:e: [a, b\n", "  shop:e: a: b\n"}).Draw(t, "fault")
		lines = slices.Insert(lines, rapid.IntRange(0, len(lines)).Draw(t, "at"), fault)
		s, diags := ParseSettings(diag.NewSource("Pulumi.dev.yaml", []byte("config:\n"+strings.Join(lines, ""))), "shop")
		require.Len(t, diags, 1)
		require.Equal(t, diag.Syntax, diags[0].Code)
		for name, text := range map[string]string{"a": "one", "b": `{"c":[1,2]}`, "d": "v1:x:y"} {
			e := s.Entry(Key{"shop", name})
			require.NotNil(t, e, "%s in %q", name, lines)
			require.Equal(t, text, TextOf(e.Data()))
		}
		_, err := s.Text()
		require.ErrorContains(t, err, "syntax errors")
	})
}
