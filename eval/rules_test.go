package eval_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast/asttest"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// TestRules runs programs through all passes, with a golden section for each: tree, findings, graph, requests,
// outputs and findings of the run. Each program of testdata/rules covers the rules that its comment names. Each
// program of testdata/gaps covers a fault or gap of Pulumi's host (L10.A), and has the gap's number as its name. The
// comments and the file config are as for TestCorpus. A program with errors is not run.
func TestRules(t *testing.T) {
	t.Parallel()
	corpus.Run(t, *update, func(t *testing.T, a *txtar.Archive) []txtar.File {
		require.Regexp(t, `\bL\d+\.`, string(a.Comment), "the comment names the rules")
		return passes(t, a)
	}, "testdata/rules/*.txtar", "testdata/gaps/*.txtar")
}

// passes returns the results of all passes, without empty sections.
func passes(t *testing.T, a *txtar.Archive) []txtar.File {
	t.Helper()
	var got []txtar.File
	add := func(name, text string) {
		if text != "" {
			got = append(got, txtar.File{Name: "out/" + name, Data: []byte(text)})
		}
	}
	z, o, config := setting(a)
	file, findings := parser.Parse(diag.NewSource(a.Files[0].Name, a.Files[0].Data),
		parser.Options{Declared: declared(config), Include: including(a)})
	var tree bytes.Buffer
	require.NoError(t, asttest.Dump(&tree, file))
	add("tree", tree.String())
	program, more := check.Check(context.Background(), file, check.Options{
		Project: "proj", Schemas: zooLoader(t), Config: config, ConfigKnown: true, Bundle: bundling(a),
	})
	findings = append(findings, more...)
	add("check", describe(findings.Sorted()))
	if findings.HasErrors() {
		return got
	}
	add("graph", graphText(program))
	program.ForgetTypes() // as a run does
	result, found := eval.Run(context.Background(), program, z.recorder, o)
	add("requests", strings.TrimPrefix(z.recorder.String(),
		"register pulumi:pulumi:Stack \"proj-dev\" at 1:1\n  kind: component\n\n"))
	add("outputs", outputsText(result.Outputs))
	add("run", describe(found))
	if result.Failed+result.Skipped > 0 {
		add("counts", fmt.Sprintf("%d failed, %d skipped\n", result.Failed, result.Skipped))
	}
	require.True(t, value.Equal(result.Outputs, z.recorder.Outputs(result.Stack)),
		"the outputs are registered, also after failures")
	return got
}

// bundling returns the files of an archive unchanged; a text with the word SYNTAX is faulty.
func bundling(a *txtar.Archive) check.Bundler {
	return func(_ context.Context, _, source string) (*check.Bundle, []check.BundleFault, error) {
		for _, f := range a.Files {
			if f.Name != source {
				continue
			}
			if i := bytes.Index(f.Data, []byte("SYNTAX")); i >= 0 {
				return nil, []check.BundleFault{{Place: fmt.Sprintf("%s:1:%d", source, i+1), Message: "it is faulty"}}, nil
			}
			return &check.Bundle{Language: "node", Code: string(f.Data), Digest: "sha256:of-" + source}, nil, nil
		}
		return nil, []check.BundleFault{{Place: source, Message: "there is no such file"}}, nil
	}
}

// including finds the files of an archive that its program includes.
func including(a *txtar.Archive) func(pattern string) ([]*diag.Source, error) {
	return func(pattern string) ([]*diag.Source, error) {
		var found []*diag.Source
		for _, f := range a.Files {
			if ok, err := filepath.Match(pattern, f.Name); err != nil {
				return nil, err
			} else if ok {
				found = append(found, diag.NewSource(f.Name, f.Data))
			}
		}
		return found, nil
	}
}

// declared returns the names that the stack's configuration adds to the program.
func declared(config map[string]check.ConfigText) []string {
	var names []string
	for key := range config {
		names = append(names, key)
		if name, own := strings.CutPrefix(key, "proj:"); own {
			names = append(names, name)
		}
	}
	return names
}

// graphText returns the order of evaluation with the dependencies of each node, and the packages.
func graphText(p *check.Program) string {
	var b strings.Builder
	kinds := [...]string{check.ConfigNode: "config", check.VariableNode: "variable", check.ResourceNode: "resource"}
	needs := func(edges []check.Edge) {
		for i, e := range edges {
			if i == 0 {
				b.WriteString(" <-")
			}
			b.WriteString(" " + e.To.Name)
		}
		b.WriteByte('\n')
	}
	for _, n := range p.Nodes {
		fmt.Fprintf(&b, "%s %s", kinds[n.Kind], n.Name)
		needs(n.Needs)
	}
	for _, o := range p.Outputs {
		fmt.Fprintf(&b, "output %s", o.Decl.Name.Value)
		needs(o.Needs)
	}
	for _, d := range p.Packages {
		fmt.Fprintf(&b, "package %s\n", strings.TrimSpace(d.Name+" "+d.Version))
	}
	return b.String()
}

// TestCallsRunTogether has two calls of functions that wait for each other (L6.47).
func TestCallsRunTogether(t *testing.T) {
	t.Parallel()
	program, findings := load(t, "variables:\n  a: {fn::zoo:echo: {value: a}}\n  b: {fn::zoo:echo: {value: b}}\n", nil)
	require.False(t, findings.HasErrors())
	z := newZoo(false)
	var both sync.WaitGroup
	both.Add(2)
	answer := z.recorder.Function
	z.recorder.Function = func(g monitor.InvokeRequest) (monitor.InvokeResponse, error) {
		both.Done()
		both.Wait() // never ends if calls run one after another
		return answer(g)
	}
	o := options()
	o.Workers = 2
	result, _ := eval.Run(context.Background(), program, z.recorder, o)
	require.Zero(t, result.Failed)
}
