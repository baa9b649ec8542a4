package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"pgregory.net/rapid"
)

// L1.1, F3.1
func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Find(dir)
	require.ErrorIs(t, err, ErrNotFound)
	other := t.TempDir()
	testfile.Tree(t, other, map[string]string{"pulumi.YAML": ""})
	if _, err = Find(other); err != nil { // Windows finds the file
		require.ErrorIs(t, err, ErrNotFound)
		require.ErrorContains(t, err, "rename pulumi.YAML to Pulumi.yaml")
	}
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "Pulumi.yaml"), 0o700))
	_, err = Find(folder)
	require.ErrorIs(t, err, ErrNotFound)
	require.NotContains(t, err.Error(), "rename")
	testfile.Tree(t, dir, map[string]string{"Pulumi.yml": "", "a/b/c": ""})
	path, err := Find(filepath.Join(dir, "a", "b"))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "Pulumi.yml"), path)
	testfile.Tree(t, dir, map[string]string{"Pulumi.yaml": "", "Pulumi.json": ""})
	path, err = Find(dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "Pulumi.json"), path)
}

// L1.3–L1.7
func TestFindProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files          map[string]string
		dir, path      string
		code           diag.Code
		shadowed, main string
	}{
		"in the project file": {files: map[string]string{"Pulumi.yaml": "name: p\nresources: {}\n"}, path: "Pulumi.yaml"},
		"Main first":          {files: map[string]string{"Pulumi.yaml": "name: p", "Main.yaml": "{}"}, path: "Main.yaml"},
		"JSON before": {files: map[string]string{"Pulumi.yaml": "name: p", "Main.yaml": "{}", "Main.json": "{}"},
			path: "Main.json"},
		"yml": {files: map[string]string{"Pulumi.yaml": "name: p", "Main.yml": "{}"}, path: "Main.yml"},
		"shadowed": {files: map[string]string{"Pulumi.yaml": "name: p\nresources: {}\n", "Main.yaml": "{}"},
			path: "Main.yaml", code: diag.Ignored, shadowed: "Pulumi.yaml"},
		"main directory": {files: map[string]string{"Pulumi.yaml": "name: p\nmain: prog\n", "prog/Main.yaml": "{}"},
			dir: "prog", path: "prog/Main.yaml"},
		"main file": {files: map[string]string{"Pulumi.yaml": "name: p\nmain: prog/x.yaml\n", "prog/x.yaml": "{}"},
			dir: "prog", path: "prog/x.yaml"},
		"main missing": {files: map[string]string{"Pulumi.yaml": "name: p\nmain: prog\n"}, code: diag.NoProgram},
		"main of no text": {files: map[string]string{"Pulumi.yaml": "name: p\nmain: a.go\n", "a.go": ""},
			code: diag.NoProgram},
		"nothing in folder": {files: map[string]string{"Pulumi.yaml": "name: p\nmain: prog\n", "prog/x.yaml": "{}"},
			dir: "prog", code: diag.NoProgram},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testfile.Tree(t, dir, c.files)
			p, diags, err := Load(confine.Door{}, filepath.Join(dir, "Pulumi.yaml"), "Pulumi.yaml")
			require.NoError(t, err)
			require.Empty(t, diags)
			program, diags := p.FindProgram()
			if c.code != "" {
				require.Len(t, diags, 1)
				require.Equal(t, c.code, diags[0].Code)
			} else {
				require.Empty(t, diags)
			}
			if c.path != "" {
				require.Equal(t, filepath.Join(dir, c.path), program.Path)
				require.Equal(t, filepath.Join(dir, c.dir), program.Dir)
			} else {
				require.Empty(t, program.Path)
			}
			if c.shadowed != "" {
				require.Equal(t, filepath.Join(dir, c.shadowed), program.Shadowed)
			}
		})
	}
}

// L1.B, F3.1–F3.4: each fault is one diagnostic at its place.
func TestProjectFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, at, summary string // at is the text that the diagnostic points at
	}{
		"name missing":         {"runtime: yaml\n", "", "the project has no name"},
		"name misspelled":      {"nam: p\n", "nam", "the project has no name: found nam instead"},
		"name capitalised":     {"Name: p\n", "Name", "the project has no name: found Name instead"}, // L1.12
		"name with a space":    {"name: a b\n", "a b", `"a b" cannot be a project's name`},
		"name a number":        {"name: 12\n", "12", "name must be a string, found a number"},
		"description a number": {"name: p\ndescription: 12\n", "12", "description must be a string, found a number"},
		"runtime key": {"name: p\nruntime: {name: yaml, option: {}}\n", "option",
			"unknown key option in runtime; did you mean options?"},
		"backend key":    {"name: p\nbackend: {ur: x}\n", "ur", "unknown key ur in backend; did you mean url?"},
		"refresh":        {"name: p\noptions: {refresh: yes}\n", "yes", `options.refresh must be always, found "yes"`},
		"package source": {"name: p\npackages: {a: {version: '1'}}\n", "a", "packages.a has no source"},
		"plugin path": {"name: p\nplugins: {providers: [{name: a}]}\n", "{name: a}",
			"plugins.providers[0] has no path"},
		"config float key": {"name: p\nconfig: {a: {tpe: string, default: x}}\n", "tpe",
			"unknown key tpe in config.a; did you mean type?"},
		"config null": {"name: p\nconfig:\n  a:\n", "a", "config.a has no value"},
		"config type": {"name: p\nconfig: {a: {type: strin}}\n", "strin",
			`config.a.type must be a type, found "strin"; did you mean string?`},
		"array without items": {"name: p\nconfig: {a: {type: array}}\n", "array", "config.a is an array without items"},
		// L2.12
		"default of type": {"name: p\nconfig: {a: {type: integer, default: x}}\n", "x",
			"the default of `a` is a string, its type is integer"},
		"both": {"name: p\nconfig: {a: {default: 1, value: 2}}\n", "value",
			"config.a has both a default and a value"},
		"foreign type": {"name: p\nconfig: {aws:region: {type: string, value: x}}\n", "type",
			"config.aws:region cannot have a type: the key is not of this project"},
		"foreign no value": {"name: p\nconfig: {aws:region: {}}\n", "aws:region",
			"config.aws:region needs a value: the key is not of this project"},
		// L2.16
		"secret default": {"name: p\nconfig: {a: {type: string, secret: true, default: x}}\n", "x",
			"the default of `a` is not encrypted, but the key is secret"},
		"two directories": {"name: p\nconfig: x\nstackConfigDir: y\n", "config",
			"config and stackConfigDir both name the directory of the stack files"},
		"duplicate": {"name: p\nmain: .\nmain: x\n", "main", "main is declared twice (first at line 2)"},
		"empty":     {"", "", "the project file is empty"},
		"list":      {"- a\n", "- a", "a project file must be a map, found a list"},
		"quoted":    {"name: 'a b'\n", "'a b'", `"a b" cannot be a project's name`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := Parse(diag.NewSource("Pulumi.yaml", []byte(c.text)))
			require.Len(t, diags, 1)
			require.Equal(t, c.summary, diags[0].Summary)
			require.Equal(t, c.at, diags[0].Subject.Text())
		})
	}
}

func TestProjectFields(t *testing.T) {
	t.Parallel()
	p, diags := Parse(diag.NewSource("Pulumi.yaml", []byte(`name: p
runtime: {name: yaml}
backend: {url: file://x}
options: {refresh: always}
stackConfigDir: stacks
packages:
  a: terraform-provider@0.6.0
  b: {source: ./x, parameters: [y], checksums: {linux-amd64: ab}}
plugins: {providers: [{name: a, path: ./bin}]}
config: {a: {type: "List<String>"}, b: {default: null}}
resources: {anything: goes}
`)))
	require.Len(t, diags, 1)
	require.Equal(t, diag.Portability, diags[0].Severity)
	require.Equal(t, "yaml", p.Runtime)
	require.Equal(t, "file://x", p.BackendURL)
	require.True(t, p.RefreshAlways)
	require.Equal(t, "0.6.0", p.Packages[0].Version)
	require.Equal(t, "terraform-provider", p.Packages[0].Source)
	require.Equal(t, []string{"y"}, p.Packages[1].Parameters)
	plugins := slices.Clone(p.Plugins)
	for i := range plugins {
		require.NotEmpty(t, plugins[i].Range.Text())
		plugins[i].Range = diag.Range{}
	}
	require.Equal(t, []Plugin{{Kind: "providers", Name: "a", Path: "./bin"}}, plugins)
	require.Equal(t, "array of string", p.Config[0].Type.String())
	require.True(t, p.Config[1].Optional)
	p.Path, p.Dir = "/w/Pulumi.yaml", "/w"
	require.Equal(t, "/w/stacks/Pulumi.organization-p-dev.yaml", filepath.ToSlash(p.StackFile("organization/p/dev"))) // F3.7
}

// F3.5, F3.6, L2.14–L2.16
func TestMerge(t *testing.T) {
	t.Parallel()
	p, diags := Parse(diag.NewSource("Pulumi.yaml", []byte(`name: p
config:
  need: {type: string}
  need2: {}
  size: {type: integer, default: 3}
  flag: {type: boolean}
  ports: {type: array, items: {type: integer}}
  key: {type: string, secret: true}
  aws:region: eu
`)))
	require.Empty(t, diags)
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		config, diags, err := Merge(p, NewSettings("x", "p"), "dev", nil)
		require.NoError(t, err)
		for key, text := range config {
			require.Equal(t, text.Text, text.Value.Text())
			text.Value = diag.Range{}
			config[key] = text
		}
		require.Equal(t, map[Key]Text{{"p", "size"}: {Text: "3", FromProject: true},
			{"aws", "region"}: {Text: "eu", FromProject: true}}, config)
		var lines []int
		for _, d := range diags {
			require.Equal(t, diag.ConfigMissing, d.Code)
			lines = append(lines, d.Subject.StartPosition().Line)
		}
		require.Equal(t, []int{3, 4, 6, 7, 8}, lines)
	})
	t.Run("all there", func(t *testing.T) {
		t.Parallel()
		s := settings(t,
			"config: {need: x, need2: y, size: '4', flag: true, ports: [1, '2'], key: {secure: CIPHERTEXT(k)}, aws:region: us}")
		config, diags, err := Merge(p, s, "dev", fakeSecrets{})
		require.NoError(t, err)
		require.Empty(t, diags)
		for key, text := range config {
			require.Contains(t, text.Key.Text(), key.Name)
			text.Key, text.Value = diag.Range{}, diag.Range{}
			config[key] = text
		}
		require.Equal(t, map[Key]Text{
			{"p", "need"}: {Text: "x"}, {"p", "need2"}: {Text: "y"}, {"p", "size"}: {Text: "4"}, {"p", "flag"}: {Text: "true"},
			{"p", "ports"}: {Text: `[1,"2"]`, Structured: true}, {"p", "key"}: {Text: "k", Secret: true},
			{"aws", "region"}: {Text: "us"},
		}, config)
	})
	t.Run("wrong types", func(t *testing.T) {
		t.Parallel()
		s := settings(t, "config: {need: [x], need2: y, size: four, flag: 1, ports: 80, key: open, aws:region: us}")
		_, diags, err := Merge(p, s, "dev", nil)
		require.NoError(t, err)
		var summaries []string
		for _, d := range diags {
			require.Equal(t, diag.ConfigConversion, d.Code)
			summaries = append(summaries, d.Summary)
		}
		require.Equal(t, []string{
			"config p:need in stack dev: `[\"x\"]` is not a string",
			"config p:size in stack dev: `four` is not an integer",
			"config p:flag in stack dev: `1` is not a boolean",
			"config p:ports in stack dev: `80` is not an array of integer",
			"config p:key: the value in stack dev is not encrypted, but the key is secret",
		}, summaries)
	})
	t.Run("secrets are not shown", func(t *testing.T) {
		t.Parallel()
		s := settings(t,
			"config: {need: x, need2: y, size: {secure: CIPHERTEXT(hush)}, flag: true, ports: [], key: {secure: CIPHERTEXT(k)}}")
		_, diags, err := Merge(p, s, "dev", fakeSecrets{})
		require.NoError(t, err)
		require.Len(t, diags, 1)
		require.NotContains(t, fmt.Sprint(diags[0].Summary, diags[0].Detail), "hush")
	})
	t.Run("cannot decrypt", func(t *testing.T) {
		t.Parallel()
		_, _, err := Merge(p, settings(t, "config: {key: {secure: other}}"), "dev", fakeSecrets{})
		require.ErrorContains(t, err, "decrypt p:key")
	})
}

// The texts of a value that nobody reads are not shown, in a small or large file: no declaration says whether they are
// secret.
func TestUnreadTextsAreHidden(t *testing.T) {
	t.Parallel()
	project := func(src *diag.Source) diag.Diagnostics {
		_, found := Parse(src)
		return found
	}
	settings := func(src *diag.Source) diag.Diagnostics {
		_, found := ParseSettings(src, "p")
		return found
	}
	large := "\nresources:\n" + strings.Repeat("  r: {type: a:b:C}\n", 500)
	for name, c := range map[string]struct {
		read func(*diag.Source) diag.Diagnostics
		text string
	}{
		"unknown key":               {project, "name: p\nconfig: {token: {secret: true, defalt: hunter2}}"},
		"unknown key with a map":    {project, "name: p\nbackend: {ur: {a: [hunter2]}}"},
		"unknown key with an alias": {project, "name: p\nbackend: {ur: &x hunter2, or: *x}"},
		"certainly misspelt":        {project, "name: p\ntemplate: {config: {a: {secret: true, defaul: hunter2}}}"},
		"another kind":              {project, "name: p\nmain: [hunter2]"},
		"list for a map":            {project, "name: p\nconfig: [{token: hunter2}]"},
		"outside of config":         {settings, "p:token: hunter2"},
		"config is a list":          {settings, "config: [{p:token: hunter2}]"},
		"salt is a map":             {settings, "encryptionsalt: {v1: hunter2}"},
	} {
		for _, more := range []string{"", large} {
			src := diag.NewSource("f.yaml", []byte(c.text+more))
			var shown strings.Builder
			require.NoError(t, diag.WriteText(&shown, c.read(src), diag.TextOptions{}))
			require.Contains(t, shown.String(), " | ", name)
			require.NotContains(t, shown.String(), "hunter2", name)
		}
	}
}

// A large file is parsed without its program sections, which does not change positions.
func TestLargeProject(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "  r%d:\n    type: a:b:C\n", i)
	}
	resources := b.String()
	text := "name: p\nresources:\n" + resources + "# end\nmain: 3\noutputs:\n- x\n"
	src := diag.NewSource("Pulumi.yaml", []byte(text))
	_, diags := Parse(src)
	require.Len(t, diags, 1)
	require.Equal(t, "3", diags[0].Subject.Text())
	require.NotContains(t, string(blankProgram([]byte(text))), "type")

	aliased := "name: p\nresources: &x\n" + resources + "runtime: {name: nodejs, options: *x}\n"
	p, diags := Parse(diag.NewSource("Pulumi.yaml", []byte(aliased)))
	require.True(t, len(diags) == 0, "the whole text is read where a part of it is not enough")
	require.Equal(t, "nodejs", p.Runtime)
}

func FuzzProject(f *testing.F) {
	f.Add("name: p\nconfig: {a: {type: array, items: {type: integer}, default: [1]}}\n")
	f.Add("\xef\xbb\xbfname: 'x'\npackages: {a: b@1}\n")
	f.Fuzz(func(t *testing.T, text string) {
		src := diag.NewSource("p", StripBOM([]byte(text)))
		p, diags := Parse(src)
		for _, d := range diags {
			require.True(t, 0 <= d.Subject.Start && d.Subject.Start <= d.Subject.End && int(d.Subject.End) <= len(src.Text()))
		}
		_, _, err := Merge(p, NewSettings("x", "p"), "dev", nil)
		require.NoError(t, err)
	})
}

func BenchmarkParseLarge(b *testing.B) {
	text := []byte("name: p\nresources:\n" + strings.Repeat("  r:\n    type: a:b:C\n    properties: {a: 1, b: ${x.y}}\n",
		100_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Parse(diag.NewSource("p", text))
	}
}

// A path means the same with slashes and with backslashes, on every system, and each of the latter is named with the
// spelling that all systems have.
func TestBackslashesInPaths(t *testing.T) {
	t.Parallel()
	fields := []string{"main: '%s'\n", "stackConfigDir: '%s'\n", "config: '%s'\n", "packages: {a: '%s@1.2.3'}\n", "packages: {a: {source: '%s'}}\n",
		"plugins: {providers: [{name: a, path: '%s'}]}\n", "policyPacks: ['%s']\n", "policyPacks: [{path: '%s', config: '%[1]s'}]\n",
		"crds: '%s'\n", "crds: [a.yaml, '%s']\n"}
	part := rapid.SampledFrom([]string{".", "..", "a", "b c", "ü", "x.yaml", "C:", "*"})
	rapid.Check(t, func(t *rapid.T) {
		path := part.Draw(t, "first")
		for _, next := range rapid.SliceOfN(part, 1, 4).Draw(t, "parts") {
			path += rapid.SampledFrom([]string{"/", `\`}).Draw(t, "separator") + next
		}
		field := rapid.SampledFrom(fields).Draw(t, "field")
		read := func(path string) (*Project, diag.Diagnostics) {
			p, diags := Parse(diag.NewSource("Pulumi.yaml", []byte("name: p\n"+fmt.Sprintf(field, path))))
			p.Source = nil
			for _, l := range []*Literal{p.Main} {
				if l != nil {
					l.Range = diag.Range{}
				}
			}
			for i := range p.Packages {
				p.Packages[i].SourceRange, p.Packages[i].Name.Range = diag.Range{}, diag.Range{}
			}
			for i := range p.Plugins {
				p.Plugins[i].Range = diag.Range{}
			}
			for i := range p.PolicyPacks {
				p.PolicyPacks[i].Path.Range = diag.Range{}
			}
			for i := range p.CRDs {
				p.CRDs[i].Range = diag.Range{}
			}
			p.Name.Range = diag.Range{}
			return p, diags
		}
		portable := strings.ReplaceAll(path, `\`, "/")
		want, others := read(portable)
		got, diags := read(path)
		require.Equal(t, want, got)
		warned := slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Code != diag.FileAccess })
		require.Equal(t, path != portable, len(warned) > 0)
		for _, d := range warned {
			require.Equal(t, diag.Warning, d.Severity)
			require.Contains(t, d.Detail, portable)
		}
		require.False(t, slices.ContainsFunc(others, func(d diag.Diagnostic) bool { return d.Code == diag.FileAccess }))
	})
}

// Files that are one on Windows and macOS are named, on systems where they are two.
func TestLookalikes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testfile.Tree(t, dir, map[string]string{"Pulumi.yaml": "name: p\nmain: code\nstackConfigDir: stacks\n", "code/Main.yaml": "", "code/a.yaml": "",
		"code/A.yaml": "", "stacks/Pulumi.dev.yaml": "", "stacks/Pulumi.prod.yaml": "", "stacks/Pulumi.dev.json": ""})
	p, _, err := Load(confine.Anywhere(), filepath.Join(dir, "Pulumi.yaml"), "Pulumi.yaml")
	require.NoError(t, err)
	require.Empty(t, p.Lookalikes())
	testfile.Tree(t, dir, map[string]string{"pulumi.yaml": "", "code/main.yaml": "", "stacks/pulumi.dev.yaml": "", "stacks/Pulumi.Prod.yaml": ""})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 3 {
		t.Skip("this system keeps one of two such files")
	}
	var found []string
	for _, d := range p.Lookalikes() {
		require.Equal(t, diag.Warning, d.Severity)
		require.Equal(t, "Pulumi.yaml", d.Subject.Source.Name())
		name, _, _ := strings.Cut(d.Summary, " are one file")
		found = append(found, name)
	}
	require.ElementsMatch(t, []string{"Pulumi.yaml and pulumi.yaml", "Main.yaml and main.yaml", "Pulumi.dev.yaml and pulumi.dev.yaml",
		"Pulumi.Prod.yaml and Pulumi.prod.yaml"}, found)
}
