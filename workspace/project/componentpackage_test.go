package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// L1.30: the main file comes first, and the others follow by name. Project files and package declarations beside them
// are left out.
func TestComponentPackage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	_, found, err := project.ComponentPackage(confine.Anywhere(), dir, filepath.Base)
	require.NoError(t, err)
	require.False(t, found)

	write("PulumiPlugin.yaml", "name: p\nruntime: {name: yaml}\n")
	write("b.yaml", "components: {}")
	write("a.yaml", "components: {}")
	write("z.yml", "components: {}")
	write("Pulumi.yaml", "name: p")
	write("Pulumi.dev.yaml", "config: {}")
	write("sdk.yaml", "packageDeclarationVersion: 1\nname: x\n")
	files, found, err := project.ComponentPackage(confine.Anywhere(), dir, filepath.Base)
	require.NoError(t, err)
	require.True(t, found)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	require.Equal(t, []string{"PulumiPlugin.yaml", "a.yaml", "b.yaml"}, names)

	write("PulumiPlugin.yaml", "name: p\nruntime: nodejs\n")
	_, found, err = project.ComponentPackage(confine.Anywhere(), dir, filepath.Base)
	require.NoError(t, err)
	require.False(t, found, "a package in another language is a plugin")
}

// L7.31: sources that are paths, and sources that are names.
func TestLocalDir(t *testing.T) {
	t.Parallel()
	p := &project.Project{Dir: filepath.FromSlash("/srv/app")}
	for source, want := range map[string]string{
		"./parts": "/srv/app/parts", "../parts": "/srv/parts", ".": "/srv/app", "/abs/parts": "/abs/parts",
		"parts": "", "github.com/a/b": "", ".hidden": "",
	} {
		dir, local := p.LocalDir(project.Package{Source: source})
		require.Equal(t, want != "", local, source)
		if local {
			require.Equal(t, filepath.FromSlash(want), dir, source)
		}
	}
}
