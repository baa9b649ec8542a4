package plugin_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/schema"
)

// A plugin's schema is kept as its text and an index of it; anyone who keeps it at the same time keeps the same, and
// what was kept before the plugin was installed is not believed.
func TestPluginSchemaCache(t *testing.T) { // F2.38
	t.Parallel()
	home := t.TempDir()
	cache := plugin.SchemaCache{Home: home}
	path := filepath.Join(home, "schemas", "p-1.0.0.json")
	installed := time.Now().Add(-24 * time.Hour)
	opener := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	text := `{"name":"p","resources":{"p:index:Thing":{}}}`
	_, err := cache.Open(path, installed)
	require.ErrorIs(t, err, os.ErrNotExist)
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			pkg, err := cache.Keep(path, installed, opener(text))
			if err != nil || !slices.Equal(pkg.ResourceTokens(), []string{"p:index:Thing"}) {
				t.Errorf("kept something else: %v", err)
			}
		})
	}
	users.Wait()
	pkg, err := cache.Open(path, installed)
	require.NoError(t, err)
	require.Equal(t, []string{"p:index:Thing"}, pkg.ResourceTokens())

	_, err = cache.Open(path, installed.Add(time.Hour)) // of another plugin with this version
	require.ErrorContains(t, err, "older than the plugin")

	_, err = cache.Keep(path, installed, opener(text[:20])) // what is unsound is not kept
	require.ErrorContains(t, err, "read package schema")
	_, err = cache.Open(path, installed)
	require.NoError(t, err)

	blocked := filepath.Join(path, "below", "p.json") // below a file: it cannot be written
	pkg, err = cache.Keep(blocked, installed, opener(text))
	require.NoError(t, err)
	require.Equal(t, []string{"p:index:Thing"}, pkg.ResourceTokens())
}

func TestInstalledAt(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "resource-p-v1.0.0")
	file := filepath.Join(folder, "pulumi-resource-p")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o755))
	early, late := time.Unix(1_000_000_000, 0), time.Unix(1_500_000_000, 0)
	// as packed long ago, or written over
	for _, c := range []struct{ file, folder time.Time }{{early, late}, {late, early}} {
		require.NoError(t, os.Chtimes(file, c.file, c.file))
		require.NoError(t, os.Chtimes(folder, c.folder, c.folder))
		require.True(t, late.Equal(plugin.Location{Path: file}.Installed()))
		require.True(t, c.folder.Equal(plugin.Location{Path: folder}.Installed())) // of a script
	}
	require.Zero(t, plugin.Location{Path: filepath.Join(folder, "nosuch")}.Installed())
}

// F2.38: what may change under the same version is not cached.
func TestSchemaCache(t *testing.T) {
	t.Parallel()
	in := func(d schema.Descriptor, version string) string {
		return plugin.SchemaCache{Home: "/h"}.Path(d, plugin.Location{Version: version})
	}
	require.Equal(t, filepath.Join("/h", "schemas", "random-4.18.0.json"), in(schema.Descriptor{Name: "random"}, "4.18.0"))
	require.Empty(t, in(schema.Descriptor{Name: "random"}, ""))
	plain := in(schema.Descriptor{Name: "tf"}, "1.0.0")
	require.NotEqual(t, plain, in(schema.Descriptor{Name: "tf", DownloadURL: "https://x"}, "1.0.0"))
	one := in(schema.Descriptor{Name: "tf", Parameterization: &schema.Parameterization{Name: "a", Version: "1"}}, "1.0.0")
	two := in(schema.Descriptor{Name: "tf", Parameterization: &schema.Parameterization{Name: "b", Version: "1"}}, "1.0.0")
	require.NotEqual(t, one, two)
	require.NotEqual(t, plain, one)
}
