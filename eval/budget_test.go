package eval_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
)

// A program that repeats, nests, reads or formats too much ends with one finding at the responsible expression (Y309).
// The value is never built.
func TestBudget(t *testing.T) {
	t.Parallel()
	repeated := func(first, each string) string { // nine variables, each ten times as large as the previous one
		var b strings.Builder
		b.WriteString("variables:\n  v0: " + first + "\n")
		for i := 1; i <= 9; i++ {
			item := fmt.Sprintf("${v%d}", i-1)
			if !strings.HasPrefix(each, "\"") {
				item = "'" + item + "'"
			}
			fmt.Fprintf(&b, "  v%d: %s\n", i, strings.ReplaceAll(each, "X", strings.TrimSuffix(strings.Repeat(item+", ", 10),
				", ")))
		}
		return b.String() + "outputs: {out: \"${v9}\"}\n"
	}
	small := builtins.Limits{Value: 1 << 20}
	for name, c := range map[string]struct {
		text   string
		limits builtins.Limits
		at     string // the text of the subject range
		want   string
	}{
		"a wide format joined many times": {text: `outputs: {x: '${length(join(format("%1000000d", 1), range(999999)))}'}`,
			at: `join(format("%1000000d", 1), range(999999))`, want: "larger than 256 MiB"},
		"lists of lists": {text: repeated("[text]", "[X]"), at: "['${v6}', '${v6}'", want: "larger than 256 MiB"},
		"texts of texts": {text: repeated("abcdefghij", `"X"`), at: `${v7}, ${v7}`, want: "larger than 256 MiB"},
		"maps of maps":   {text: repeated("{a: 1}", "{k: [X]}"), at: "['${v6}', '${v6}'", want: "larger than 256 MiB"},
		"a large file": {text: "outputs: {x: {fn::readFile: large}}", limits: small, at: "fn::readFile: large",
			want: "larger than 1 MiB"},
		"two large outputs": {text: `
variables:
  big: {fn::repeat: [abcdefghij, 40000]}
outputs:
  one: ${big}
  two: ${big}
`, limits: small, at: "${big}\n", want: "the outputs together would be larger than 512 KiB"},
		"a loop over loops": {text: `outputs: {x: '${[for a in range(10000) : [for b in range(10000) : a * b]]}'}`,
			at: "range(10000)", want: "more than 10000000 steps"},
		"many outputs": {text: "outputs:\n" + manyOutputs(20_000), limits: builtins.Limits{Steps: 10_000},
			at: "t1", want: "more than 10000 steps"},
		"a text taken apart": {text: `outputs: {x: '${length(split("", repeat("0123456789", 60000)))}'}`, limits: small,
			at: `split("", repeat("0123456789", 60000))`, want: "larger than 1 MiB"},
		"a replacement that grows": {text: `outputs: {x: '${replace(repeat("a", 10000), "a", repeat("b", 10000))}'}`,
			limits: small, at: `replace(repeat("a", 10000), "a", repeat("b", 10000))`, want: "larger than 1 MiB"},
		"JSON of many small values": {text: `outputs: {x: '${fromJSON(format("[%s1]", repeat("1,", 100000)))}'}`,
			limits: small, at: `fromJSON(format("[%s1]", repeat("1,", 100000)))`, want: "larger than 1 MiB"},
		"matches without number": {text: `outputs: {x: '${length(regexAll("(a)(b)?()", repeat("a", 20000)))}'}`,
			limits: small, at: `regexAll("(a)(b)?()", repeat("a", 20000))`, want: "larger than 1 MiB"},
		"a match that is repeated": {text: `outputs: {x: '${regexReplace(repeat("a", 100000), "a+", repeat("$0", 1000))}'}`,
			limits: small, at: `regexReplace(`, want: "larger than 1 MiB"},
		"matches that grow": {text: `outputs: {x: '${regexReplace(repeat("a", 10000), "a", repeat("b", 10000))}'}`,
			limits: small, at: `regexReplace(`, want: "larger than 1 MiB"},
		"not to be recovered from": {text: `outputs: {x: '${try([for a in range(100000) : a], "fine")}'}`,
			limits: builtins.Limits{Steps: 1000}, at: "range(100000)", want: "more than 1000 steps"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := mustLoad(t, c.text, nil)
			o := options()
			o.Limits = c.limits
			o.Cwd, o.ReadFile = t.TempDir(), nil
			require.NoError(t, os.WriteFile(filepath.Join(o.Cwd, "large"), make([]byte, 2<<20), 0o600))
			result, diags := eval.Run(context.Background(), program, newZoo(false).recorder, o)
			require.Positive(t, result.Failed)
			require.Len(t, diags, 1)
			require.Equal(t, diag.BudgetExceeded, diags[0].Code)
			require.Contains(t, diags[0].Summary, c.want)
			require.Contains(t, diags[0].Detail, "--max-")
			place := diags[0].Subject
			text := string(place.Source.Text()[place.Start:])
			if !strings.HasPrefix(text, c.at) && !strings.Contains(string(place.Source.Text()[place.Start:place.End]), c.at) {
				require.Equal(t, c.at, string(place.Source.Text()[place.Start:place.End]))
			}
		})
	}
}

func manyOutputs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  o%d: t%d\n", i, i)
	}
	return b.String()
}

// A program with very many ordinary resources reaches no limit, since each resource adds to the budget.
func TestBudgetOfManyResources(t *testing.T) {
	t.Parallel()
	const n = 2000
	var b strings.Builder
	b.WriteString("resources:\n")
	for i := range n {
		fmt.Fprintf(&b,
			"  r%d: {type: \"zoo:Echo\", properties: {value: {a: [1, 2, {b: \"x-%d-${pulumi.stack}\"}], c: \"%s\"}}}\n", i, i,
			strings.Repeat("z", 500))
	}
	o := options()
	o.Limits = builtins.Limits{Steps: 1000, PerResource: 200} // a fiftieth of the default
	result, diags := eval.Run(context.Background(), mustLoad(t, b.String(), nil), newZoo(false).recorder, o)
	require.Empty(t, diags)
	require.Zero(t, result.Failed)
	o.Limits.PerResource = 1
	_, diags = eval.Run(context.Background(), mustLoad(t, b.String(), nil), newZoo(false).recorder, o)
	require.Len(t, diags, 1, "it is told once")
	require.Equal(t, diag.BudgetExceeded, diags[0].Code)
}

// With raised limits, a program that exceeds the default ones passes.
func TestRaisedLimits(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, `outputs: {x: '${length([for a in range(5000) : a * a])}'}`, nil)
	o := options()
	o.Limits.Steps = 1000
	_, diags := eval.Run(context.Background(), program, newZoo(false).recorder, o)
	require.Len(t, diags, 1)
	o.Limits.Steps = 1_000_000
	_, diags = eval.Run(context.Background(), program, newZoo(false).recorder, o)
	require.Empty(t, diags)
}

// Transforms, which an engine calls concurrently with its own contexts, use the budget of the run.
func TestTransformsPayFromTheBudgetOfTheRun(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, `
transforms:
  - match: {name: 'r*'}
    properties: {value: '${length([for i in range(10) : i])}'}
resources:
  r: {forEach: '${range(200)}', type: zoo:Echo, properties: {value: 1}}
`, nil)
	o := options()
	o.Limits = builtins.Limits{Steps: 1000, PerResource: 2}
	_, findings := eval.Run(t.Context(), program, &monitortest.Recorder{
		Deployment: monitor.Info{Project: "proj", Stack: "dev", Parallel: 16}}, o)
	require.Len(t, findings, 1, "it is reported once")
	require.Equal(t, diag.BudgetExceeded, findings[0].Code)
}
