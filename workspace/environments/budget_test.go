//go:build !lean

package environments

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/esc/eval"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// options writes environments to a new project, by name.
func options(t testing.TB, documents map[string]string) Options {
	t.Helper()
	o := Options{Dir: t.TempDir(), Shown: filepath.Base, Lookup: func(string) (string, bool) { return "", false }}
	require.NoError(t, os.Mkdir(filepath.Join(o.Dir, Folder), 0o700))
	for name, text := range documents {
		require.NoError(t, os.WriteFile(filepath.Join(o.Dir, Folder, name+".yaml"), []byte(text), 0o600))
	}
	return o
}

// What the evaluator makes is never larger than what was computed before.
func TestMeterIsAnUpperBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		documents := map[string]string{}
		const count = 3
		for i := range count {
			var b strings.Builder
			if imports := rapid.SliceOfN(rapid.IntRange(i+1, count), 0, 2).Draw(rt, "imports"); i+1 < count && len(imports) > 0 {
				b.WriteString("imports:\n")
				for _, other := range imports {
					fmt.Fprintf(&b, "- e%d\n", min(other, count-1))
				}
			}
			b.WriteString("values:\n  a: text\n  m: {x: 1, y: two}\n")
			for n := range rapid.IntRange(1, 6).Draw(rt, "values") {
				reference := rapid.SampledFrom([]string{"${a}", "${m}", "${m.y}", "${v0}", "${v1}", "${v2.p}", "${v3[0]}",
					"${imports.e2}", "${imports[\"e1\"].a}", "${v1.q}", "plain"})
				x, y := reference.Draw(rt, "x"), reference.Draw(rt, "y")
				fmt.Fprintf(&b, rapid.SampledFrom([]string{"  v%d: '%s%s'\n", "  v%d: '%s'\n  w%[1]d: '%[3]s'\n", "  v%d: ['%s', '%s']\n",
					"  v%d: {p: '%s', q: '%s'}\n", "  v%d: {fn::toJSON: ['%s', '%s']}\n", "  v%d: {fn::join: ['%s', ['a', '%s', 'b']]}\n",
					"  v%d: {fn::toBase64: '%s%s'}\n", "  v%d: {fn::fromJSON: {fn::toJSON: ['%s', '%s']}}\n",
					"  v%d: {fn::split: ['%s', '%s']}\n", "  v%d: {fn::concat: [['%s'], ['%s']]}\n",
					"  v%d: {fn::toString: {k: '%s', l: '%s'}}\n"}).Draw(rt, "form"), n, x, y)
			}
			documents[fmt.Sprintf("e%d", i)] = b.String()
		}
		o := options(t, documents)
		src, err := o.Read("e0")
		require.NoError(rt, err)
		env, found := o.document(t.Context(), "e0", src)
		e := o.evaluator(src)
		document, _, err := eval.LoadYAMLBytes("e0", src.Text())
		require.NoError(rt, err)
		e.meter.known = map[string]*measured{}
		bound, err := e.meter.measure(document, 0)
		if errors.As(err, new(*errSpent)) { // a few are refused, as the bound is not tight
			return
		}
		require.NoError(rt, err)
		if env == nil || found.HasErrors() { // references in a circle
			return
		}
		made := sizeOf(toESC(env.Values))
		require.LessOrEqual(rt, made.nodes, bound.whole.nodes, documents)
		require.LessOrEqual(rt, made.bytes, bound.whole.bytes, documents)
	})
}

// Environments that would be evaluated without end have one finding.
func TestEnvironmentsHaveABudget(t *testing.T) {
	t.Parallel()
	doubling := func(first, format string, levels int) string {
		var b strings.Builder
		b.WriteString("values:\n  v0: " + first + "\n")
		for i := range levels {
			fmt.Fprintf(&b, "  v%d: "+format+"\n", i+1, fmt.Sprintf("${v%d}", i))
		}
		return b.String()
	}
	ten := func(part string) string { return strings.Repeat(part, 10) }
	chain, fan := map[string]string{"e3000": "values: {a: 1}\n"}, map[string]string{"l12": "values: {a: 1}\n"}
	for i := range 3000 {
		chain[fmt.Sprintf("e%d", i)] = fmt.Sprintf("imports: [e%d]\n", i+1)
	}
	for i := range 12 {
		fan[fmt.Sprintf("l%d", i)] = "imports:\n" + ten(fmt.Sprintf("- l%d\n", i+1))
	}
	documents := map[string]string{"text": doubling("0123456789", "'"+ten("%[2]s")+"'", 10),
		"lists":     doubling("0123456789", "["+strings.TrimSuffix(ten("'%[2]s',"), ",")+"]", 10),
		"json":      doubling("'\"'", "{fn::toJSON: '%[2]s'}", 60),
		"bytes":     doubling("0123456789", "{fn::join: ['%[2]s', ["+ten("'%[2]s',")+"'']]}", 10),
		"open":      doubling("{fn::open::env: {name: X}}", "'"+ten("%[2]s")+"'", 6),
		"overrides": "imports: [text]\nvalues: {v0: x}\n"}
	for _, more := range []map[string]string{chain, fan} {
		maps.Copy(documents, more)
	}
	o := options(t, documents)
	o.Lookup = func(string) (string, bool) { return strings.Repeat("x", 1000), true }
	for name, want := range map[string]string{"text": "larger than 64 MiB", "lists": "2000000 steps",
		"json": "64 MiB", "bytes": "64 MiB|2000000 steps", "open": "larger than 64 MiB", "overrides": "64 MiB",
		"e0": "more than 100 levels deep", "l0": "2000000 steps"} {
		for _, check := range []bool{true, false} {
			if check && name == "open" {
				continue // nothing is opened
			}
			o := o
			o.Check = check
			_, found, err := o.Named(t.Context(), name)
			require.NoError(t, err)
			require.Len(t, found, 1, "%s: %v", name, found)
			require.Regexp(t, want, found[0].Summary+found[0].Detail, name)
			if name != "open" {
				require.Equal(t, diag.BudgetExceeded, found[0].Code)
			}
		}
	}
	env, found, err := o.Named(t.Context(), "e2950") // 50 levels
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, []string{"a"}, env.Values.Keys())
}
