package builtins

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/schema"
)

func TestEveryBodyHasARecord(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for _, f := range Table() {
		require.False(t, known[f.Name], "%s has two records", f.Name)
		known[f.Name] = true
	}
	for _, names := range []map[string]bool{set(evals), set(lazies), set(results), set(growth)} {
		for name := range names {
			require.True(t, known[name], "%s has a body but no record in functions.txt", name)
		}
	}
}

func set[V any](m map[string]V) map[string]bool {
	names := make(map[string]bool)
	for name := range m {
		names[name] = true
	}
	return names
}

func TestRecordsAreRead(t *testing.T) {
	t.Parallel()
	themes := readRecords("// a comment\n# A\n\nf: Does it.\naliases: g h\n- a string path: the first\n- b? map<any>|bool literal: : the second\n" +
		"- c... list<number|bool>? marked: the rest\nargument: list\nresult: string\nexample: fn::f: [a]\nsince: 0.1.0 portable\n")
	require.Len(t, themes, 1)
	f := themes[0].Funcs[0]
	require.Equal(t, "f(a: string, b?: map<any> or bool, c...: list<number or bool>?) string", f.Signature())
	require.Equal(t, []Param{
		{Name: "a", Type: schema.String, Path: true, Doc: "the first"},
		{Name: "b", Type: f.Params[1].Type, Optional: true, Literal: true, Doc: ": the second"},
		{Name: "c", Type: f.Params[2].Type, Marked: true, Doc: "the rest"},
	}, f.Params)
	require.Equal(t, []string{"g", "h"}, f.Aliases)
	require.Equal(t, "fn::f: [a]", f.Example)
	require.True(t, f.Portable && f.Variadic && f.Shape == Positional && f.Since == "0.1.0")

	for _, wrong := range []string{"f: no theme", "# A\n\nf: Does it.\nanything: else", "# A\n\nf: Does it.\n- a: no type",
		"# A\n\nf: Does it.\nresult: text", "# A\n\nf: Does it.\nno key", "# A\n\nf: Does it.\nargument: set"} {
		require.Panics(t, func() { readRecords(wrong) }, wrong)
	}
}
