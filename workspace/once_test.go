package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Where a project file is the program too, its reader leaves faults of what the language defines to the parser and the
// checker: they find a fault in the same line as each that it leaves out.
func TestFaultsOfConfigurationAreFoundOnce(t *testing.T) {
	t.Parallel()
	key := rapid.SampledFrom([]string{"size", "p:size", "other:size", "a:b:c", "'': 1, b", "5", "[x]", "size: 1\n  size"})
	value := rapid.SampledFrom([]string{"", "x", "5", "12345678901234567890", "1.5", "[1, x]", "[]", "{}", "{a: 1}", "true",
		"!!int x", "\"unclosed", "{", "[1", "*no", "2026-01-01", ".inf", "${size}", "fn::toJSON: 1", "{fn::toJSON: 1}", "null"})
	field := rapid.Custom(func(t *rapid.T) string {
		name := rapid.SampledFrom([]string{"type", "items", "default", "value", "secret", "optional", "name", "description", "typ",
			"other"}).Draw(t, "name")
		if name == "type" && rapid.Bool().Draw(t, "known") {
			return "type: " + rapid.SampledFrom([]string{"string", "strin", "integer", "int", "number", "boolean", "array", "object",
				"list<string>", "list<strin>", "List<Number>", "any", "String"}).Draw(t, "type")
		}
		if name == "items" && rapid.Bool().Draw(t, "item") {
			return "items: {type: string}"
		}
		return name + ": " + value.Draw(t, "value")
	})
	rapid.Check(t, func(t *rapid.T) {
		text := "name: p\nruntime: yaml\ndescription: " + value.Draw(t, "description") + "\nconfig:\n"
		for range rapid.IntRange(1, 3).Draw(t, "keys") {
			text += "  " + key.Draw(t, "key") + ": "
			if rapid.Bool().Draw(t, "bare") {
				text += value.Draw(t, "bare value") + "\n"
				continue
			}
			text += "\n"
			fields := rapid.SliceOfNDistinct(field, 1, 4, func(f string) string { name, _, _ := strings.Cut(f, ":"); return name })
			for _, f := range fields.Draw(t, "fields") {
				text += "    " + f + "\n"
			}
		}
		src := diag.NewSource("Pulumi.yaml", []byte(text+"outputs: {a: 1}\n"))
		p, _ := project.Parse(src)
		file, found := parser.Parse(src, parser.Options{})
		_, checked := check.Check(t.Context(), file, check.Options{Project: "p"})
		found.Add(checked...)
		for _, d := range p.Shared {
			line := func(d diag.Diagnostic) int { return d.Subject.StartPosition().Line }
			if !slices.ContainsFunc(found, func(o diag.Diagnostic) bool {
				return line(o) == line(d) && o.Severity <= d.Severity || d.Code == diag.Syntax && o.Code == diag.Syntax
			}) {
				var b strings.Builder
				require.NoError(t, diag.WriteText(&b, found, diag.TextOptions{}))
				t.Fatalf("only the reader of projects finds %s at line %d: %s\n%s\n%s", d.Code, line(d), d.Summary, text, b.String())
			}
		}
	})
}
