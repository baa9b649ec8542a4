package bundle

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// write writes files to a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	testfile.Tree(t, dir, files)
	return dir
}

var sources = map[string]string{
	"src/label.ts": "import { x } from './helper';\nimport thing from 'thing';\nexport default { " +
		"create: (i: any) => ({ id: x + thing }) };\n",
	"src/helper.ts":                   "export const x: string = 'é';\n",
	"node_modules/thing/index.js":     "module.exports = 'thing';\n",
	"node_modules/thing/package.json": `{"name":"thing","main":"index.js"}`,
	"py/main.py": "import helper\nfrom pkg import part, other\nfrom pkg.deep import *\nimport os, " +
		"json\n",
	"py/helper.py":       "x = 1\n",
	"py/pkg/__init__.py": "from . import sibling\n",
	"py/pkg/part.py":     "",
	"py/pkg/sibling.py":  "",
	"py/pkg/deep.py":     "",
	"py/pkg/unused.py":   "",
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
		maps.Copy(changed, sources)
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
	assert.Equal(t, []string{"py/helper.py", "py/main.py", "py/pkg/__init__.py", "py/pkg/deep.py", "py/pkg/part.py",
		"py/pkg/sibling.py"}, python.Files)
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
		"none.ts":      "none.ts: there is no such file",
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

// A stub replaces a module that is not installed, but not an installed one.
func TestStubs(t *testing.T) {
	stubs := map[string]string{"thing": "module.exports = 'stub';", "other": "module.exports = 'other stub';"}
	files := map[string]string{"a.ts": "import thing from 'thing';\nimport other from 'other';\nexport default thing + " +
		"other;\n"}
	maps.Copy(files, sources)
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
		if file, i, ok := b.Map.Source(line, 2); ok && file == "src/label.ts" && i == 3 {
			found = true
		}
	}
	assert.True(t, found, "no line of the bundle leads to src/label.ts:3")
	_, _, ok := (*Map)(nil).Source(1, 1)
	assert.False(t, ok)
}

// L10.C18: a handler depends only on its sources, not on the folder, the permissions and times of files, or the time
// zone.
func TestHandlerIsAFunctionOfItsSources(t *testing.T) {
	for source, want := range map[string][]string{
		"src/label.ts": {"index.js"},
		"py/main.py":   {"helper.py", "main.py", "pkg/__init__.py", "pkg/deep.py", "pkg/part.py", "pkg/sibling.py"},
	} {
		t.Setenv("TZ", "America/Lima")
		first, err := Make(Options{Dir: write(t, sources), Source: source, Handler: &Handler{}})
		require.NoError(t, err)
		require.Equal(t, want, slices.Sorted(maps.Keys(first.Texts)))
		t.Setenv("TZ", "Asia/Tokyo")
		dir := write(t, sources)
		require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			return errors.Join(os.Chmod(path, 0o600), os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)))
		}))
		second, err := Make(Options{Dir: dir, Source: source, Handler: &Handler{}})
		require.NoError(t, err)
		require.Equal(t, first.Texts, second.Texts)
		require.Equal(t, first.Digest, second.Digest)
	}
}

// L10.C18: errors about handlers name the file, and the line if it is known.
func TestHandlerFaults(t *testing.T) {
	dir := write(t, map[string]string{
		"a.ts":     "import { table } from 'yamlhost:captured';\nexport const handler = () => table;\n",
		"b.ts":     "import './nothing';\nexport const handler = 1;\n",
		"c.py":     "import os\nfrom .nothing import x\nfrom .pkg import y\n\nasync def handler(event):\n    pass\n",
		"pkg/z.py": "",
		"d.py":     "from yamlhost_captured import captured\n\ndef handler(e): return captured\n",
		"e.py":     "from .pkg import y\nhandler = 1\n",
		"f.ts":     "import aws from '@aws-sdk/client-s3';\nexport const handler = aws;\n",
	})
	for _, c := range []struct {
		source string
		h      Handler
		want   string
	}{
		{"a.ts", Handler{}, "a.ts:1:23: nothing is captured: add capture to the call of fn::bundle"},
		{"a.ts", Handler{Captured: true, Export: "hundler"}, `a.ts: the file exports no "hundler"`},
		{"a.ts", Handler{Captured: true, Export: "a; b"}, `a.ts: a module cannot export "a; b"`},
		{"b.ts", Handler{}, `b.ts:1:8: could not resolve "./nothing"`},
		{"b.ts", Handler{Export: "handler"}, `b.ts:1:8: could not resolve "./nothing"`},
		{"c.py", Handler{Export: "handler"}, "c.py:2:1: there is no module .nothing"},
		{"d.py", Handler{}, "d.py:1:1: nothing is captured: add capture to the call of fn::bundle"},
		{"e.py", Handler{Export: "main"}, "e.py: the file has no main"},
		{"f.ts", Handler{}, `f.ts:1:17: could not resolve "@aws-sdk/client-s3"`},
		{"none.ts", Handler{}, "none.ts: there is no such file"},
	} {
		_, err := Make(Options{Dir: dir, Source: c.source, Handler: &c.h})
		require.ErrorContains(t, err, c.want)
	}
	for source, h := range map[string]Handler{"a.ts": {Captured: true, Export: "handler"},
		"d.py": {Captured: true, Export: "handler"}, "e.py": {Export: "handler"}} {
		b, err := Make(Options{Dir: dir, Source: source, Handler: &h})
		require.NoError(t, err, source)
		require.NotEmpty(t, b.Texts)
	}
	b, err := Make(Options{Dir: dir, Source: "f.ts", External: []string{"@aws-sdk/*"}, Handler: &Handler{}})
	require.NoError(t, err)
	require.Contains(t, b.Code, `require("@aws-sdk/client-s3")`)
	_, err = Make(Options{Dir: dir, Source: "a.ts"})
	require.ErrorContains(t, err, "a provider captures nothing")
}

// An untrusted program cannot read a file outside of its folder, not even through a link in node_modules (D13).
func TestConfined(t *testing.T) {
	outside := write(t, map[string]string{"secret.json": `{"key": "canary"}`})
	dir := write(t, map[string]string{"a.ts": "import key from 'thing/secret.json';\nexport default key;\n"})
	require.NoError(t, os.Mkdir(filepath.Join(dir, "node_modules"), 0o755))
	if err := os.Symlink(outside, filepath.Join(dir, "node_modules", "thing")); err != nil {
		t.Skip("this system has no symbolic links: ", err)
	}
	_, err := Make(Options{Dir: dir, Source: "a.ts", Confined: true, Handler: &Handler{}})
	require.ErrorContains(t, err, "outside of the project")
	require.NotContains(t, err.Error(), "canary")
}

// BenchmarkHandler bundles a file with 200 modules.
func BenchmarkHandler(b *testing.B) {
	dir := b.TempDir()
	text := ""
	for i := range 200 {
		name := "m" + strconv.Itoa(i)
		text += "import { " + name + " } from './" + name + "';\n"
		module := "export function " + name + "(x: number): number { return x + " + strconv.Itoa(i) + "; }\n"
		require.NoError(b, os.WriteFile(filepath.Join(dir, name+".ts"), []byte(module), 0o644))
	}
	text += "export const handler = () => ["
	for i := range 200 {
		text += "m" + strconv.Itoa(i) + "(1), "
	}
	require.NoError(b, os.WriteFile(filepath.Join(dir, "entry.ts"), []byte(text+"];\n"), 0o644))
	for b.Loop() {
		_, err := Make(Options{Dir: dir, Source: "entry.ts", Handler: &Handler{Export: "handler"}})
		require.NoError(b, err)
	}
}
