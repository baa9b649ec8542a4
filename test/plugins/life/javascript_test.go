package life

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTakingOverDynamicResources creates a stack with a dynamic resource of a JavaScript program with the Pulumi CLI,
// npm's SDK and its provider. yamlhost takes it over and changes it, and the Pulumi CLI goes on.
func TestTakingOverDynamicResources(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"npm", "node"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name + " is not installed")
		}
	}
	installed, err := automation()
	require.NoError(t, err)
	modules := filepath.Join(installed, "node_modules")
	s := newSandbox(t)
	s.env = append(s.env, "PATH="+s.bin+":"+filepath.Join(modules, "@pulumi", "pulumi")+":/usr/bin:/bin")
	require.NoError(t, os.Symlink(modules, filepath.Join(s.dir, "node_modules")))
	s.write("package.json", `{"name": "notes", "main": "index.js"}`)
	s.write("index.js", `const pulumi = require("@pulumi/pulumi");
const provider = {
  async configure(req) { this.color = req.config.get("color") + req.config.get("other:size"); },
  async create(inputs) { return { id: "n-" + inputs.text, outs: { text: inputs.text, color: this.color } }; },
  async update(id, olds, news) { return { outs: { text: news.text, color: this.color } }; },
  async read(id, props) { return { id, props }; },
  async delete() {},
};
class Note extends pulumi.dynamic.Resource {
  constructor(name, args, opts) { super(provider, name, { color: undefined, ...args }, opts); }
}
const note = new Note("note", { text: new pulumi.Config().require("text") });
exports.text = note.text;
exports.color = note.color;
`)
	const head = "name: notes\nruntime: "
	javascript := func() { s.write("Pulumi.yaml", head+"nodejs\n") }
	javascript()
	s.pulumi("stack", "init", "dev")
	for _, setting := range []string{"text=one", "color=blue", "other:size=9"} {
		key, value, _ := strings.Cut(setting, "=")
		s.pulumi("config", "set", key, value)
	}
	s.pulumi("up", "--yes", "--skip-preview")

	t.Log("taken over: the code is what the state has")
	code := s.resources()["note"]["inputs"].(map[string]any)["__provider"].(string)
	s.write("provider.js", code)
	s.write("Pulumi.yaml", head+`yaml
config: {text: {type: string}}
resources:
  note:
    type: pulumi-nodejs:dynamic:Resource
    properties:
      __provider: {fn::readFile: provider.js}
      text: ${text}
outputs: {text: "${note.text}", color: "${note.color}"}
`)
	s.run(0, "preview", "--expect-no-changes")
	s.run(0, "refresh", "--yes", "--skip-preview")
	s.run(0, "config", "set", "text", "two")
	s.run(0, "up", "--yes", "--skip-preview")
	require.Equal(t, map[string]any{"text": "two", "color": "blue9"}, s.outputs())

	t.Log("and given back")
	javascript()
	s.pulumi("preview", "--expect-no-changes")
	s.pulumi("config", "set", "text", "three")
	s.pulumi("up", "--yes", "--skip-preview")
	s.pulumi("refresh", "--yes", "--skip-preview")
	require.Equal(t, map[string]any{"text": "three", "color": "blue9"}, s.outputs())
	s.run(0, "destroy", "--yes", "--skip-preview")
	require.Empty(t, s.resources())
}
