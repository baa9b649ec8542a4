package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDynamicCanaries passes secrets to a dynamic type through configuration, inputs, a bundle, a transform and
// messages. Its code prints everything that it receives. No output, state, journal, history or backup has a secret in
// plain text.
func TestDynamicCanaries(t *testing.T) {
	t.Parallel()
	path := needInterpreters(t)
	const program = `name: can
runtime: yaml
config:
  word: {type: string, secret: true}
dynamic:
  Note:
    provider: ./note.ts
    inputs: {text: {type: string, secret: true}, code: any, more: {type: string, optional: true}, fail: {type: boolean, default: false}}
transforms:
  - match: {type: "dynamic:Note"}
    properties: {more: {fn::secret: canary-transform}}
resources:
  note:
    type: dynamic:Note
    properties:
      text: canary-input
      fail: FAIL
      code: {fn::bundle: {entry: ./handler.ts, capture: {word: "${word}"}, secret: allow}}
messages:
  - the word is ${word}
  - {level: warning, resource: "${note}", message: "with ${note.text}"}
outputs: {text: "${note.text}", code: "${note.code}", heard: "${note.heard}", parts: "${note.parts.list[0]}"}
`
	const source = `let word = "";
const all = (inputs: any) => [word, inputs.text, inputs.more, JSON.stringify(inputs.code)].join(" ");
export default {
  configure(req: any) { word = req.config.require("word"); console.log("configured with " + word); },
  create(inputs: any) {
    console.log(all(inputs));
    console.error(all(inputs));
    if (inputs.fail) throw Object.assign(new Error("cannot make " + all(inputs)), { reasons: [all(inputs)], id: "1", properties: inputs });
    return { id: "1", outs: { ...inputs, heard: all(inputs), parts: { list: [inputs.more] } } };
  },
  update(_id: string, olds: any, inputs: any) {
    console.log(all(inputs));
    return { outs: { ...inputs, heard: olds.heard, parts: { list: [all(inputs)] } } };
  },
  delete(_id: string, props: any) { console.log(all(props)); },
};
`
	x := newTerminal(t, program)
	root := filepath.Join(x.world.Dir, "..")
	x.world.Env = append(x.world.Env, path, "PULUMI_CONFIG_PASSPHRASE=x", "TMPDIR="+filepath.Join(root, "home"))
	look := func(where, text string) {
		for _, canary := range []string{"canary-", "63616e6172792d", "Y2FuYXJ5", "NhbmFyeS", "jYW5hcnkt"} {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s: …%s…", where, text[max(0, i-80):min(len(text), i+60)])
			}
		}
	}
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, name), []byte(text), 0o600))
	}
	run := func(code int, args ...string) {
		t.Helper()
		require.Equal(t, code == 0, x.run(args...) == 0, "%v\n%s%s", args, x.out.String(), x.err.String())
		look("out of "+strings.Join(args, " "), x.out.String())
		look("err of "+strings.Join(args, " "), x.err.String())
	}
	write("note.ts", source)
	write("handler.ts", "import { word } from 'yamlhost:captured';\nexport const handler = () => word;\n")
	write("Pulumi.yaml", strings.Replace(program, "FAIL", "true", 1))
	run(0, "stack", "init", "dev")
	run(0, "config", "set", "--secret", "word", "canary-config")
	run(0, "preview", "--diff")
	run(1, "up", "--yes")
	require.Equal(t, 1, strings.Count(x.err.String(), "--suppress-secret-output"), x.err.String())
	write("Pulumi.yaml", strings.Replace(program, "FAIL", "false", 1))
	require.Contains(t, x.err.String(), "cannot make", "the error is told, without the secrets")
	run(0, "up", "--yes", "--diff")
	require.Contains(t, x.err.String(), "the word is [secret]")
	require.Contains(t, x.err.String(), "configured with", "the lines of the code are told, without the secrets")
	run(0, "config", "set", "--secret", "word", "canary-other")
	run(0, "up", "--yes", "--diff", "--debug")
	require.Contains(t, x.err.String(), "configured with")
	require.NotContains(t, x.err.String(), "--suppress-secret-output", "the first run has said it")
	run(0, "config", "set", "--secret", "word", "canary-third")
	run(0, "up", "--yes", "--debug", "--suppress-secret-output")
	require.NotContains(t, x.err.String(), "configured with")
	require.NotContains(t, x.err.String(), "To show none of it")
	run(0, "stack", "output")
	run(0, "stack", "output", "--json")
	run(0, "stack", "export")
	run(0, "destroy", "--yes")
	files := 0
	for _, dir := range []string{"home", "state"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(name)
			files++
			look(name, string(text))
			return err
		}))
	}
	require.Greater(t, files, 5)
}
