package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDynamicFaultsDisturbNobody runs code that fails in every way in real interpreters. Each failure gives one error
// that names the resource and the file. An unknown outcome leaves a pending operation. Other resources are created.
func TestDynamicFaultsDisturbNobody(t *testing.T) {
	t.Parallel()
	path := needInterpreters(t)
	const python = "class P:\n    def create(self, inputs):\n        "
	for name, c := range map[string]struct {
		file, text, says string
		unclear          bool // whether the object may exist
	}{
		"no export": {"t.ts", "const p = { create() {} };\nexport const x = 1;\n", "has no default export", false},
		"unknown method": {"t.ts", "export default { create() { return { id: '1' }; }, updat() {} };\n",
			"did you mean update?", false},
		"exit": {"t.ts", "export default { create() { process.exit(3); } };\n", "process.exit(3)", false},
		"loop": {"t.ts", "export default { create() { for (;;); } };\n", "took longer than 2s", true},
		"no JSON": {"t.ts", "export default { create() { const a = {}; a.a = a; return { id: '1', outs: a }; } };\n",
			"no JSON", true},
		"too large": {"t.ts", "const x = 'x'.repeat(65 << 20);\n" +
			"export default { create() { return { id: '1', outs: { x } }; } };\n", "64 MiB", true},
		"crash":             {"t.ts", "export default { create() { process.abort(); } };\n", "its process ended", true},
		"exit in Python":    {"t.py", python + "import sys; sys.exit(3)\n", "sys.exit(3)", false},
		"loop in Python":    {"t.py", python + "while True: pass\n", "took longer than 2s", true},
		"crash in Python":   {"t.py", python + "import os; os.abort()\n", "its process ended", true},
		"no JSON from it":   {"t.py", python + "return {'id': '1', 'outs': {'x': object()}}\n", "no JSON", true},
		"unknown in it":     {"t.py", python + "return {'id': '1'}\n    def raed(self): pass\n", "did you mean read?", false},
		"nothing to export": {"t.py", "x = 1\n", "has no provider", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := ""
			if strings.Contains(c.says, "2s") {
				options = ", options: {customTimeouts: {create: 2s}}"
			}
			x := newTerminal(t, "name: faults\nruntime: yaml\ndynamic:\n  T: {provider: ./"+c.file+"}\nresources:\n"+
				"  good: {type: \"random:RandomPet\"}\n"+
				"  bad: {type: \"dynamic:T\""+options+"}\n")
			x.world.Env = append(x.world.Env, path, "PULUMI_CONFIG_PASSPHRASE=x")
			require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, c.file), []byte(c.text), 0o600))
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			require.NotEqual(t, 0, x.run("up", "--yes", "--skip-preview"))
			said := x.err.String()
			require.Equal(t, 1, strings.Count(said, "error["), said)
			require.Contains(t, said, "bad: ")
			require.Contains(t, said, c.file)
			require.Contains(t, said, c.says)

			require.Equal(t, 0, x.run("stack", "export"), x.err.String())
			var export struct {
				Deployment struct {
					Resources         []struct{ URN string }
					PendingOperations []struct{ Type string } `json:"pending_operations"`
				}
			}
			require.NoError(t, json.Unmarshal(x.out.Bytes(), &export))
			var names []string
			for _, r := range export.Deployment.Resources {
				names = append(names, r.URN[strings.LastIndex(r.URN, ":")+1:])
			}
			require.Contains(t, names, "good", "others are made")
			require.NotContains(t, names, "bad")
			require.Equal(t, c.unclear, len(export.Deployment.PendingOperations) == 1, said)
		})
	}
}

// A create that answers without an ID fails its resource. It has answered, so the next run needs no decision about it.
func TestCreateWithoutID(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, `name: noid
runtime: yaml
dynamic: {D: {provider: ./d.js}}
resources: {a: {type: "dynamic:D"}}
`)
	x.world.Env = append(x.world.Env, needInterpreters(t), "PULUMI_CONFIG_PASSPHRASE=x")
	write := func(answer string) {
		text := "export default { async create() { return " + answer + "; } };\n"
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "d.js"), []byte(text), 0o600))
	}
	write("{outs: {}}")
	require.Zero(t, x.run("stack", "init", "dev"), x.err.String())
	require.NotZero(t, x.run("up", "--yes"))
	require.Contains(t, x.err.String(), "it returned no id. If it made an object, nothing manages that")
	write(`{id: "x", outs: {}}`)
	require.Zero(t, x.run("up", "--yes"), x.err.String())
	require.NotContains(t, x.err.String(), "interrupted")
}
