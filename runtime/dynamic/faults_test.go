package dynamic

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// startCode configures the type T of a source with the given text. path lists the folders of the interpreters.
func startCode(t *testing.T, source, text, path string) provider.Configured {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, source), []byte(text), 0o600))
	b, err := bundle.Make(bundle.Options{Dir: dir, Source: source})
	require.NoError(t, err)
	p, err := NewLoader(Options{Dir: dir, Environ: os.Environ(), Path: filepath.SplitList(path), Project: "p",
		Stack: "dev"}).
		Load(t.Context(), provider.Package{Name: Package})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Close()) })
	c, err := p.Configure(t.Context(), provider.ConfigureRequest{Inputs: strs("source", source, "language",
		string(b.Language), "digest", b.Digest,
		"code", b.Code).With("types", value.Map(map[string]value.Value{"T": value.EmptyMap()}))})
	require.NoError(t, err)
	return c
}

// A fault of a source or of its answers gives one clear error that names the file and has the right outcome (D15).
func TestFaultsOfSources(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"node", "python3"} {
		if findProgram(name, filepath.SplitList(os.Getenv("PATH"))) == "" {
			t.Skipf("there is no %s on PATH", name)
		}
	}
	for _, c := range []struct {
		name, source, text, says string
		outcome                  provider.Outcome
	}{
		{"no export", "t.ts", "class P { create() {} }\nexport const x = 1;\n",
			`t.ts has no default export: write "export default" before the provider`, provider.NothingHappened},
		{"no provider", "t.ts", "export default { creat() {} };\n", "t.ts exports no provider: it needs a method create",
			provider.NothingHappened},
		{"no class", "t.py", "x = 1\n", "t.py", provider.NothingHappened},
		{"fails while it loads", "t.ts", "throw new Error('too early');\n", "too early", provider.NothingHappened},
		{"fails in configure", "t.ts", "export default { configure() { throw new Error('no way') }, create() {} };\n",
			"t.ts: no way", provider.NothingHappened},
		{"garbage between answers", "t.js",
			"module.exports = { create() { require('fs').writeSync(4, 'garbage\\n'); return { id: 'a' }; } };\n", "t.js",
			provider.Unclear},
		{"an answer that is not JSON", "t.js",
			"module.exports = { create() { const a = {}; a.a = a; return { id: 'a', outs: a }; } };\n", "no JSON",
			provider.Unclear},
		{"an answer that is too large", "t.js",
			"module.exports = { create() { return { id: 'a', outs: { x: 'x'.repeat((64 << 20) + 1) } }; } };\n", "64 MiB",
			provider.Unclear},
		{"it kills itself", "t.js",
			"module.exports = { create() { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}); } };\n",
			"its process ended", provider.Unclear},
		{"a method of another name", "t.ts",
			"export default class { create() { return { id: 'a' }; } helper() {} async udpate() {} };\n",
			"t.ts has a method udpate, which is never called: did you mean update?", provider.NothingHappened},
		{"a method of another name in Python", "t.py",
			"class P:\n    def create(self, inputs): return {'id': 'a'}\n    def help(self): pass\n    def Delete(self): pass\n",
			"t.py has a method Delete, which is never called: did you mean delete?", provider.NothingHappened},
		{"python says nonsense", "t.py",
			"import os\nclass P:\n    def create(self, inputs):\n        os.write(4, b'garbage\\n')\n        return {'id': " +
				"'a'}\n", "t.py", provider.Unclear},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := startCode(t, c.source, c.text, os.Getenv("PATH"))
			_, err := p.Create(t.Context(), provider.CreateRequest{Subject: subject("T", "t"), Inputs: value.EmptyMap()})
			var failed *provider.Error
			require.ErrorAs(t, err, &failed)
			assert.Contains(t, failed.Error(), c.says)
			assert.Contains(t, failed.Error(), c.source)
			assert.Equal(t, c.outcome, failed.Outcome, "%s", failed)
		})
	}
}

// An interpreter that is too old gives one error that names the version; the outcome is NothingHappened.
func TestOldInterpreter(t *testing.T) {
	t.Parallel()
	for source, c := range map[string]struct{ program, wrapper, text, says string }{
		"t.js": {"node", "#!/bin/sh\nexec %s --require %s/old \"$@\"\n",
			"module.exports = { create() { return { id: 'a' }; } };\n",
			"dynamic providers need Node.js 18 or newer, this is 16.20.0"},
		"t.py": {"python3", "#!/bin/sh\nPYTHONPATH=%[2]s exec %[1]s \"$@\"\n",
			"class P:\n    def create(self, inputs): return {'id': 'a'}\n", "3.9 or newer"},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			real := findProgram(c.program, filepath.SplitList(os.Getenv("PATH")))
			if real == "" {
				t.Skipf("there is no %s on PATH", c.program)
			}
			dir := t.TempDir()
			old := "Object.defineProperty(process.versions, 'node', { value: '16.20.0' });\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "old.js"), []byte(old), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "sitecustomize.py"),
				[]byte("import sys\nsys.version_info = (3, 8, 0, 'final', 0)\n"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, c.program), fmt.Appendf(nil, c.wrapper, real, dir), 0o700))
			p := startCode(t, source, c.text, dir)
			_, err := p.Create(t.Context(), provider.CreateRequest{Subject: subject("T", "t"), Inputs: value.EmptyMap()})
			var failed *provider.Error
			require.ErrorAs(t, err, &failed)
			assert.Contains(t, failed.Error(), c.says)
			assert.Contains(t, failed.Error(), source)
			assert.Equal(t, provider.NothingHappened, failed.Outcome)
		})
	}
}

// TestSlips distinguishes misspelled methods from the author's other methods.
func TestSlips(t *testing.T) {
	t.Parallel()
	defined := []string{"create", "read", "configure"}
	for _, name := range []string{"updat", "udpate", "Update", "up_date", "updates", "delte", "chek", "dif"} {
		require.ErrorContains(t, slip("f.py", defined, []string{"call", name}),
			"a method "+name+", which is never called: "+"did you mean")
	}
	for _, name := range []string{"creates", "configured", "call", "reed", "up", "fetch", "checkName", "undelete"} {
		require.NoError(t, slip("f.py", defined, []string{name}), name)
	}
}
