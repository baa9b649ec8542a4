package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestResourcesOfPulumisSDK creates, updates, refreshes and deletes a dynamic resource of Pulumi's Node.js SDK with the
// provider of that SDK. The input __provider is a serialized closure, as TypeScript programs leave it in their states.
func TestResourcesOfPulumisSDK(t *testing.T) {
	t.Parallel()
	sdk := os.Getenv("YAMLHOST_PULUMI_NODE")
	if sdk == "" {
		t.Skip("set YAMLHOST_PULUMI_NODE to a folder in which npm has installed @pulumi/pulumi to run this test")
	}
	path := needInterpreters(t)
	program := func(text string) string {
		return "name: sdk\nruntime: yaml\nconfig: {color: {default: red}}\nresources:\n  note:\n    type: " +
			"pulumi-nodejs:dynamic:Resource\n    properties:\n" +
			"      __provider: {fn::readFile: provider.js}\n      text: " + text +
			"\noutputs: {text: \"${note.text}\", color: \"${note.color}\"}\n"
	}
	x := newTerminal(t, program("one"))
	x.world.Env = append(x.world.Env, path+string(os.PathListSeparator)+filepath.Join(sdk, "node_modules", "@pulumi",
		"pulumi"), "PULUMI_CONFIG_PASSPHRASE=x", "HOME="+filepath.Join(x.world.Dir, "..", "home"))
	require.NoError(t, os.Symlink(filepath.Join(sdk, "node_modules"), filepath.Join(x.world.Dir, "node_modules")))
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "provider.js"), []byte(`exports.handler = () => {
  let color;
  return {
    async configure(req) { color = req.config.get("color") + req.config.get("other:size"); },
    async create(inputs) { return { id: "1", outs: { text: inputs.text, color } }; },
    async update(id, olds, news) { return { outs: { text: news.text, color } }; },
    async read(id, props) { return { id, props }; },
    async delete() {},
  };
};
`), 0o600))
	run := func(args ...string) {
		t.Helper()
		require.Equal(t, 0, x.run(args...), "%v\n%s%s", args, x.out.String(), x.err.String())
	}
	run("stack", "init", "dev")
	run("config", "set", "color", "blue")
	run("config", "set", "other:size", "9")
	run("up", "--yes")
	run("stack", "output", "color")
	require.Contains(t, x.out.String(), "blue9", "short and full keys are there")
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(program("two")), 0o600))
	run("up", "--yes")
	run("stack", "output", "text")
	require.Contains(t, x.out.String(), "two")
	run("refresh", "--yes")
	run("preview", "--expect-no-changes")
	require.NoError(t, os.Remove(filepath.Join(x.world.Dir, "provider.js")))
	run("destroy", "--yes", "--skip-preview")
}
