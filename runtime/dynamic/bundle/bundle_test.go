package bundle

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write makes a folder of files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

var sources = map[string]string{
	"src/label.ts":                    "import { x } from './helper';\nimport thing from 'thing';\nexport default { create: (i: any) => ({ id: x + thing }) };\n",
	"src/helper.ts":                   "export const x: string = 'é';\n",
	"node_modules/thing/index.js":     "module.exports = 'thing';\n",
	"node_modules/thing/package.json": `{"name":"thing","main":"index.js"}`,
	"py/main.py":                      "import helper\nfrom pkg import part, other\nfrom pkg.deep import *\nimport os, json\n",
	"py/helper.py":                    "x = 1\n",
	"py/pkg/__init__.py":              "from . import sibling\n",
	"py/pkg/part.py":                  "",
	"py/pkg/sibling.py":               "",
	"py/pkg/deep.py":                  "",
	"py/pkg/unused.py":                "",
}

// TestDigestDependsOnSourcesAlone bundles the same sources in two folders.
func TestDigestDependsOnSourcesAlone(t *testing.T) {
	for _, source := range []string{"src/label.ts", "py/main.py"} {
		a, err := Make(Options{Dir: write(t, sources), Source: source})
		require.NoError(t, err)
		b, err := Make(Options{Dir: write(t, sources), Source: source})
		require.NoError(t, err)
		assert.Equal(t, a.Code, b.Code)
		assert.Equal(t, a.Digest, b.Digest)
		changed := map[string]string{}
		for name, text := range sources {
			changed[name] = text
		}
		changed["src/helper.ts"], changed["py/helper.py"] = "export const x = 'z';\n", "x = 2\n"
		c, err := Make(Options{Dir: write(t, changed), Source: source})
		require.NoError(t, err)
		assert.NotEqual(t, a.Digest, c.Digest)
	}
}

func TestFiles(t *testing.T) {
	dir := write(t, sources)
	node, err := Make(Options{Dir: dir, Source: "src/label.ts"})
	require.NoError(t, err)
	assert.Equal(t, []string{"node_modules/thing/index.js", "src/helper.ts", "src/label.ts"}, node.Files)
	python, err := Make(Options{Dir: dir, Source: "py/main.py"})
	require.NoError(t, err)
	assert.Equal(t, []string{"py/helper.py", "py/main.py", "py/pkg/__init__.py", "py/pkg/deep.py", "py/pkg/part.py", "py/pkg/sibling.py"}, python.Files)
}

func TestFaults(t *testing.T) {
	outside := write(t, map[string]string{"secret.ts": "export const x = 1;\n"})
	dir := write(t, map[string]string{
		"syntax.ts":  "export default {\n  create( => 1\n}\n",
		"missing.ts": "import x from './nothing';\nexport default x;\n",
		"away.ts":    "import { x } from '" + filepath.ToSlash(outside) + "/secret';\nexport default x;\n",
		"bad.py":     "\xff",
	})
	for source, want := range map[string]string{
		"syntax.ts":    "syntax.ts:2:11: ",
		"missing.ts":   `missing.ts:1:15: could not resolve "./nothing"`,
		"away.ts":      "the import secret.ts is outside of the project: move the file into it",
		"bad.py":       "bad.py: the file is not UTF-8",
		"none.py":      "none.py: there is no such file",
		"a.rb":         "a.rb: a source file ends in .ts, .mts, .cts, .js, .mjs, .cjs or .py",
		"../secret.ts": "../secret.ts: the file is outside of the project",
	} {
		_, err := Make(Options{Dir: dir, Source: source})
		assert.ErrorContains(t, err, want, source)
	}
}

// TestStubs serves a module that is not installed, and leaves one that is.
func TestStubs(t *testing.T) {
	stubs := map[string]string{"thing": "module.exports = 'stub';", "other": "module.exports = 'other stub';"}
	files := map[string]string{"a.ts": "import thing from 'thing';\nimport other from 'other';\nexport default thing + other;\n"}
	for name, text := range sources {
		files[name] = text
	}
	b, err := Make(Options{Dir: write(t, files), Source: "a.ts", Stubs: stubs})
	require.NoError(t, err)
	assert.Contains(t, b.Code, `"thing"`)
	assert.Contains(t, b.Code, "other stub")
	assert.NotContains(t, b.Code, `'stub'`)
}

func TestSourceMap(t *testing.T) {
	b, err := Make(Options{Dir: write(t, sources), Source: "src/label.ts"})
	require.NoError(t, err)
	found := false
	for line := 1; line < 60; line++ {
		if file, at, ok := b.Map.Source(line, 2); ok && file == "src/label.ts" && at == 3 {
			found = true
		}
	}
	assert.True(t, found, "no line of the bundle leads to src/label.ts:3")
	_, _, ok := (*Map)(nil).Source(1, 1)
	assert.False(t, ok)
}
