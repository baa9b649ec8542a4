package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	testfile.Tree(t, dir, files)
	return dir
}

func open(t *testing.T, files map[string]string, o workspace.Options) *workspace.Workspace {
	t.Helper()
	dir := folder(t, files)
	o.Shown = workspace.Relative(dir)
	w, err := workspace.Open(dir, o)
	require.NoError(t, err)
	return w
}

// noSchemas knows no package.
func noSchemas() (schema.Loader, func() bool) {
	return schema.NewLoader(func(context.Context, schema.Descriptor) ([]byte, error) { return nil, schema.ErrNotFound }),
		func() bool { return false }
}

// A program that was parsed to order projects is checked without being parsed again, but only once and only if its
// files are unchanged.
func TestTexts(t *testing.T) {
	t.Parallel()
	const text = "name: p\nruntime: yaml\noutputs:\n  a: ${missing}\n"
	for name, c := range map[string]struct {
		files  map[string]string
		change func(t *testing.T, dir string)
		reused bool
	}{
		"same": {map[string]string{"Pulumi.yaml": text}, func(*testing.T, string) {}, true},
		"beside": {map[string]string{"Pulumi.yaml": "name: p\nruntime: yaml\n", "Main.yaml": "outputs: {a: 1}\n"},
			func(*testing.T, string) {}, true},
		"changed": {map[string]string{"Pulumi.yaml": text}, func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(text+"  b: 1\n"), 0o600))
		}, false},
		"with a part": {map[string]string{"Pulumi.yaml": text + "include: ['part-*.yaml']\n",
			"part-a.yaml": "outputs: {c: 1}\n"}, func(*testing.T, string) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, c.files)
			o := workspace.Options{Shown: workspace.Relative(dir), Texts: workspace.NewTexts()}
			first, err := workspace.Open(dir, o)
			require.NoError(t, err)
			first.Parse(nil)
			c.change(t, dir)
			alone, err := workspace.Open(dir, workspace.Options{Shown: o.Shown})
			require.NoError(t, err)
			for round, reused := range []bool{c.reused, false} {
				again, err := workspace.Open(dir, o)
				require.NoError(t, err)
				require.Equal(t, reused, again.Source == first.Source, "round %d", round)
				want, found := alone.Check(t.Context(), workspace.CheckOptions{Schemas: noSchemas})
				got, diags := again.Check(t.Context(), workspace.CheckOptions{Schemas: noSchemas})
				require.Equal(t, len(want.Outputs), len(got.Outputs))
				require.Equal(t, len(found), len(diags))
				for i := range found {
					require.Equal(t, found[i].Summary, diags[i].Summary)
					require.Equal(t, found[i].Subject.Start, diags[i].Subject.Start)
				}
			}
		})
	}
}

// L1.7, L2.33: a program in a file of its own has the project file's declarations, except those that it declares
// itself.
func TestParseWithDeclarations(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]string{
		"Pulumi.yaml": "name: p\nruntime: yaml\nconfig:\n  size: {type: integer, secret: true}\n  names: {type: array, " +
			"items: {type: array, items: {type: boolean}}}\n  own: {type: string}\n  aws:region: {value: x}\n",
		"Main.yaml": "\uFEFFconfig:\n  own: {type: integer}\n",
	}, workspace.Options{})
	require.Empty(t, w.Diags)
	require.Equal(t, "Main.yaml", w.Source.Name())
	file, diags := w.Parse(nil)
	require.Empty(t, diags)
	require.Len(t, file.Config, 3)
	require.Equal(t, "own", file.Config[0].Name.Value)
	require.Equal(t, "integer", file.Config[0].Type.Name, "the program's own declaration goes first")
	require.Equal(t, "size", file.Config[1].Name.Value)
	require.True(t, file.Config[1].Secret.Value)
	require.Equal(t, "Pulumi.yaml", file.Config[1].Range.Source.Name())
	require.Equal(t, "list", file.Config[2].Type.Item.Name)
	require.Equal(t, "boolean", file.Config[2].Type.Item.Item.Name)
}

// L1.7: a project file that contains the program is a single source.
func TestSourceOfTheProject(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]string{"Pulumi.yaml": "name: p\nruntime: yaml\nconfig:\n  size: {type: integer}\n"},
		workspace.Options{})
	require.Same(t, w.Project.Source, w.Source)
	file, _ := w.Parse(nil)
	require.Len(t, file.Config, 1)
}

// A single file is opened as a program of the project around it, if there is one.
func TestOpenFile(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"Pulumi.yaml": "name: p\nruntime: {name: yaml, options: {compiler: unused}}\n",
		"other.yaml": "outputs: {a: 1}\n"})
	w, err := workspace.OpenFile(filepath.Join(dir, "other.yaml"), workspace.Options{Shown: workspace.Relative(dir)})
	require.NoError(t, err)
	require.Equal(t, []string{"p", "other.yaml"}, []string{w.Project.Name.Text, w.Source.Name()})
	program, diags := w.Check(t.Context(), workspace.CheckOptions{Schemas: noSchemas})
	require.Empty(t, diags)
	require.Len(t, program.Outputs, 1)

	_, err = workspace.OpenFile(filepath.Join(t.TempDir(), "gone.yaml"), workspace.Options{})
	require.ErrorContains(t, err, "read program")
}

// L1.40, L1.41: plain, parameterized and extension packages; equal declarations count once. The declarations of a
// program in a folder of its own may lie in sdks beside the project file.
func TestDeclaredPackages(t *testing.T) {
	t.Parallel()
	const parameters = "{name: sub, version: 0.1.0, value: eA==}\n"
	w := open(t, map[string]string{
		"Pulumi.yaml": "name: p\nruntime: yaml\n",
		"a.yaml":      "packageDeclarationVersion: 1\nname: a\nversion: 1.0.0\ndownloadUrl: https://x.test\n",
		"again.yaml":  "packageDeclarationVersion: 1\nname: a\nversion: 1.0.0\ndownloadUrl: https://x.test\n",
		"b.yaml":      "packageDeclarationVersion: 1\nname: b\nparameterization: " + parameters,
		"c.yaml":      "packageDeclarationVersion: 1\nname: b\nextension: " + parameters,
	}, workspace.Options{})
	require.Empty(t, w.Diags)
	want := &schema.Parameterization{Name: "sub", Version: "0.1.0", Value: []byte("x")}
	require.Equal(t, []schema.Descriptor{
		{Name: "a", Version: "1.0.0", DownloadURL: "https://x.test"},
		{Name: "b", Parameterization: want},
		{Name: "b", Parameterization: want, Extension: true},
	}, w.Packages)

	w = open(t, map[string]string{
		"Pulumi.yaml": "name: p\nruntime: yaml\nmain: prog\n", "prog/Main.yaml": "{}",
		"prog/here.yaml":  "packageDeclarationVersion: 1\nname: here\n",
		"sdks/there.yaml": "packageDeclarationVersion: 1\nname: there\n",
		"elsewhere.yaml":  "packageDeclarationVersion: 1\nname: elsewhere\n",
	}, workspace.Options{})
	require.Equal(t, []schema.Descriptor{{Name: "here"}, {Name: "there"}}, w.Packages)
}

const compiledProject = "name: p\nruntime: {name: yaml, options: {compiler: make program}}\nresources: {old: {type: " +
	"'a:b:C'}}\n"

// L1.F, D13: the program of a project with a compiler is never read from a file. Callers without Options.Compile get a
// finding instead.
func TestCompiledProgram(t *testing.T) {
	t.Parallel()
	files := map[string]string{"Pulumi.yaml": compiledProject, "Main.yaml": "outputs: {from: a file}\n"}
	w := open(t, files, workspace.Options{})
	require.Nil(t, w.Source)
	program, diags := w.Check(t.Context(), workspace.CheckOptions{Schemas: noSchemas})
	require.Nil(t, program)
	require.Len(t, diags, 1)
	require.Equal(t, diag.Warning, diags[0].Severity)
	require.Equal(t, diag.NoProgram, diags[0].Code)
	require.Equal(t, "make program", diags[0].Subject.Text())
	require.True(t, w.Compile(t.Context(), workspace.Run{})[0].Subject == diags[0].Subject)

	var got workspace.Compilation
	runs := 0
	w = open(t, files, workspace.Options{Compile: func(_ context.Context, c workspace.Compilation) ([]byte, error) {
		got = c
		runs++
		return []byte("outputs: {from: the compiler, stack: '${pulumi.stack}'}\n"), nil
	}})
	run := workspace.Run{Stack: "dev", Project: "p", Config: map[string]string{"p:a": "1"}}
	require.Empty(t, w.Compile(t.Context(), run))
	require.Empty(t, w.Compile(t.Context(), run))
	require.Equal(t, 1, runs, "it is started once")
	require.Equal(t, workspace.Compilation{Command: "make program", Dir: w.Project.Dir, Root: w.Project.Dir, Run: run},
		got)
	require.Equal(t, "<make program>", w.Source.Name())
	program, diags = w.Check(t.Context(), workspace.CheckOptions{Schemas: noSchemas})
	require.Empty(t, diags)
	require.Len(t, program.Outputs, 2)
	require.Empty(t, program.Packages, "the project file is no program here")

	w = open(t, files, workspace.Options{Compile: func(context.Context, workspace.Compilation) ([]byte,
		error) {
		return nil, errors.New("it broke")
	}})
	diags = w.Compile(t.Context(), run)
	require.True(t, diags.HasErrors())
	require.Equal(t, "it broke", diags[0].Summary)
	require.Equal(t, "make program", diags[0].Subject.Text())
}

// The runtime yaml has one option, and others are errors. Options of other runtimes are not checked.
func TestRuntimeOptions(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"{name: yaml, options: {compilr: x}}":          "unknown key compilr in runtime.options; did you mean compiler?",
		"{name: yaml, options: {binary: x}}":           "unknown key binary in runtime.options",
		"{name: yaml, options: {compiler: true}}":      "runtime.options.compiler must be a string, found a boolean",
		"{name: nodejs, options: {typescript: false}}": "",
		"{name: yaml, options: {compiler: ''}}":        "",
		"{name: yaml}":                                 "",
	} {
		w := open(t, map[string]string{"Pulumi.yaml": "name: p\nruntime: " + options + "\noutputs: {a: 1}\n"},
			workspace.Options{})
		if want == "" {
			require.Empty(t, w.Diags, options)
			require.NotNil(t, w.Source, options)
			continue
		}
		require.Len(t, w.Diags, 1, options)
		require.Equal(t, want, w.Diags[0].Summary, options)
	}
}

// A project of another runtime cannot be run; a misspelt yaml has a fix.
func TestOtherRuntimes(t *testing.T) {
	t.Parallel()
	for runtime, want := range map[string]string{"yaml": "", "yalm": "there is no runtime yalm",
		"nodejs": "the runtime nodejs cannot be run here"} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"),
			[]byte("name: p\nruntime: "+runtime+"\noutputs: {a: 1}\n"), 0o600))
		w, err := workspace.Open(dir, workspace.Options{})
		require.NoError(t, err)
		_, diags := w.Check(t.Context(), workspace.CheckOptions{Schemas: func() (schema.Loader, func() bool) {
			return nil,
				func() bool { return false }
		}})
		if want == "" {
			require.Empty(t, diags)
			continue
		}
		require.Len(t, diags, 1)
		require.Equal(t, want, diags[0].Summary)
		require.Equal(t, runtime, diags[0].Subject.Text())
		require.Equal(t, runtime == "yalm", len(diags[0].Fixes) == 1)
	}
}

// A missing runtime is a warning with a fix that adds the line, because the Pulumi CLI refuses the project.
func TestRuntimeIsMissing(t *testing.T) {
	t.Parallel()
	l, _ := noSchemas()
	for text, fixed := range map[string]string{
		"name: p\n":               "name: p\nruntime: yaml\n",
		"name: p # the program\n": "",
		`{"name": "p"}`:           "",
	} {
		found := checkProject(t, writeProject(t, text), l, workspace.Options{})
		require.Len(t, found, 1, text)
		require.Equal(t, diag.Warning, found[0].Severity)
		require.Equal(t, "the project names no runtime", found[0].Summary)
		if fixed == "" {
			require.Empty(t, found[0].Fixes)
			continue
		}
		edit := found[0].Fixes[0].Edits[0]
		require.Equal(t, fixed, text[:edit.Range.Start]+edit.Text+text[edit.Range.End:])
	}
}
