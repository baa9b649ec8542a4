package eval_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
)

// mustLoad is load for a program without errors.
func mustLoad(tb testing.TB, text string, config map[string]check.ConfigText) *check.Program {
	tb.Helper()
	program, findings := load(tb, text, config)
	require.False(tb, findings.HasErrors(), describe(findings))
	return program
}

// TestParallelRegistrations tests L9.10: it ends only if three independent registrations run at the same time.
func TestParallelRegistrations(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, `
resources:
  a: {type: zoo:Echo}
  b: {type: zoo:Echo}
  c: {type: zoo:Echo}
  d: {type: zoo:Echo, properties: {value: ["${a}", "${b}", "${c}"]}}
`, nil)
	z := newZoo(false)
	var together sync.WaitGroup
	together.Add(3)
	inner := z.recorder.Register
	z.recorder.Register = func(g monitor.RegisterRequest) (monitor.RegisterResponse, error) {
		if g.Name != "d" {
			together.Done()
			together.Wait()
		}
		return inner(g)
	}
	o := options()
	o.Workers = 3
	result, findings := eval.Run(context.Background(), program, z.recorder, o)
	require.Empty(t, findings)
	require.Zero(t, result.Failed+result.Skipped)
	d, ok := z.recorder.Registered("d")
	require.True(t, ok)
	require.Len(t, d.Dependencies, 3)
}

// TestScheduleDoesNotMatter tests L9.11: requests, outputs and findings are the same for any number of workers.
func TestScheduleDoesNotMatter(t *testing.T) {
	t.Parallel()
	text := generate(120)
	program := mustLoad(t, text, nil)
	run := func(workers int) (map[string]monitor.RegisterRequest, eval.Result, diag.Diagnostics) {
		z := newZoo(false)
		z.fail = []string{"r7", "r50"}
		o := options()
		o.Workers = workers
		result, findings := eval.Run(context.Background(), program, z.recorder, o)
		requests := make(map[string]monitor.RegisterRequest)
		for _, r := range z.recorder.Requests() {
			if g, ok := r.(monitor.RegisterRequest); ok {
				requests[g.Name] = g
			}
		}
		return requests, result, findings
	}
	wantRequests, wantResult, wantFindings := run(1)
	require.NotZero(t, wantResult.Skipped)
	for _, workers := range []int{2, 5, 64} {
		requests, result, findings := run(workers)
		require.Equal(t, describe(wantFindings), describe(findings))
		require.Equal(t, wantResult.Failed, result.Failed)
		require.Equal(t, wantResult.Skipped, result.Skipped)
		require.True(t, value.Equal(wantResult.Outputs, result.Outputs))
		require.Equal(t, len(wantRequests), len(requests))
		for name, want := range wantRequests {
			require.True(t, value.Equal(want.Inputs, requests[name].Inputs), name)
			require.Equal(t, want.Dependencies, requests[name].Dependencies, name)
			require.Equal(t, want.PropertyDependencies, requests[name].PropertyDependencies, name)
		}
	}
}

// TestOneWorkerKeepsTheOrder tests L9.3: with one worker, requests come in the order of the program's nodes.
func TestOneWorkerKeepsTheOrder(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, generate(40), nil)
	z := newZoo(false)
	_, _ = eval.Run(context.Background(), program, z.recorder, options())
	var want, got []string
	for _, n := range program.Nodes {
		if n.Kind == check.ResourceNode {
			want = append(want, n.Name)
		}
	}
	for _, r := range z.recorder.Requests()[1:] {
		if g, ok := r.(monitor.RegisterRequest); ok {
			got = append(got, g.Name)
		}
	}
	require.Equal(t, want, got)
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, generate(20), nil)
	z := newZoo(false)
	ctx, cancel := context.WithCancel(context.Background())
	inner := z.recorder.Register
	z.recorder.Register = func(g monitor.RegisterRequest) (monitor.RegisterResponse, error) {
		cancel()
		return inner(g)
	}
	result, findings := eval.Run(ctx, program, z.recorder, options())
	require.Empty(t, findings, "who cancelled knows why")
	require.Len(t, z.recorder.Requests(), 2, "nothing new is asked for")
	require.NotZero(t, result.NotStarted)
	require.Zero(t, result.Skipped)
}

func TestStackCannotBeRegistered(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, "outputs: {a: 1}", nil)
	result, findings := eval.Run(context.Background(), program, brokenMonitor{newZoo(false).recorder}, options())
	require.Equal(t, 1, result.Failed)
	require.Equal(t, "0:0-0:0 error Y305: cannot register the stack: no connection\n", describe(findings))
}

type brokenMonitor struct{ *monitortest.Recorder }

func (brokenMonitor) RegisterResource(context.Context, monitor.RegisterRequest) (monitor.RegisterResponse, error) {
	return monitor.RegisterResponse{}, fmt.Errorf("no connection")
}

// D11
func TestPositions(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, "resources:\n  a: {type: zoo:Echo}\n", nil)
	z := newZoo(false)
	_, _ = eval.Run(context.Background(), program, z.recorder, options())
	a, _ := z.recorder.Registered("a")
	require.Equal(t, &monitor.Position{Path: "/srv/prog/Main.yaml", Line: 2, Column: 3}, a.SourcePosition)

	o := options()
	o.SourcePath = func(name string) string { return "/elsewhere/" + name }
	z = newZoo(false)
	_, _ = eval.Run(context.Background(), program, z.recorder, o)
	a, _ = z.recorder.Registered("a")
	require.Equal(t, "/elsewhere/Main.yaml", a.SourcePosition.Path)
}

// TestNotStartedIsNotSkipped tests that a run that ends early counts as skipped only what needs a failed resource: for
// random graphs, the rest of what it did not register is not started.
func TestNotStartedIsNotSkipped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(r, "resources")
		bad := rapid.IntRange(0, n-1).Draw(r, "the one that fails")
		text := "resources:\n"
		needs := make([]bool, n) // needs the one that fails
		for i := range n {
			text += fmt.Sprintf("  r%d: {type: zoo:Echo, properties: {value: [", i)
			for dep := range i {
				if rapid.IntRange(0, 2).Draw(r, "needs") == 0 {
					text += fmt.Sprintf("\"${r%d}\", ", dep)
					needs[i] = needs[i] || dep == bad || needs[dep]
				}
			}
			text += "1]}}\n"
		}
		program := mustLoad(t, text, nil)
		z := newZoo(false)
		inner, over := z.recorder.Register, false
		z.recorder.Register = func(g monitor.RegisterRequest) (monitor.RegisterResponse, error) {
			switch {
			case over:
				return monitor.RegisterResponse{}, monitor.ErrShutdown
			case g.Name == fmt.Sprintf("r%d", bad):
				over = true
				return monitor.RegisterResponse{}, monitor.ErrReported
			}
			return inner(g)
		}
		o := options()
		o.Workers = 1
		result, _ := eval.Run(context.Background(), program, z.recorder, o)
		var skipped, notStarted []string
		for i := bad + 1; i < n; i++ {
			if name := fmt.Sprintf("r%d", i); needs[i] {
				skipped = append(skipped, name)
			} else {
				notStarted = append(notStarted, name)
			}
		}
		require.Equal(r, 1, result.Failed)
		require.Equal(r, skipped, result.SkippedResources)
		require.Equal(r, notStarted, result.ResourcesNotStarted)
	})
}

// TestSkippedByTarget tests E2.37: outputs of a resource that a targeted update leaves out are unknown, not null.
func TestSkippedByTarget(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, `
resources:
  a: {type: zoo:Echo}
outputs:
  o: ${a.computed}
`, nil)
	z := newZoo(false)
	z.recorder.Register = func(monitor.RegisterRequest) (monitor.RegisterResponse, error) {
		return monitor.RegisterResponse{ID: value.Unknown(value.KindString), Outputs: value.EmptyMap()}, nil
	}
	result, findings := eval.Run(context.Background(), program, z.recorder, options())
	require.Empty(t, findings)
	require.False(t, result.Outputs.Get("o").IsKnown())
}

// TestNoSchema runs a program of a package whose schema is not known.
func TestNoSchema(t *testing.T) {
	t.Parallel()
	file := mustParse(t, `
resources:
  a: {type: "other:index:Thing", properties: {x: 1}}
  b: {type: "other:index:Thing", properties: {x: "${a.y}"}}
outputs: {o: "${b.x}"}
`)
	program, findings := check.Check(context.Background(), file, check.Options{Project: "proj"})
	require.False(t, findings.HasErrors(), describe(findings))
	z := newZoo(true)
	result, findings := eval.Run(context.Background(), program, z.recorder, options())
	require.Empty(t, findings)
	b, ok := z.recorder.Registered("b")
	require.True(t, ok)
	require.True(t, b.Custom)
	require.False(t, b.Inputs.Get("x").IsKnown())
	require.False(t, result.Outputs.Get("o").IsKnown())
}

// generate returns a program whose resources refer to three others each.
func generate(n int) string {
	var b strings.Builder
	b.WriteString("resources:\n")
	for i := range n {
		fmt.Fprintf(&b, "  r%d:\n    type: zoo:Echo\n    properties:\n", i)
		if i < 3 {
			fmt.Fprintf(&b, "      value: {a: %d, b: [x, y], c: {d: true}}\n", i)
			continue
		}
		fmt.Fprintf(&b,
			"      value: {a: \"${r%d.computed}\", b: [x, \"${r%d.num}\"], c: {d: true}}\n      s: \"n-${r%d.id}\"\n", i/2,
			i-1-i%7/3, i/3)
	}
	fmt.Fprintf(&b, "outputs:\n  last: ${r%d.computed}\n  bad: ${r%d.value.c.d.e}\n  seven: ${r7.id}\n", n-1, n-2)
	return b.String()
}

func mustParse(tb testing.TB, text string) *ast.File {
	tb.Helper()
	file, findings := parse(text)
	require.False(tb, findings.HasErrors(), describe(findings))
	return file
}

// BenchmarkRun evaluates 10,000 resources with 30,000 references against a recorder.
func BenchmarkRun(b *testing.B) {
	program := mustLoad(b, generate(10_000), nil)
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				z := newZoo(false)
				o := options()
				o.Workers = workers
				result, _ := eval.Run(context.Background(), program, z.recorder, o)
				if result.Skipped > 0 {
					b.Fatal("something was skipped")
				}
			}
		})
	}
}

// FuzzRun looks for programs that make the evaluator panic or hang.
func FuzzRun(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(f, err)
	more, err := filepath.Glob("testdata/*/*.txtar")
	require.NoError(f, err)
	for _, path := range append(files, more...) {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		_, program, _ := strings.Cut(string(text), "-- Main.yaml --\n")
		program, _, _ = strings.Cut(program, "\n-- ")
		f.Add(program, true)
		f.Add(program, false)
	}
	loader := zooLoader(f)
	f.Fuzz(func(t *testing.T, text string, preview bool) {
		file, findings := parse(text)
		if findings.HasErrors() {
			return
		}
		program, findings := check.Check(context.Background(), file, check.Options{Project: "proj", Schemas: loader})
		if findings.HasErrors() {
			return
		}
		z := newZoo(preview)
		o := options()
		o.Workers = 4
		result, findings := eval.Run(context.Background(), program, z.recorder, o)
		require.True(t, value.Equal(result.Outputs, z.recorder.Outputs(result.Stack)))
		for _, d := range findings {
			// Findings quote names of the program, which may contain any text.
			if !strings.Contains(text, "nil") {
				require.NotContains(t, d.Summary, "nil")
			}
			if !strings.Contains(text, "%!") {
				require.NotContains(t, d.Summary, "%!")
			}
			require.NotEmpty(t, d.Code)
		}
	})
}

// Requests mark the defaults of the schema. A provider gets none from the environment: it reads its environment
// itself, mapped by envVarMappings (L3.15, L4.29).
func TestDefaultsAreTold(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, `
resources:
  p: {type: "pulumi:providers:zoo", properties: {token: t}, options: {envVarMappings: {ZOO_REGION: MY_REGION}}}
  typed: {type: zoo:Typed, properties: {s: s}}
  said: {type: zoo:Typed, properties: {s: s, def: mine}}
`, nil)
	z := newZoo(false)
	o := options()
	o.Getenv = func(name string) (string, bool) {
		return "from the environment", name == "ZOO_REGION" || name == "MY_REGION"
	}
	_, findings := eval.Run(t.Context(), program, z.recorder, o)
	require.Empty(t, findings, describe(findings))
	p, _ := z.recorder.Registered("p")
	require.False(t, p.Inputs.Has("region"))
	require.Empty(t, p.Defaults)
	typed, _ := z.recorder.Registered("typed")
	require.Equal(t, value.String("preset"), typed.Inputs.Get("def"))
	require.Equal(t, []value.Path{value.PathOf("def")}, typed.Defaults, "constants are not meant")
	said, _ := z.recorder.Registered("said")
	require.Empty(t, said.Defaults)
}

// In a preview, a missing part of a partly known output is unknown, not null, however it is accessed. A missing part of
// a fully known output, or of the program's own value, is null (L5.33, L5.36, F1.20).
func TestMissingMembersInPreviews(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, `
resources:
  other: {type: zoo:Echo}
  svc: {type: zoo:Echo, properties: {value: {annotations: {x: one}, uid: "${other.id}", ports: [1]}}}
  plain: {type: zoo:Echo, properties: {value: {annotations: {x: one}}}}
variables:
  metadata: ${svc.value}
  annotations: ${metadata.annotations}
  key: name
outputs:
  text: http://${svc.value.name}:80
  deeper: ${svc.value.annotations.foo.bar}
  behind: ${svc.value.ports[3]}
  through: ${annotations.foo.bar}
  bracket: ${svc.value["name"]}
  computed: ${svc.value[key].more}
  there: ${svc.value.annotations.x}
  lacking: ${plain.value.foo}
`, nil)
	z := newZoo(true)
	_, findings := eval.Run(t.Context(), program, z.recorder, options())
	require.Empty(t, findings, describe(findings))
	outputs := z.recorder.Outputs(urn.RootStack("dev", "proj"))
	for _, name := range []string{"text", "deeper", "behind", "through", "bracket", "computed"} {
		v := outputs.Get(name)
		require.False(t, v.IsKnown(), name)
		require.Equal(t, []urn.URN{urn.New("dev", "proj", "", "zoo:index:Echo", "svc")}, v.Deps(), name)
	}
	require.Equal(t, "one", text(outputs.Get("there")))
	require.True(t, outputs.Has("lacking"))
	require.True(t, outputs.Get("lacking").IsNull())

	_, findings = eval.Run(t.Context(), program, newZoo(false).recorder, options())
	require.Contains(t, describe(findings), "Y301", "when everything is known, it is missing")
}

func text(v value.Value) string { s, _ := v.AsString(); return s }

// As in Pulumi's host, dependencies include those of a null input, and of every item that fn::select could choose, so
// that deletions have the right order.
func TestDependenciesOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	program := mustLoad(t, `
resources:
  x: {type: zoo:Echo}
  y: {type: zoo:Echo, properties: {value: v}}
  null-input: {type: zoo:Echo, properties: {value: "${x.value}"}}
  null-inside: {type: zoo:Echo, properties: {value: {k: "${x.value}", l: 1}}}
  no-input: {type: zoo:Echo, properties: {value: null}}
  chosen: {type: zoo:Echo, properties: {value: {fn::select: [1, ["${x.value}", "${y.value}"]]}}}
  called: {type: zoo:Echo, properties: {value: {fn::invoke: {function: "zoo:echo", arguments: {value: "${x.value}"}}}}}
`, nil)
	z := newZoo(false)
	_, findings := eval.Run(t.Context(), program, z.recorder, options())
	require.Empty(t, findings, describe(findings))
	u := func(name string) urn.URN { return urn.New("dev", "proj", "", "zoo:index:Echo", name) }
	for name, want := range map[string][]urn.URN{
		"null-input": {u("x")}, "null-inside": {u("x")}, "no-input": nil, "chosen": {u("x"), u("y")}, "called": {u("x")},
	} {
		g, _ := z.recorder.Registered(name)
		require.ElementsMatch(t, want, g.PropertyDependencies.Map()["value"], name)
		require.ElementsMatch(t, want, g.Dependencies, name)
	}
	g, _ := z.recorder.Registered("null-input")
	require.False(t, g.Inputs.Has("value"), "it is not sent")
	g, _ = z.recorder.Registered("no-input")
	require.NotContains(t, g.PropertyDependencies.Map(), "value")
}
