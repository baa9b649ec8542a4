package eval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
)

// TestYAMLThereAndBack parses the output of fn::toYAML, for values of every kind and texts that look like other kinds.
func TestYAMLThereAndBack(t *testing.T) {
	t.Parallel()
	odd := []string{"", " ", "a", "yes", "No", "~", "null", "1", "1e3", "0x1F", "1_000", "12:30:45", "2020-01-01", ".inf",
		"- a", "a: b", "a #b",
		"#c", "a\nb", "a\nb\n", "\na", " a\nb", "a\n b\n", "a\n\n\nb", "a\n\n", "a\tb", "\ta\nb", "a \nb", "é\nü",
		"\u2028\nx", "\u0085\nx", "\ufeff\nx",
		"\x00", "'", `"`, `\`, `\u003c`, "<&>", "{", "[", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "a,b", "a]", "=",
		"<<", "---\na", "...\na", "? a", "a\r\nb",
		"a\n# b\n", "a\n- b", "a:\n  b", "\U0001F600\nx", "true\nfalse", "x\n   \ny", "/etc/x", "a.b-c_d/e", "on", "NaN",
		"Infinity", "0", "-1", "+1", "1.", "a'b"}
	texts := rapid.OneOf(rapid.SampledFrom(odd), rapid.String())
	var values func(depth int) *rapid.Generator[value.Value]
	values = func(depth int) *rapid.Generator[value.Value] {
		scalars := rapid.OneOf(
			rapid.Map(texts, value.String), rapid.Map(texts, value.String), rapid.Just(value.Null),
			rapid.Map(rapid.Bool(), value.Bool),
			rapid.Map(rapid.Float64Range(-1e18, 1e18), value.Number), rapid.Map(rapid.IntRange(-1000, 1000), value.Int))
		if depth == 0 {
			return scalars
		}
		inner := values(depth - 1)
		return rapid.OneOf(scalars,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(items []value.Value) value.Value { return value.List(items...) }),
			rapid.Map(rapid.MapOfN(texts, inner, 0, 4), value.Map))
	}
	write, _ := builtins.Lookup("toYAML")
	all := values(4)
	rapid.Check(t, func(rt *rapid.T) {
		v := all.Draw(rt, "value")
		written, err := builtins.Apply(context.Background(), plainWorld{}, write, []value.Value{v})
		require.NoError(rt, err)
		text, _ := written.AsString()
		data, findings := parser.Data(diag.NewSource("text", []byte(text)))
		require.False(rt, findings.HasErrors(), "%s\n%q", describe(findings), text)
		require.True(rt, value.SameContent(v, plain(data)), "%s\nbecame\n%s\nby\n%s\n%q", v, plain(data), text, text)
	})
}
