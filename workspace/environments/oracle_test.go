//go:build !lean

package environments

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/esc"
	"github.com/pulumi/esc/eval"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// scalars are values as environments have them: numbers in each spelling that YAML and JSON share, texts that look like
// something else, and null.
var scalars = []string{"plain", "''", "'1.20'", `"a\nb"`, `"it's \"q\""`, "é", "'null'", "'$${a}'", "null", "~", "true",
	"False", "0", "-7", "007", "1.5", "1.20", "1e3", "1e21", "-0.0", "1e-7", "0x1F", "9007199254740992",
	"9007199254740993", "-9007199254740993", "9223372036854775807", "{fn::secret: pw}"}

// expressions generates expressions of an environment, which may refer to the names above them.
func expressions(names []string, depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		inner := func(label string) string { return expressions(names, depth-1).Draw(t, label) }
		text := func() string {
			if rapid.IntRange(0, 39).Draw(t, "odd") == 0 {
				return rapid.SampledFrom([]string{"a.k", "l.k", "l[7]", "nowhere", "imports.e1", "imports.e2.m"}).Draw(t, "name")
			}
			return rapid.SampledFrom(append(slices.Clone(names), "m.k", `m["other"]`, "m.other.k", "l[0]", "l[1].k",
				"context.rootEnvironment.name", "context.currentEnvironment.name")).Draw(t, "name")
		}
		kind := rapid.IntRange(0, 13).Draw(t, "kind")
		if depth == 0 {
			kind = min(kind, 3)
		}
		switch kind {
		case 0, 1:
			return rapid.SampledFrom(scalars).Draw(t, "scalar")
		case 2:
			return "'${" + text() + "}'"
		case 3:
			return "'x-${" + text() + "}'"
		case 4:
			return "[" + inner("first") + ", " + inner("second") + "]"
		case 5, 6:
			return "{k: " + inner("k") + ", " + rapid.SampledFrom([]string{"k2", "'a b'", "'1'"}).Draw(t, "key") + ": " + inner("other") + "}"
		case 7:
			return "{fn::toJSON: " + inner("value") + "}"
		case 8:
			return "{fn::fromJSON: {fn::toJSON: " + inner("value") + "}}"
		case 9:
			return `{fn::fromJSON: '{"k": 1.20, "big": 9007199254740993, "none": null, "e": 1E2, "list": [true]}'}`
		case 10:
			return "{fn::join: [',', ['a', {fn::toString: " + inner("value") + "}]]}"
		case 11:
			return "{fn::concat: [[" + inner("first") + "], [" + inner("second") + "]]}"
		case 12:
			return "{fn::split: ['-', 'a-b']}"
		}
		return "{fn::toBase64: {fn::toString: " + inner("value") + "}}"
	})
}

// documentsOf generates environments that import those of higher numbers and override their keys.
func documentsOf(t *rapid.T) map[string]string {
	const count = 3
	documents := map[string]string{}
	for i := range count {
		var b strings.Builder
		if imports := rapid.SliceOfN(rapid.IntRange(i+1, count), 0, 2).Draw(t, "imports"); i+1 < count && len(imports) > 0 {
			b.WriteString("imports:\n")
			for _, other := range imports {
				fmt.Fprintf(&b, rapid.SampledFrom([]string{"- e%d\n", "- e%d\n", "- e%d: {merge: false}\n"}).Draw(t, "import"),
					min(other, count-1))
			}
		}
		b.WriteString("values:\n")
		names := []string{"a", "m", "l"}
		fmt.Fprintf(&b, "  a: %s\n  m: {k: %s, other: {k: 1}}\n  l: [%s, {k: 2}]\n", rapid.SampledFrom(scalars).Draw(t, "a"),
			rapid.SampledFrom(scalars).Draw(t, "mk"), rapid.SampledFrom(scalars).Draw(t, "l0"))
		for n := range rapid.IntRange(0, 3).Draw(t, "values") {
			name := fmt.Sprintf("v%d", n)
			fmt.Fprintf(&b, "  %s: %s\n", name, expressions(names, 2).Draw(t, name))
			names = append(names, name)
		}
		for _, part := range []string{Config, Variables, Files} {
			keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C", "ns:D"}), 0, 3, rapid.ID[string]).Draw(t, "keys")
			if len(keys) == 0 {
				continue
			}
			b.WriteString("  " + part + ":\n")
			for _, key := range keys {
				fmt.Fprintf(&b, "    %s: %s\n", key, expressions(names, 2).Draw(t, key))
			}
		}
		documents[fmt.Sprintf("e%d", i)] = b.String()
	}
	return documents
}

// secretLeaves adds the paths of a value's members that are secret, or in a list or map that is, to a set.
func secretLeaves(v esc.Value, path string, into map[string]bool) {
	if v.Secret {
		v = v.MakeSecret()
	}
	switch x := v.Value.(type) {
	case []esc.Value:
		for i, item := range x {
			secretLeaves(item, fmt.Sprintf("%s[%d]", path, i), into)
		}
	case map[string]esc.Value:
		for key, item := range x {
			secretLeaves(item, path+"."+key, into)
		}
	default:
		if v.Secret {
			into[path] = true
		}
	}
}

// TestValuesAreThoseOfTheEvaluator compares the values of random environments with those that Pulumi ESC has for the
// same documents, and the texts of variables and files with those that it makes of them.
func TestValuesAreThoseOfTheEvaluator(t *testing.T) {
	t.Parallel()
	evaluated := 0
	rapid.Check(t, func(rt *rapid.T) {
		documents := documentsOf(rt)
		o := options(t, documents)
		src, err := o.Read("e0")
		require.NoError(rt, err)
		e := o.evaluator(src)
		document, found, err := eval.LoadYAMLBytes("e0", src.Text())
		require.NoError(rt, err)
		execution, err := esc.NewExecContext(map[string]esc.Value{})
		require.NoError(rt, err)
		want, more := eval.EvalEnvironment(t.Context(), "e0", document, sealed{}, e, e, execution)
		found = append(found, more...)
		got, diags := o.document(t.Context(), "e0", src)
		if slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == diag.BudgetExceeded }) {
			return
		}
		require.Equal(rt, found.HasErrors(), diags.HasErrors(), "%v\n%v\n%v", documents, found, diags)
		if found.HasErrors() {
			return
		}
		evaluated++
		answer, err := json.Marshal(want.Properties)
		require.NoError(rt, err)
		var values map[string]escValue
		require.NoError(rt, json.Unmarshal(answer, &values))
		for where, got := range map[string]*Environment{"here": got, "of a service": environmentOf(values, false)} {
			requireEqual(rt, want, got, where, documents)
		}
	})
	require.NotZero(t, evaluated)
}

// requireEqual compares the values and secrets of an environment, and the texts of its variables and files.
func requireEqual(t *rapid.T, want *esc.Environment, got *Environment, where string, documents map[string]string) {
	text, err := json.Marshal(esc.NewValue(want.Properties).ToJSON(false))
	require.NoError(t, err)
	ours, err := value.AppendJSON(nil, got.Values.DeepPublic())
	require.NoError(t, err)
	require.JSONEq(t, string(text), string(ours), "%s: %v", where, documents)

	theirSecrets, ourSecrets := map[string]bool{}, map[string]bool{}
	secretLeaves(esc.NewValue(want.Properties), "", theirSecrets)
	secretLeaves(toESC(got.Values), "", ourSecrets)
	require.Equal(t, theirSecrets, ourSecrets, "%s: %v", where, documents)

	for part, want := range map[string]map[string]esc.Value{Variables: want.GetEnvironmentVariables(),
		Files: want.GetTemporaryFiles()} {
		texts := map[string]string{}
		for name, v := range want {
			texts[name] = v.Value.(string)
		}
		require.Equal(t, texts, maps.Collect(got.Texts(part)), "%s of %v, %s", part, documents, where)
	}
}
