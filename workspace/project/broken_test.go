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

// TestDamagedFiles changes, removes and adds characters in files of each kind. A reader must find faults of the syntax in
// the texts in which the parser of programs finds some, and in no others, each at a place.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	readers := []struct {
		name, text string
		read       func(src *diag.Source) diag.Diagnostics
	}{
		{"Pulumi.yaml", "name: shop\nruntime:\n  name: yaml\n  options: {compiler: 'cue export'}\nconfig:\n" +
			"  size: {type: integer, default: 3}\n  aws:region: us-west-2\npackages:\n  random: random@1.2.3\n  own:\n" +
			"    source: ./own\n    parameters: [a, \"b c\"]\n# done\n", func(src *diag.Source) diag.Diagnostics {
			_, found := Parse(src)
			return found
		}},
		{"Pulumi.dev.yaml", "encryptionsalt: v1:a:b\nconfig:\n  shop:size: 3\n  shop:list:\n    - a\n    - {secure: v1:x:y}\n" +
			"  shop:text: |\n    two\n    lines\nenvironment: [base]\n", func(src *diag.Source) diag.Diagnostics {
			_, found := ParseSettings(src, "shop")
			return found
		}},
		{"random.yaml", "packageDeclarationVersion: 1\nname: random\nversion: 1.2.3\ndownloadUrl: \"https://a.b/c\"\n" +
			"parameterization:\n  name: own\n  version: 2.0.0\n  value: eyJhIjoxfQ==\n", func(src *diag.Source) diag.Diagnostics {
			_, declares, found := ParsePackageFile(src)
			if !declares { // as any other file of the folder may be; then the parser reads it, if anything does
				_, found = parser.Parse(src, parser.Options{})
			}
			return found
		}},
		{"template", "name: shop\ntemplate:\n  description: a shop\n  config:\n    size: {description: 'how many', default: 3}\n",
			func(src *diag.Source) diag.Diagnostics {
				_, found := ReadTemplate(src)
				return found
			}},
	}
	marks := rapid.SampledFrom([]string{"", "\"", "'", "{", "}", "[", "]", ":", ": ", ",", "\t", "\n", " ", "- ", "*x", "&x", "|",
		"#", "@", "%", "!", "\x00", "\xff", "é"})
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(readers).Draw(t, "file")
		text := r.text
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			end := min(len(text), at+rapid.IntRange(0, 2).Draw(t, "removed"))
			text = text[:at] + marks.Draw(t, "added") + text[end:]
		}
		src := diag.NewSource(r.name, []byte(text))
		_, told := parser.Parse(src, parser.Options{})
		broken := func(d diag.Diagnostic) bool {
			return d.Severity == diag.Error && (d.Code == diag.Syntax || d.Code == diag.RunawayInput)
		}
		found := r.read(src)
		require.Equal(t, slices.ContainsFunc(told, broken), slices.ContainsFunc(found, broken), "%q\n%v\n%v", text, told, found)
		for _, d := range found {
			if broken(d) {
				require.False(t, d.Subject.IsZero(), "%q", text)
			}
		}
	})
}
