package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Where a finding advises to write `config` for `configuration`, and its fix does, each value is what it was: defaults
// there are data, and here expressions (L2.17).
func TestFormerSectionKeepsItsValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fixed, kept := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]string{"x", "'x$$y'", "'$${b}'", "'a $ b'", "'${base}-x'", "2020-01-01",
			"'2020-01-01'", "1e3", "0x1f", "true", "null", "{fn::join: ['', [a, '${base}', '$$']]}",
			"{fn::secret: x}"})
		value := rapid.Custom(func(rt *rapid.T) string {
			a, b := text.Draw(rt, "value"), text.Draw(rt, "other")
			shapes := []string{a, "[" + a + ", " + b + "]", "{k: " + a + "}", "{'$k': " + a + "}", "{'k${base}': 1}"}
			return rapid.SampledFrom(shapes).Draw(rt, "shape")
		})
		var declarations, outputs strings.Builder
		for i := range rapid.IntRange(1, 3).Draw(rt, "count") {
			name := rapid.SampledFrom([]string{"v%d", "p:v%d", "other:v%d"}).Draw(rt, "name")
			name = fmt.Sprintf(name, i)
			declaration := rapid.SampledFrom([]string{"%s", "{default: %s}", "{default: %s, secret: true}",
				"{default: %s, description: d}", "{default: %s, name: n}", "{type: string, default: %s}"}).Draw(rt, "declaration")
			given := value.Draw(rt, "default")
			if declaration == "%s" && strings.HasPrefix(given, "{") {
				declaration = "{default: %s}"
			}
			fmt.Fprintf(&declarations, "  %s: "+declaration+"\n", name, given)
			fmt.Fprintf(&outputs, "  o%d: ${%s}\n", i, name)
		}
		program := "name: p\nruntime: yaml\nconfiguration:\n" + declarations.String() + "variables: {base: 1}\noutputs:\n" +
			outputs.String()
		before, found := valuesOf(rt, dir, program)
		if found.HasErrors() {
			return
		}
		i := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Code == diag.Deprecated })
		if i < 0 {
			kept++
			return
		}
		changed, n := diag.ApplyFixes(found[i].Subject.Source, found[i:i+1])
		require.Equal(rt, 1, n, program)
		fixed++
		after, found := valuesOf(rt, dir, string(changed))
		require.False(rt, found.HasErrors(), "%s%v", changed, found)
		require.Equal(rt, before, after, string(changed))
	})
	require.Greater(t, fixed, 0)
	require.Greater(t, kept, 0)
}

// TestDataThatMeansASecretIsSecret: a call of fn::secret in a value that is data is no call, but the value is secret,
// whichever section has it.
func TestDataThatMeansASecretIsSecret(t *testing.T) {
	t.Parallel()
	for _, declaration := range []string{"p:v: [{fn::secret: x}, {fn::secret: x}]", "other:v: [{fn::secret: x}]",
		"v: {value: [{FN::Secret: x}]}", "other:v: {value: {k: {fn::secret: x}}}"} {
		name, _, _ := strings.Cut(declaration, ": ")
		for _, section := range []string{"config", "configuration"} {
			values, found := valuesOf(t, t.TempDir(), "name: p\nruntime: yaml\n"+section+":\n  "+declaration+
				"\noutputs: {o: \"${"+name+"}\"}\n")
			require.False(t, found.HasErrors(), "%s %s: %v", section, declaration, found)
			require.Equal(t, `{"o": [secret]}`, values, "%s %s", section, declaration)
		}
	}
}

// valuesOf returns the outputs of a program in a project file.
func valuesOf(rt require.TestingT, dir, program string) (string, diag.Diagnostics) {
	require.NoError(rt, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(program), 0o600))
	w, err := workspace.Open(dir, workspace.Options{Shown: workspace.Relative(dir)})
	require.NoError(rt, err)
	config, faults, err := project.Merge(w.Project, project.NewSettings("Pulumi.dev.yaml", "p"), "dev", nil)
	require.NoError(rt, err)
	checked, found := w.Check(context.Background(), workspace.CheckOptions{Schemas: noSchemas, Options: check.Options{
		Config: w.ConfigTexts(config), ConfigKnown: true}})
	found.Add(faults...)
	if found.HasErrors() {
		return "", found
	}
	m := &monitortest.Recorder{Deployment: monitor.Info{Project: "p", Stack: "dev"}}
	result, more := eval.Run(context.Background(), checked, m, eval.Options{Cwd: dir, ParseData: parser.Data})
	found.Add(more...)
	return result.Outputs.String(), found
}
