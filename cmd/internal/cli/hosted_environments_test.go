package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lspcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/lsp"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/test/service/host"
)

const inherits = `name: one
runtime: yaml
pulumi: {allowEnv: [REGION]}
config:
  size: {type: integer}
  token: {type: string, secret: true}
resources:
  pet: {type: random:RandomPet, properties: {length: "${size}", keepers: {token: "${token}"}}}
outputs: {token: "${token}", region: {"fn::env": REGION}}
`

// TestHostedEnvironments keeps environments at the service, from which stacks inherit. No output and no local file has
// a secret in plain text.
func TestHostedEnvironments(t *testing.T) {
	t.Parallel()
	x := newHosted(t, inherits)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, name), []byte(text), 0o644))
	}
	x.does("stack", "init", "dev")
	x.does("env", "init", "base")
	x.does("env", "init", "one/dev")
	require.Contains(t, x.fails("env", "init", "base"), "has an environment base already")
	require.Equal(t, "default/base\none/dev\n", x.does("env", "ls"))
	require.Contains(t, x.does("env", "get", "base"), "pulumiConfig: {}")
	write("base.yaml", "values:\n  environmentVariables: {REGION: eu}\n  pulumiConfig: {size: 2}\n"+
		"  long: [{fn::fromJSON: '-9007199254740993'}, 9223372036854775807]\n")
	x.does("env", "edit", "base", "--file", "base.yaml")
	write("bad.yaml", "values: {a: \"${nothing}\"}\n")
	require.Contains(t, x.fails("env", "init", "bad", "--file", "bad.yaml"), `unknown property "nothing"`)
	require.NotContains(t, x.does("env", "ls"), "bad")
	write("dev.yaml", "imports: [base]\nvalues:\n  login:\n    fn::open::test: {key: canary-opened}\n  fixed:\n"+
		"    fn::secret: canary-fixed\n  pulumiConfig: {token: \"${fixed}-${login.key}\"}\n  files: {CERT: \"${login.key}\"}\n")
	x.does("env", "edit", "one/dev", "--file", "dev.yaml")
	sealed := x.does("env", "get", "one/dev")
	require.Contains(t, sealed, "ciphertext")
	require.NotContains(t, sealed, "canary-fixed")

	said := x.fails("env", "edit", "one/dev", "--file", "bad.yaml")
	require.Contains(t, said, `unknown property "nothing"`)
	require.Contains(t, said, "bad.yaml:1:")
	require.Equal(t, sealed, x.does("env", "get", "one/dev"), "it has not been taken")
	for _, args := range [][]string{{"get", "two"}, {"open", "two"}, {"run", "two", "--", "true"}, {"rm", "two", "--yes"}} {
		said := x.fails(append([]string{"env"}, args...)...)
		require.Contains(t, said, "has no environment two\n`yamlhost env ls` lists them")
	}

	x.does("config", "env", "add", "one/dev")
	require.Contains(t, x.fails("config", "env", "add", "one/none"), "one/none")
	require.Zero(t, x.run("check", "--stack", "dev"), x.err.String())
	for _, args := range [][]string{{"up", "--yes", "--event-log=events.json"}, {"config"}, {"config", "--json"},
		{"env", "open", "one/dev"}, {"stack", "output"}, {"stack", "export"}, {"stack", "history", "--json"},
		{"preview", "--save-plan", "plan.json", "--expect-no-changes"}} {
		require.NotContains(t, x.does(args...)+x.err.String(), "canary", args)
	}
	require.Equal(t, "eu\n", x.does("stack", "output", "region", "--show-secrets"))
	require.Equal(t, "canary-fixed-canary-opened\n", x.does("stack", "output", "token", "--show-secrets"))
	require.Equal(t, "\"canary-fixed-canary-opened\"\n",
		x.does("env", "open", "one/dev", "pulumiConfig.token", "--show-secrets"))
	require.Equal(t, "2\n", x.does("env", "open", "tester/default/base", "pulumiConfig.size"))
	require.Equal(t, "[\n    -9007199254740993,\n    9223372036854775807\n]\n", x.does("env", "open", "base", "long"))
	x.world.Env = append(x.world.Env, "PATH="+os.Getenv("PATH"))
	require.NotContains(t, x.does("env", "run", "one/dev", "--", "sh", "-c", `echo $REGION; cat "$CERT"`), "canary")
	require.Contains(t, x.out.String(), "eu\n")
	for _, dir := range []string{x.world.Dir, x.world.Home} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "dev.yaml") {
				return err
			}
			text, err := os.ReadFile(path)
			require.NotContains(t, string(text), "canary", path)
			return err
		}))
	}

	editor := filepath.Join(t.TempDir(), "editor")
	require.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\nsed -i s/eu/us/ \"$1\"\n"), 0o755))
	x.world.Env = append(x.world.Env, "EDITOR="+editor)
	x.does("env", "edit", "base")
	require.Equal(t, "\"us\"\n", x.does("env", "open", "base", "environmentVariables.REGION"))

	usual := x.world.Env
	for token, way := range map[string]string{"wrong": "refuses the token, which is unknown or has expired; log in again with",
		"": "there is no token for it: log in with `yamlhost login " + x.url + "`"} {
		x.world.Env = append(usual, "PULUMI_ACCESS_TOKEN="+token)
		for _, args := range [][]string{{"env", "ls"}, {"env", "open", "base"}, {"stack", "ls"}, {"up", "--yes"}} {
			require.Contains(t, x.fails(args...), way, args)
		}
	}
	x.world.Env = usual

	// A missing or unreachable environment stops an update before it changes anything; check only warns.
	x.does("env", "rm", "base", "--yes")
	require.Contains(t, x.fails("up", "--yes"), "Pulumi.dev.yaml:1:1: error[Y227]")
	require.Contains(t, x.err.String(), "in the environment one/dev, line 1")
	settings, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.dev.yaml"))
	require.NoError(t, err)
	write("Pulumi.dev.yaml", "environment: [one/none]\n")
	require.Contains(t, x.fails("up", "--yes"), "= at: one/none")
	write("Pulumi.dev.yaml", string(settings))
	require.Contains(t, x.fails("up", "--yes", "--untrusted"), "the service is not asked for environments")
	x.Set(host.Behaviour{Forget: []string{"environments"}})
	require.Contains(t, x.fails("up", "--yes"), "it keeps no environments, or none of this organization")
	x.Set(host.Behaviour{Faults: []host.Fault{{Call: "/esc/", Status: 503}}})
	x.run("check", "--stack", "dev") // its exit code does not matter
	require.Contains(t, x.out.String()+x.err.String(), "are not known here")
	require.Contains(t, x.fails("up", "--yes"), "it answers with status 503")
}

// TestHostedOwner resolves names of environments without an organization: they belong to the owner of the stack in use,
// or else to the default organization, in every command and in the editor.
func TestHostedOwner(t *testing.T) {
	t.Parallel()
	const program = "name: one\nruntime: yaml\noutputs: {a: \"${size}\"}\n" // only the team's environment has size
	x := newHosted(t, program)
	path, settings := filepath.Join(x.world.Dir, "Pulumi.yaml"), filepath.Join(x.world.Dir, "Pulumi.dev.yaml")
	document := filepath.Join(x.world.Dir, "document.yaml")
	for _, owner := range []string{host.Team, host.User} {
		x.does("env", "init", owner+"/default/base")
		text := "values: {of: " + owner + ", pulumiConfig: {size: 2}}\n"
		if owner == host.User {
			text = strings.Replace(text, "size", "other", 1)
		}
		require.NoError(t, os.WriteFile(document, []byte(text), 0o644))
		x.does("env", "edit", owner+"/default/base", "--file", document)
		x.does("stack", "init", owner+"/one/dev", "--no-select")
	}
	require.NoError(t, os.WriteFile(settings, []byte("environment: [base]\n"), 0o644))
	usual := x.world.Env

	// holds requires that environments belong to owner. If selected is set, it also runs commands that have no --stack.
	holds := func(owner string, selected bool, flag ...string) {
		t.Helper()
		size := map[string]string{host.Team: "size", host.User: "other"}[owner]
		if selected {
			require.Equal(t, "\""+owner+"\"\n", x.does("env", "open", "base", "of"))
			require.Contains(t, x.does("env", "ls"), "default/base")
			editors := editor.NewSession(&lspcmd.ProgramOpener{Loaders: map[string]*lspcmd.KeptSchemas{},
				Console: &console.Console{World: x.world, Streams: x.streams}})
			editors.Open(path, program)
			found, err := editor.Diagnostics(t.Context(), editors.Snapshot(), path)
			require.NoError(t, err)
			require.Equal(t, owner == host.User, found[path].HasErrors(), found)
		}
		require.Contains(t, x.does(append([]string{"config"}, flag...)...), size)
		require.Equal(t, owner == host.User, x.run(append([]string{"check"}, flag...)...) != 0, x.out.String())
		require.Equal(t, owner == host.User, x.run(append([]string{"check", "--all"}, flag...)...) != 0, x.out.String())
		require.Equal(t, owner == host.User, x.run(append([]string{"preview"}, flag...)...) != 0, x.out.String())
	}
	require.Equal(t, "\"tester\"\n", x.does("env", "open", "base", "of"), "nothing is selected: the user's own")
	x.does("stack", "select", "team/one/dev")
	holds(host.Team, true)
	holds(host.User, false, "--stack", "dev")
	holds(host.User, false, "--stack", "tester/one/dev")
	x.does("stack", "select", "tester/one/dev")
	holds(host.User, true)
	holds(host.Team, false, "--stack", "team/one/dev")
	x.world.Env = append(usual, "PULUMI_STACK=team/one/dev")
	holds(host.Team, true)
	x.world.Env = append(usual, "PULUMI_STACK=dev")
	holds(host.User, true)
	x.does("org", "set-default", "team")
	holds(host.Team, true)
	x.world.Env = usual
	holds(host.User, true)
	x.does("stack", "select", "dev")
	x.does("stack", "unselect")
	require.Equal(t, "\"team\"\n", x.does("env", "open", "base", "of"), "nothing is selected: the default organization")
}
