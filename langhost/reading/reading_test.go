package reading_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/langhost/reading"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/project"
	"github.com/yamlhost/yamlhost/schema"
)

func load(t *testing.T, files map[string]string) (*project.Project, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	p, diags, err := project.Load(filepath.Join(dir, "Pulumi.yaml"), "Pulumi.yaml")
	require.NoError(t, err)
	require.Empty(t, diags)
	return p, dir
}

// L1.7, L2.33: a program beside its project file has that file's declarations, but for those that it makes itself.
func TestParseWithDeclarations(t *testing.T) {
	t.Parallel()
	p, dir := load(t, map[string]string{
		"Pulumi.yaml": "name: p\nruntime: yaml\nconfig:\n  size: {type: integer, secret: true}\n  names: {type: array, items: {type: array, items: {type: boolean}}}\n  own: {type: string}\n  aws:region: {value: x}\n",
		"Main.yaml":   "\uFEFFconfig:\n  own: {type: integer}\n",
	})
	src, err := reading.Source(p, filepath.Join(dir, "Main.yaml"), filepath.Base)
	require.NoError(t, err)
	require.Equal(t, "Main.yaml", src.Name())
	file, diags := reading.Parse(src, p, parser.Options{})
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

// L1.7: a project file that is the program too is one text, read once.
func TestSourceOfTheProject(t *testing.T) {
	t.Parallel()
	p, _ := load(t, map[string]string{"Pulumi.yaml": "name: p\nruntime: yaml\nconfig:\n  size: {type: integer}\n"})
	src, err := reading.Source(p, p.Path, filepath.Base)
	require.NoError(t, err)
	require.Same(t, p.Source, src)
	file, _ := reading.Parse(src, p, parser.Options{})
	require.Len(t, file.Config, 1)

	_, err = reading.Source(p, filepath.Join(p.Dir, "gone.yaml"), filepath.Base)
	require.ErrorContains(t, err, "read program")
}

// L1.40, L1.41: plain, parameterized and extension packages; a declaration that is there twice counts once.
func TestPackages(t *testing.T) {
	t.Parallel()
	parameters := &project.PackageParameter{Name: "sub", Version: "0.1.0", Value: []byte("x")}
	got := reading.Packages([]project.PackageFile{
		{Name: "a", Version: "1.0.0", DownloadURL: "https://x.test"},
		{Name: "a", Version: "1.0.0", DownloadURL: "https://x.test"},
		{Name: "b", Parameterization: parameters},
		{Name: "b", Extension: parameters},
	})
	want := &schema.Parameterization{Name: "sub", Version: "0.1.0", Value: []byte("x")}
	require.Equal(t, []schema.Descriptor{
		{Name: "a", Version: "1.0.0", DownloadURL: "https://x.test"},
		{Name: "b", Parameterization: want},
		{Name: "b", Parameterization: want, Extension: true},
	}, got)
}
