//go:build !lean

package environments_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/workspace/environments"
)

// project makes a project with environments, and returns the options to open them.
func project(t *testing.T, files map[string]string) environments.Options {
	t.Helper()
	dir := t.TempDir()
	testfile.Tree(t, dir, files)
	return environments.Options{
		Dir: dir,
		Shown: func(path string) string {
			rel, err := filepath.Rel(dir, path)
			require.NoError(t, err)
			return filepath.ToSlash(rel)
		},
		Lookup: func(name string) (string, bool) { return "of " + name, name == "TOKEN" },
		Command: func(_ context.Context, place string, words []string) (string, error) {
			require.Equal(t, dir, place)
			return strings.Join(words, " "), nil
		},
		Outputs: func(_ context.Context, stack string) (value.Value, error) {
			if stack != "organization/net/dev" {
				return value.Null, errors.New("no such stack")
			}
			return value.MapOf(value.Entry{Key: "vpc", Value: value.String("vpc-1")},
				value.Entry{Key: "key", Value: value.String("k").Secret()}, value.Entry{Key: "n", Value: value.Int(3)}), nil
		},
	}
}

// json returns a value as JSON, with secrets in plain text.
func json(t *testing.T, v value.Value) string {
	t.Helper()
	text, err := value.AppendJSON(nil, v.DeepPublic())
	require.NoError(t, err)
	return string(text)
}

var shared = map[string]string{
	"environments/base.yaml": "values:\n  region: eu\n  pulumiConfig: {size: 2, big: 1000000, tags: {a: x, b: y}, on: true}\n",
	"environments/team/dev.yaml": `imports: [base]
values:
  token:
    fn::open::env: {name: TOKEN}
  net:
    fn::open::pulumi-stacks:
      stacks: {it: {stack: net/dev}}
  pulumiConfig:
    tags: {b: z}
    aws:region: ${region}-1
    token: ${token}
    vpc: ${net.it.vpc}
    key: ${net.it.key}
    fixed: {fn::secret: plain}
  environmentVariables:
    REGION: ${region}
    LINES:
      fn::open::command: {command: [wc, -l]}
  files:
    CERT:
      fn::open::file: {path: cert.pem}
    NONE:
      fn::open::env: {name: NOWHERE, default: ""}
`,
	"cert.pem": "PEM\n",
}

func TestSection(t *testing.T) {
	t.Parallel()
	o := project(t, shared)
	for name, text := range map[string]string{
		"list": "environment:\n  - team/dev\nconfig: {}\n", "document": "environment: {imports: [team/dev]}\n",
		"json": `{"environment": {"imports": ["team/dev"]}}`, "json list": `{"environment": ["team/dev"], "config": {}}`,
	} {
		env, diags := o.Section(t.Context(), diag.NewSource("Pulumi.dev.yaml", []byte(text)))
		require.Empty(t, diags, name)
		require.JSONEq(t, `{"size": 2, "big": 1000000, "tags": {"a": "x", "b": "z"}, "on": true, "aws:region": "eu-1",
			"token": "of TOKEN", "vpc": "vpc-1", "key": "k", "fixed": "plain"}`, json(t, env.Part("pulumiConfig")), name)
		require.JSONEq(t, `{"REGION": "eu", "LINES": "wc -l"}`, json(t, env.Part("environmentVariables")))
		require.JSONEq(t, `{"CERT": "PEM\n", "NONE": ""}`, json(t, env.Part("files")))
		config := env.Part("pulumiConfig")
		for _, key := range config.Keys() {
			v, _ := config.Lookup(key)
			require.Equal(t, key == "token" || key == "key" || key == "fixed", v.ContainsSecret(), key)
		}
		require.True(t, env.Part("files").ContainsSecret())
	}
	env, diags := o.Section(t.Context(), diag.NewSource("Pulumi.dev.yaml",
		[]byte("environment:\n  imports: [base]\n  values: {pulumiConfig: {size: 4}}\n")))
	require.Empty(t, diags)
	require.Contains(t, json(t, env.Part("pulumiConfig")), `"size":4`)
	env, diags = o.Section(t.Context(), diag.NewSource("Pulumi.dev.yaml", []byte("config: {}\n")))
	require.Empty(t, diags)
	require.Zero(t, env.Part("pulumiConfig").Len())
}

// TestCheck: a check opens nothing and still knows the keys.
func TestCheck(t *testing.T) {
	t.Parallel()
	o := project(t, shared)
	o.Check, o.Lookup, o.Command, o.Outputs = true, nil, nil, nil
	env, diags, err := o.Named(t.Context(), "team/dev")
	require.NoError(t, err)
	require.Empty(t, diags)
	config := env.Part("pulumiConfig")
	require.Equal(t, []string{"aws:region", "big", "fixed", "key", "on", "size", "tags", "token", "vpc"}, config.Keys())
	for key, known := range map[string]bool{"aws:region": true, "size": true, "token": false, "vpc": false, "key": false} {
		v, _ := config.Lookup(key)
		require.Equal(t, known, v.IsKnown(), key)
	}
	require.NotContains(t, config.String(), "plain")
}

// TestFaults: each fault is one diagnostic with its place.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text         string // of environments/e.yaml
		place, wants string
		check        bool // a check finds it, too
	}{
		"keys beside the values": {"values:\nfiles: {A: b}\nother: 1\n", "environments/e.yaml:2:1",
			"unknown key files in an environment\nit belongs below `values`, as do other: indent them", true},
		"a key beside the values": {"values: {a: 1}\nfiles: {A: b}\n", "environments/e.yaml:2:1",
			"unknown key files in an environment\nit belongs below `values`: indent it", true},
		"the context of a service": {"values:\n  a: x-${context.pulumi.user.login}\n", "environments/e.yaml:2:",
			"a file has no context.pulumi\nOnly a service knows", true},
		"provider": {"values:\n  a:\n    fn::open::comand: {command: [x]}\n", "environments/e.yaml:3:5",
			"there is no provider fn::open::comand here; did you mean command?\nThe providers are command, env, file, " +
				"pulumi-stacks; reach clouds and vaults", true},
		"import": {"imports: [bse]\n", "environments/e.yaml:1:11", "there is no environment bse; did you mean base?\n" +
			"Its file would be environments/bse.yaml; make it with `yamlhost env init bse`.", true},
		"outside":  {"imports: [../e]\n", "environments/e.yaml:1:11", `"../e" is no name of an environment`, true},
		"version":  {"imports: [base@3]\n", "environments/e.yaml:1:11", "files have no version 3", true},
		"cycle":    {"imports: [e]\n", "environments/e.yaml:1:11", "cyclic import of e", true},
		"name":     {"values: {b: \"${reigon}\"}\n", "environments/e.yaml:1:13", `unknown property "reigon"`, true},
		"input":    {"values:\n  b:\n    fn::open::env: {nam: X}\n", "environments/e.yaml:3:20", "name", true},
		"syntax":   {"values:\n  a: [\n", "environments/e.yaml:2:6", "", true},
		"ciphered": {"values:\n  a: {fn::secret: {ciphertext: ZXNjeAAAAAFzZWFsZWQhIVhZaLs=}}\n", "environments/e.yaml:2:6", "the secret is sealed by a service, which alone can open it", false},
		"variable": {"values:\n  a:\n    fn::open::env: {name: NOWHERE}\n", "environments/e.yaml:3:5",
			"fn::open::env: the environment variable NOWHERE is not set, and there is no default", false},
		"file": {"values:\n  a: {fn::open::file: {path: x.pem}}\n", "environments/e.yaml:2:6",
			"fn::open::file: x.pem: it does not exist", false},
		"stack": {"values:\n  a:\n    fn::open::pulumi-stacks: {stacks: {it: {stack: a/b}}}\n", "environments/e.yaml:3:5",
			"fn::open::pulumi-stacks: stack a/b: no such stack", false},
		"infinite": {"values:\n  a: [-.inf]\n", "environments/e.yaml:2:7",
			"infinite numbers and NaN have no place in an environment\nput it in quotes if it may be a string", true},
		"too large": {"values:\n  a: {fn::fromJSON: '1e400'}\n", "environments/e.yaml:2:6",
			"infinite numbers and NaN have no place in an environment", true},
		"rotate": {"values:\n  a: {fn::rotate::x: {inputs: {}}}\n", "environments/e.yaml:2:6", "fn::rotate::x needs", true},
	} {
		for _, check := range []bool{false, true} {
			files := map[string]string{"environments/base.yaml": shared["environments/base.yaml"], "environments/e.yaml": c.text}
			o := project(t, files)
			o.Check = check
			_, diags := o.Section(t.Context(), diag.NewSource("Pulumi.dev.yaml", []byte("environment: [e]\n")))
			if check && !c.check {
				require.Empty(t, diags, name)
				continue
			}
			require.Len(t, diags, 1, "%s: %v", name, diags)
			d := diags[0]
			pos := d.Subject.StartPosition()
			place := d.Subject.Source.Name() + ":" + value.FormatNumber(float64(pos.Line)) + ":" +
				value.FormatNumber(float64(pos.Column))
			require.Contains(t, place, c.place, "%s: %s", name, d.Summary)
			require.Contains(t, d.Summary+"\n"+d.Detail, c.wants, name)
			require.Equal(t, map[bool]diag.Code{true: diag.Syntax, false: diag.BadEnvironment}[name == "syntax"], d.Code)
		}
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	o := project(t, shared)
	o.Denied = "the run is --untrusted"
	_, diags := o.Section(t.Context(), diag.NewSource("Pulumi.dev.yaml", []byte("environment: [team/dev]\n")))
	require.True(t, diags.HasErrors())
	require.Equal(t, "fn::open::env is refused: the run is --untrusted", diags[0].Summary)
	require.Len(t, diags, 5)
}

func TestNames(t *testing.T) {
	t.Parallel()
	o := project(t, shared)
	names, err := o.Names()
	require.NoError(t, err)
	require.Equal(t, []string{"base", "team/dev"}, names)
	names, err = environments.Options{Dir: t.TempDir()}.Names()
	require.NoError(t, err)
	require.Empty(t, names)
}
