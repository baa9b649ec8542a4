package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
)

// TestCanariesOfEmbeddedProviders gives secrets to the built-in providers in ways that reach other outputs. No output of
// a command, report, state, journal or history has one in plain text, also after the program no longer holds it.
func TestCanariesOfEmbeddedProviders(t *testing.T) {
	t.Parallel()
	const program = `name: can
runtime: yaml
resources:
  e: {type: "command:local:Command", properties: {create: "echo $X", environment: {X: {fn::secret: canary-env}}}}
  i: {type: "command:local:Command", properties: {create: "cat >&2; ls", stdin: {fn::secret: canary-stdin}}}
  c: {type: "command:local:Command", properties: {create: {fn::secret: "echo canary-create"}}}
  id: {type: "random:RandomId", properties: {byteLength: 4, prefix: {fn::secret: canary-prefix}, keepers: {k: {fn::secret: canary-k}}}}
  mix: {type: "random:RandomShuffle", properties: {inputs: [{fn::secret: canary-item}, other]}}
  key: {type: "tls:PrivateKey", properties: {algorithm: ED25519}}
  ask:
    type: tls:CertRequest
    properties: {privateKeyPem: "${key.privateKeyPem}", subject: {commonName: {fn::secret: canary-name}}}
  wait: {type: "time:Sleep", properties: {createDuration: 1ms, triggers: {k: {fn::secret: canary-trigger}}}}
variables:
  ran: {fn::invoke: {function: "command:local:run", arguments: {command: {fn::secret: "echo canary-run"}}}}
  upper: {fn::invoke: {function: "std:upper", arguments: {input: {fn::secret: canary-upper}}}}
outputs:
  e: ${e.stdout}
  i: {all: ["${i.stderr}"]}
  c: ${c.stdout}
  id: ${id.hex} ${id.b64Std}
  mix: ${mix.results}
  ask: ${ask.certRequestPem}
  ran: ${ran.stdout}
  upper: ${upper.result}
`
	x := newTerminal(t, program)
	root := filepath.Join(x.world.Dir, "..")
	x.world.Env = append(x.world.Env, "PATH="+os.Getenv("PATH"), "PULUMI_CONFIG_PASSPHRASE=x",
		"TMPDIR="+filepath.Join(root, "home"))
	look := func(where, text string) {
		for _, canary := range []string{"canary-", "CANARY-", "63616e6172792d", "Y2FuYXJ5", "NhbmFyeS", "jYW5hcnkt"} {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s: …%s…", where, text[max(0, i-80):min(len(text), i+60)])
			}
		}
	}
	run := func(args ...string) {
		t.Helper()
		require.Zero(t, x.run(args...), "%v\n%s%s", args, x.out.String(), x.err.String())
		look("out of "+strings.Join(args, " "), x.out.String())
		look("err of "+strings.Join(args, " "), x.err.String())
	}
	files := func() {
		t.Helper()
		for _, dir := range []string{"home", "state", "reports"} {
			require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(name string, e fs.DirEntry, err error) error {
				if err != nil || !e.Type().IsRegular() {
					return err
				}
				text, err := os.ReadFile(name)
				look(name, string(text))
				return err
			}))
		}
	}
	run("stack", "init", "dev")
	run("preview", "--diff")
	run(append([]string{"up", "--yes", "--diff"}, allKinds(filepath.Join(root, "reports"))...)...)
	for _, args := range [][]string{{"stack", "output"}, {"stack", "output", "--json"}, {"stack", "output", "e"},
		{"stack", "export"}, {"stack"}, {"stack", "history", "--json"}, {"refresh", "--yes", "--diff"},
		{"preview", "--json"}} {
		run(args...)
	}
	files()
	// The program forgets the secrets; the state does not.
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(`name: can
runtime: yaml
resources:
  e: {type: "command:local:Command", properties: {create: "echo again $PULUMI_COMMAND_STDOUT"}}
outputs: {e: "${e.stdout}"}
`), 0o600))
	run("preview", "--diff")
	run("up", "--yes", "--diff")
	run("stack", "output", "--json")
	run("destroy", "--yes")
	files()
}

// An ID that is made of a secret is said to be public: the state has it, and no report.
func TestIDsMadeOfSecrets(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, `name: can
runtime: yaml
resources:
  pet: {type: "random:RandomPet", properties: {prefix: {fn::secret: canary}}}
  other: {type: "random:RandomPet", properties: {prefix: left, keepers: {k: {fn::secret: canary}}}}
`)
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
	require.Zero(t, x.run("stack", "init", "dev"))
	reports := filepath.Join(x.world.Dir, "..", "reports")
	require.Zero(t, x.run(append([]string{"up", "--yes"}, allKinds(reports)...)...), x.err.String())
	require.Equal(t, 1, strings.Count(x.err.String(), "the text of the secret input `prefix`"), x.err.String())
	for _, kind := range report.Kinds() {
		text, err := os.ReadFile(filepath.Join(reports, kind))
		require.NoError(t, err)
		require.NotContains(t, string(text), "canary", kind)
	}
	for _, args := range [][]string{{"up", "--yes"}, {"up", "--yes", "--json"}, {"preview", "--json"}} {
		require.Zero(t, x.run(args...), x.err.String())
		require.NotContains(t, x.err.String(), "secret input")
		require.NotContains(t, x.out.String()+x.err.String(), "canary", args)
	}
	require.Zero(t, x.run("stack", "export"))
	require.Contains(t, x.out.String(), `"id": "canary-`)
}
