package eval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
)

// hookMonitor registers hooks and runs those of resources when the program waits for the engine.
type hookMonitor struct {
	*monitortest.Recorder
	hooks  map[string]monitor.Hook
	faults []string
	waited bool
	args   map[string]value.Value // of hooks, besides their names
}

func (m *hookMonitor) RegisterHook(_ context.Context, h monitor.Hook) error {
	if len(m.Requests()) > 1 {
		return errors.New("a resource came before its hook")
	}
	m.hooks[h.Name] = h
	return nil
}

func (m *hookMonitor) SignalAndWaitForShutdown(ctx context.Context) error {
	m.waited = true
	r, _ := m.Registered("r")
	for _, moment := range []string{"BeforeCreate", "OnError"} {
		for _, name := range r.Hooks[moment] {
			retry, err := m.hooks[name].Run(ctx, value.Map(m.args).With("name", value.String("r")))
			if err != nil {
				m.faults = append(m.faults, err.Error())
			} else if retry {
				m.faults = append(m.faults, "again")
			}
		}
	}
	return nil
}

const hookProgram = `hooks:
  first: {command: [touch, "${file}-${args.name}"], onDryRun: true}
  again: {command: [fix, "${other.size}"]}
variables:
  file: out
resources:
  other: {type: 'pkg:Thing', properties: {size: 3}}
  r:
    type: pkg:Thing
    options: {hooks: {beforeCreate: [first], onError: again}}
`

// L10.C14: hooks are registered before resources, their commands are evaluated when they run, and the program waits.
func TestHooks(t *testing.T) {
	t.Parallel()
	program := compileHooks(t, hookProgram)
	m := &hookMonitor{Recorder: &monitortest.Recorder{Deployment: monitor.Info{Project: "p", Stack: "s"}},
		hooks: map[string]monitor.Hook{}}
	var ran []string
	result, diags := eval.Run(t.Context(), program, m, eval.Options{Cwd: "/dir",
		Command: func(_ context.Context, dir string, words []string) (string, error) {
			ran = append(ran, dir+": "+strings.Join(words, " "))
			if len(ran) > 1 {
				return "", errors.New("exit status 1")
			}
			return "", nil
		}})
	require.False(t, diags.HasErrors(), diags)
	require.Zero(t, result.Failed)
	require.True(t, m.waited)
	require.True(t, m.hooks["first"].OnDryRun)
	require.True(t, m.hooks["again"].OnError)
	require.Equal(t, []string{"/dir: touch out-r", "/dir: fix 3"}, ran)
	require.Equal(t, []string{"exit status 1"}, m.faults)
}

// A monitor without hooks gives an error before anything is created.
func TestHooksThatCannotBeHad(t *testing.T) {
	t.Parallel()
	program := compileHooks(t, hookProgram)
	r := &monitortest.Recorder{Deployment: monitor.Info{Project: "p", Stack: "s"}}
	result, diags := eval.Run(t.Context(), program, r, eval.Options{Cwd: "/dir"})
	require.True(t, diags.HasErrors())
	require.Contains(t, diags[0].Summary, "cannot run hooks")
	require.NotZero(t, result.Failed)
	_, made := r.Registered("r")
	require.False(t, made)
}

func compileHooks(t *testing.T, text string) *check.Program {
	t.Helper()
	file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
	require.False(t, diags.HasErrors(), diags)
	program, diags := check.Check(t.Context(), file, check.Options{Project: "p"})
	require.False(t, diags.HasErrors(), diags)
	return program
}

// Faults in hooks are found before anything runs.
func TestFaultyHooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ hooks, want string }{
		"unknown hook":   {"{beforeCreate: [frist]}", "there is no hook `frist`"},
		"unknown moment": {"{sometimes: [first]}", "there are no hooks of this kind"},
		"both kinds":     {"{beforeCreate: [first], onError: [first]}", "cannot be an error hook and a hook of another kind"},
		"no map":         {"[first]", "must be a literal map"},
		"no text":        {"{beforeCreate: ['${v}']}", "the name of a hook must be a literal string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "hooks: {first: {command: [x]}}\nvariables: {v: first}\nresources: {r: {type: 'pkg:T', options: {hooks: " +
				c.hooks + "}}}\n"
			file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
			require.False(t, diags.HasErrors(), diags)
			_, diags = check.Check(t.Context(), file, check.Options{Project: "p"})
			var all []string
			for _, d := range diags {
				if d.Severity == diag.Error {
					all = append(all, d.Summary)
				}
			}
			require.Len(t, all, 1)
			require.Contains(t, all[0], c.want)
		})
	}
}

// Secrets that a hook's command receives are masked in its output, also secrets of several lines.
func TestHookOutputIsMasked(t *testing.T) {
	t.Parallel()
	program := compileHooks(t, "hooks:\n  first: {command: [echo, '${secret}', '${args.password}']}\n"+
		"variables: {secret: {fn::secret: \"canary one\\ncanary two\"}}\n"+
		"resources:\n  r: {type: 'pkg:Thing', options: {hooks: {beforeCreate: [first]}}}\n")
	m := &hookMonitor{Recorder: &monitortest.Recorder{Deployment: monitor.Info{Project: "p", Stack: "s"}},
		hooks: map[string]monitor.Hook{}, args: map[string]value.Value{"password": value.String("canary three").Secret()}}
	var lines []string
	options := eval.Options{Cwd: "/dir",
		Says: func(line string) { lines = append(lines, line) },
		Command: func(_ context.Context, _ string, words []string) (string, error) {
			return strings.Join(words, " and ") + "\nin the clear", nil
		}}
	_, diags := eval.Run(t.Context(), program, m, options)
	require.False(t, diags.HasErrors(), diags)
	require.NotContains(t, strings.Join(lines, "\n"), "canary")
	require.Contains(t, lines, "in the clear")

	lines, options.SuppressSecretOutput = nil, true
	m.Recorder = &monitortest.Recorder{Deployment: m.Recorder.Deployment}
	_, diags = eval.Run(t.Context(), program, m, options)
	require.False(t, diags.HasErrors(), diags)
	require.Empty(t, lines)
	options.Command = func(context.Context, string, []string) (string, error) {
		return "", errors.New("exit status 3\nyranac")
	}
	m.Recorder = &monitortest.Recorder{Deployment: m.Recorder.Deployment}
	_, _ = eval.Run(t.Context(), program, m, options)
	require.Equal(t, []string{"exit status 3"}, m.faults)
}
